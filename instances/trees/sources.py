"""Finds the content of a repository at a commit: in a local mirror, at a git URL or in a release archive."""

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import UNKNOWN_TIME, Archive, Instance, TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import (
    atomic_file,
    default_cache,
    find_entries,
    hash_times,
    hold_lock,
    read_regular,
    replace_file,
)
from assay.instances.toolchains.images import UserImages
from assay.instances.trees.content import (
    TreeChanges,
    TreeEntry,
    archive_entries,
    commit_entries,
    commit_paths,
    commit_submodules,
    compare_commits,
    differing_entries,
    find_lacking,
    last_line,
    patch_commit,
    read_tar,
    store_entries,
    write_tar,
)
from assay.instances.trees.epochs import epochs
from assay.instances.trees.indexes import archive_file, download

GIT_URL = "https://github.com/{repo}.git"
"""Commits are fetched from here; git's setting ``url.<base>.insteadOf`` redirects it."""

SLOW = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")
"""Abandon a fetch that stays below 1 kB/s for a minute."""


class Sources:
    """Finds trees and caches them; safe to use from several threads and processes on one cache."""

    def __init__(
        self, mirrors: Sequence[Path] = (), cache: Path | None = None, toolchains: UserImages | None = None
    ) -> None:
        """Take trees from folders of clones, and keep them in a folder, by default the user's cache.

        ``toolchains`` are the user's own images, for package clients that this machine lacks.
        """
        self.mirrors = tuple(mirror.absolute() for mirror in mirrors)  # git also runs in other folders
        self.cache = cache or default_cache()
        self.toolchains = toolchains or {}
        self._lacking: dict[tuple[Path, str], tuple[str, ...]] = {}

    def tree(self, ref: TreeRef) -> Path:
        """Return an uncompressed tar of a tree, without a leading folder; equal trees give equal bytes.

        Raises EnvironmentFailure, with the searched places, if the tree cannot be found or fetched.
        """
        kept = self._tar_file(ref)
        if kept.is_file():
            return kept
        with tempfile.TemporaryDirectory() as scratch, atomic_file(kept) as part:
            write_tar(self.read_entries(ref, Path(scratch)), part)
        return kept

    def read_entries(self, ref: TreeRef, scratch: Path) -> Iterable[TreeEntry]:
        """Read a tree, with an empty folder at hand; raises as ``tree``."""
        if ref.patch and ref.archive:
            commit = store_entries(self._read_archive(ref.archive), scratch / "stored", git_env())
            return patch_commit(scratch / "stored", replace(ref, commit=commit), scratch, git_env())
        if ref.patch:
            return patch_commit(self._repository(ref), ref, scratch, git_env())
        if ref.archive:
            return self._read_archive(ref.archive)
        return commit_entries(self._repository(ref), ref, git_env())

    def _read_archive(self, archive: Archive) -> Iterable[TreeEntry]:
        return archive_entries(download(archive, self.cache, self.toolchains))

    def changes(self, old: TreeRef, new: TreeRef) -> TreeChanges:
        """Find what turns one commit's tree into another's; raises EnvironmentFailure if one cannot be had."""
        return compare_commits(self._repository(new), old, new, git_env())

    def differing(self, old: TreeRef, new: TreeRef) -> tuple[list[TreeEntry], list[TreeEntry]]:
        """Return the entries in which two commits' trees differ, old and new; raises as ``changes``."""
        return differing_entries(self._repository(new), old, new, git_env())

    def paths(self, ref: TreeRef) -> list[str]:
        """Return the paths of a tree without a patch; raises EnvironmentFailure if it cannot be had."""
        if ref.archive:
            return [entry.path for entry in read_tar(self.tree(ref))]
        return commit_paths(self._repository(ref), ref, git_env())

    def find_lacking(self, ref: TreeRef) -> tuple[str, ...]:
        """List the files of a tree that partial clones lack; none if the whole tree is cached, or its commit not here.

        Nothing is fetched. Raises EnvironmentFailure for a name or a commit that is none.
        """
        if ref.archive or self._tar_file(replace(ref, lacking=())).is_file():
            return ()
        git_dir = self._local_repository(ref)
        return self._list_lacking(git_dir, ref) if git_dir else ()

    def submodules(self, ref: TreeRef) -> dict[str, str]:
        """Return the commit of each submodule by its path; none of an archive. Raises as ``paths``."""
        return {} if ref.archive else commit_submodules(self._repository(ref), ref, git_env())

    def ancestors(self, ref: TreeRef) -> tuple[TreeRef, ...]:
        """Return earlier trees of the main line that ref's neighbours have in common with it, oldest first.

        They are the first of its quarter, of its month and of its week, as far as this machine has the history.
        """
        git_dir = self._local_repository(ref) if ref.commit and not (ref.archive or ref.patch) else None
        if git_dir is None:
            return ()
        shown = run_git(f"--git-dir={git_dir}", "show", "--no-patch", "--format=%cI", ref.commit)
        starts = epochs(datetime.fromisoformat(shown.stdout.decode().strip()))
        found = dict.fromkeys(_first_since(git_dir, ref.commit, start) for start in starts)
        trees = (TreeRef(ref.repo, commit) for commit in found if commit != ref.commit)
        return tuple(replace(tree, lacking=self._list_lacking(git_dir, tree)) for tree in trees)

    def read_file(self, ref: TreeRef, path: str) -> bytes | None:
        """Read one file of a tree; None if the path is missing or no file. Raises as ``tree``."""
        if path in ref.lacking:
            return None
        if ref.archive or ref.patch:
            return next((entry.content for entry in read_tar(self.tree(ref)) if entry.path == path), None)
        return _read_blob(self._repository(ref), ref.commit, path)

    def read_text(self, ref: TreeRef, path: str) -> str | None:
        """Read one file of a tree as text; None also if it is not UTF-8. Raises as ``tree``."""
        content = self.read_file(ref, path)
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError:
            return None

    def exists(self, ref: TreeRef) -> bool:
        """Return whether a tree can be had without network: it is cached, or its commit is in a mirror."""
        if self._tar_file(ref).is_file():
            return True
        if ref.archive:
            return archive_file(ref.archive, self.cache).is_file()
        return self._local_repository(ref) is not None

    def later_objects(self, ref: TreeRef, ids: Collection[str]) -> frozenset[str] | None:
        """Return the git objects that no ancestor of a commit has; None if its history is not on this machine."""
        git_dir = self._local_repository(ref) if ref.commit else None
        if git_dir is None or git_dir == self._own(ref.repo):  # what was fetched has no history
            return None
        listed = run_git(f"--git-dir={git_dir}", "rev-list", "--objects", "--missing=print", ref.commit)
        if listed.returncode:
            return None
        return frozenset(ids) - {line.removeprefix(b"?")[:40].decode() for line in listed.stdout.splitlines()}

    def is_ancestor(self, ref: TreeRef, of: TreeRef) -> bool | None:
        """Return whether a tree's commit is an ancestor of another's; None if no history here says that."""
        git_dir = self._local_repository(of) if ref.commit and of.commit else None
        if ref == of or git_dir is None or git_dir == self._own(of.repo):
            return True if ref == of else None
        return run_git(f"--git-dir={git_dir}", "merge-base", "--is-ancestor", ref.commit, of.commit).returncode == 0

    def commit_time(self, ref: TreeRef) -> datetime | None:
        """Return the time of a tree's commit, if that commit is on this machine or has been."""
        kept = time_file(ref, self.cache)
        if ref.commit and kept.is_file():
            return datetime.fromisoformat(kept.read_text())
        for git_dir in self._local(ref.repo) if ref.commit else ():
            shown = run_git(f"--git-dir={git_dir}", "show", "--no-patch", "--format=%cI", ref.commit)
            if shown.returncode == 0:
                replace_file(kept, shown.stdout.strip())
                return datetime.fromisoformat(shown.stdout.decode().strip())
        return None

    def find_commit(self, repo: str, name: str) -> str:
        """Find the full id of a commit by a name that a local clone knows: a branch, a tag, part of an id, HEAD.

        A full id is returned as it is. Empty if no clone knows the name.
        """
        if re.fullmatch("[0-9a-f]{40}", name):
            return name
        for git_dir in () if name.startswith("-") else self._local(repo):
            found = run_git(f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
            if found.returncode == 0:
                return found.stdout.decode().strip()
        return ""

    def find_tag(self, repo: str, name: str) -> str:
        """Ask the host of a repository for the commit of a tag; empty if there is none, or no answer."""
        url = GIT_URL.format(repo=repo)
        found = run_git(*SLOW, "ls-remote", url, f"refs/tags/{name}", f"refs/tags/{name}^{{}}")
        return found.stdout.decode().split("\n")[-2].partition("\t")[0] if found.stdout else ""

    def nearest_tag(self, ref: TreeRef) -> str:
        """Find the newest tag below a commit, in the clones on this machine; "" if there is none."""
        for git_dir in self._local(ref.repo) if ref.commit else ():
            found = run_git(f"--git-dir={git_dir}", "describe", "--tags", "--abbrev=0", ref.commit)
            if found.returncode == 0:
                return found.stdout.decode(errors="replace").strip()
        return ""

    def find_version(self, ref: TreeRef) -> str:
        """Find the version in the newest tag below a commit; "" if there is none."""
        found = re.search(r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.post|\.dev)\d+)?", self.nearest_tag(ref))
        return found[0] if found else ""

    def _tar_file(self, ref: TreeRef) -> Path:
        if not ref.archive and not re.fullmatch("[0-9a-f]{40}", ref.commit):
            raise EnvironmentFailure(f"{ref.repo}: {ref.commit!r} is not a full commit id of 40 hex digits")
        return self.cache / "trees" / f"{tree_key(ref).rpartition('@')[2]}.tar"

    def find_parent(self, ref: TreeRef) -> str | None:
        """Return the id of the commit before a tree's, if a clone here has it; what was fetched has no history."""
        for git_dir in self._local(ref.repo):
            shown = run_git(f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", f"{ref.commit}^^{{commit}}")
            if shown.returncode == 0:
                return shown.stdout.decode().strip()
        return None

    def _local(self, repo: str) -> Iterator[Path]:
        """Yield the git directories on this machine that may hold a repository: its mirrors, then Assay's own."""
        for mirror in self.mirrors:
            yield from (view_mirror(git_dir, self.cache) for git_dir in find_mirror(mirror, repo))
        own = self._own(repo)
        if own.is_dir():
            yield own

    def _own(self, repo: str) -> Path:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo) or ".." in repo:
            raise EnvironmentFailure(f"{repo!r} is not the name of a repository (owner/name)")
        return self.cache / "git" / (repo.lower().replace("/", "__") + ".git")

    def hash_clones(self) -> str:
        """Return the hash of the names and times of all files of the mirrors and of what was fetched."""
        return hash_times(*self.mirrors, self.cache / "git")

    def _repository(self, ref: TreeRef) -> Path:
        return self._local_repository(ref) or self._fetch(ref)

    def _local_repository(self, ref: TreeRef) -> Path | None:
        """Return the git directory on this machine that holds a tree's commit, and most of its files.

        In Assay's own repository only a ref proves that: while another process fetches, the commit is there before
        its files are, and the ref comes last.
        """
        own, least, found = self._own(ref.repo), 0, None
        for git_dir in self._local(ref.repo):
            if has_commit(git_dir, make_fetch_ref(ref.commit) if git_dir == own else ref.commit):
                lacking = len(self._list_lacking(git_dir, ref))
                if not lacking:
                    return git_dir
                if found is None or lacking < least:
                    least, found = lacking, git_dir
        return found

    def _list_lacking(self, git_dir: Path, ref: TreeRef) -> tuple[str, ...]:
        key = (git_dir, ref.commit)
        if key not in self._lacking:
            self._lacking[key] = ()
            with suppress(EnvironmentFailure):  # who reads the tree sees it, too
                self._lacking[key] = find_lacking(git_dir, TreeRef(ref.repo, ref.commit), git_env())
        return self._lacking[key]

    def _fetch(self, ref: TreeRef) -> Path:
        own, url = self._own(ref.repo), GIT_URL.format(repo=ref.repo)
        want = f"{ref.commit}:{make_fetch_ref(ref.commit)}"  # the ref also keeps git's housekeeping away
        with hold_lock(own.with_suffix(".lock")):
            run_git("init", "--quiet", "--bare", str(own))
            done = run_git(f"--git-dir={own}", *SLOW, "fetch", "--quiet", "--depth=1", "--no-tags", url, want)
        if done.returncode:
            searched = ", ".join(str(mirror) for mirror in self.mirrors) or "no mirror folder was given"
            problem = f"commit {ref.commit} of {ref.repo} is in no mirror (searched: {searched}) and cannot be"
            raise EnvironmentFailure(f"{problem} fetched from {url}: {last_line(done.stderr)}")
        return own


def make_fetch_ref(commit: str) -> str:
    """Name the ref that marks a fetched commit as complete in Assay's own repository."""
    return f"refs/assay/{commit}"


def time_file(ref: TreeRef, cache: Path) -> Path:
    """Return the file of the time of a tree's commit, which is there if it was asked for."""
    return cache / "times" / sha256(f"{ref.repo.lower()}@{ref.commit}".encode()).hexdigest()[:32]


def tree_ref(instance: Instance) -> TreeRef:
    lacking = instance.lacking
    if instance.base:
        return TreeRef(instance.repo, instance.base.commit, instance.archive, instance.base.patch, lacking)
    return TreeRef(instance.repo, instance.base_commit, instance.archive, lacking=lacking)


def tree_key(ref: TreeRef) -> str:
    """Return the name of a tree's content; no key of a whole tree begins one of a tree that lacks files."""
    patch = f"+{sha256(ref.patch.encode()).hexdigest()}" if ref.patch else ""
    without = f"without-{sha256(repr(ref.lacking).encode()).hexdigest()}-" if ref.lacking else ""
    return (ref.archive.sha256 if ref.archive else f"{ref.repo}@{without}{ref.commit}") + patch


def fill_date(instance: Instance, sources: Sources) -> Instance:
    """Give an instance without a time its base commit's, if that commit is on this machine."""
    if instance.created_at != UNKNOWN_TIME:
        return instance
    return instance.model_copy(update={"created_at": sources.commit_time(tree_ref(instance)) or UNKNOWN_TIME})


def find_mirror(folder: Path, repo: str) -> Iterator[Path]:
    """Yield the git directories of a repository in a folder of clones.

    A clone is named ``owner/name``, ``owner__name`` or ``owner+name``, in any case, with or without ``.git`` at the
    end. It is bare or not, and may be one level down in ``repo``.
    """
    owner, _, name = repo.lower().partition("/")
    flat = {f"{owner}{joint}{name}{end}" for joint in ("__", "+") for end in ("", ".git")}
    clones = list(find_entries(folder, flat))
    for parent in find_entries(folder, {owner}):
        clones += find_entries(parent, {name, f"{name}.git"})
    for clone in clones:
        levels = (clone, clone / ".git", clone / "repo", clone / "repo" / ".git", clone / "repo.git")
        yield from (level for level in levels if (level / "HEAD").is_file() and (level / "objects").is_dir())


VIEWED = ("objects", "refs", "packed-refs", "shallow")
"""What is read of a clone; its settings, hooks and attributes could start programs on this machine."""


def view_mirror(git_dir: Path, cache: Path | None = None) -> Path:
    """Return a git folder of Assay's own, in which a clone's objects and refs are links.

    Raises EnvironmentFailure: the clone takes objects from another folder, or has a pipe where git reads a file.
    """
    git_dir = git_dir.resolve()
    if (git_dir / "objects/info/alternates").exists():
        problem = "takes its objects from another clone (objects/info/alternates); run git repack -a -d in it"
        raise EnvironmentFailure(f"{git_dir} {problem}, and remove that file")
    for name in VIEWED:
        if (git_dir / name).exists() and not ((git_dir / name).is_file() or (git_dir / name).is_dir()):
            raise EnvironmentFailure(f"{git_dir / name} is no regular file; clone the repository anew")
    view = (cache or default_cache()) / "git" / "views" / sha256(str(git_dir).encode()).hexdigest()[:32]
    view.mkdir(parents=True, exist_ok=True)
    for name in VIEWED:
        with suppress(FileExistsError):
            (view / name).symlink_to(git_dir / name)
    replace_file(view / "HEAD", read_regular(git_dir / "HEAD"), syncs=False)
    return view


def has_commit(git_dir: Path, commit: str) -> bool:
    command = ["git", f"--git-dir={git_dir}", "cat-file", "-e", f"{commit}^{{commit}}"]
    env = {**git_env(), "GIT_ALLOW_PROTOCOL": "none"}  # before 2.45, git has no other way to fetch nothing
    return subprocess.run(command, capture_output=True, env=env, check=False).returncode == 0


def git_env() -> dict[str, str]:
    """Return an environment in which git never prompts, reads others' mirrors, and takes no object for another."""
    loose = {name: value for name, value in os.environ.items() if name not in {"GIT_DIR", "GIT_WORK_TREE"}}
    count = int(loose.get("GIT_CONFIG_COUNT", "0"))
    safe = {f"GIT_CONFIG_KEY_{count}": "safe.directory", f"GIT_CONFIG_VALUE_{count}": "*"}
    plain = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    return loose | safe | plain | {"GIT_CONFIG_COUNT": str(count + 1)}


def run_git(*args: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *args], capture_output=True, env=git_env(), check=False)


def _first_since(git_dir: Path, commit: str, start: datetime) -> str:
    """Find the earliest commit since a time on the way from a commit to its first parents."""
    since = f"--since={start.isoformat()}"
    listed = run_git(f"--git-dir={git_dir}", "rev-list", "--first-parent", since, commit).stdout.decode().split()
    return listed[-1] if listed else commit


def _read_blob(git_dir: Path, commit: str, path: str) -> bytes | None:
    from git import Blob, Repo

    with Repo(git_dir) as repo:
        # git takes a bare mirror without a configuration for a work tree, and would look beside it
        repo.git.update_environment(**git_env(), GIT_DIR=str(git_dir))
        try:
            found = repo.commit(commit).tree / path
            return bytes(found.data_stream.read()) if isinstance(found, Blob) else None
        except KeyError:
            return None
        except ValueError as error:
            raise EnvironmentFailure(f"{path} of {commit} cannot be read in {git_dir}: {error}") from None
