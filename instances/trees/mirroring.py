"""Makes the mirrors that instances need: of each repository the base commits, without their history."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.harness.domain import Instance
from assay.harness.names import count
from assay.instances.trees.content import last_line
from assay.instances.trees.sources import GIT_URL, SLOW, find_mirror, git_env, has_commit, make_fetch_ref

BATCH = 25  # commits of one fetch: what a signal or a lost connection costs at most
WHOLE_PACKS = ("-c", "fetch.unpackLimit=1", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
"""Keep what is fetched as it came: a commit whose files are missing never looks complete."""
NOT_ALLOWED = "unadvertised object"
"""Words of a server that gives no single commits, only branches with their history."""


@dataclass(frozen=True, slots=True)
class NeededRepository:
    """A repository, and the commits of it that instances start from."""

    repo: str
    commits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mirrored:
    repo: str
    folder: str
    commits: int
    fetched: int = 0
    size: int = 0
    """Bytes of the folder."""
    seconds: float = 0.0
    problem: str = ""


def collect_needs(instances: Iterable[Instance]) -> list[NeededRepository]:
    """List the repositories that instances are built from; release archives need none."""
    commits: dict[str, dict[str, None]] = {}
    for each in instances:
        if not each.archive:
            commit = each.base.commit if each.base else each.base_commit
            commits.setdefault(each.repo, {})[commit] = None
    return [NeededRepository(repo, tuple(found)) for repo, found in sorted(commits.items())]


@dataclass(frozen=True, slots=True)
class Mirroring:
    """Fetches repositories into a folder of mirrors; the Work of a Crew."""

    folder: Path
    _at_work: set["subprocess.Popen[bytes]"] = field(default_factory=set)
    _ended: threading.Event = field(default_factory=threading.Event)

    def key(self, item: NeededRepository) -> str:
        return item.repo

    def find_known(self, item: NeededRepository) -> Mirrored | None:
        if self._missing(item):
            return None
        folder = next(find_mirror(self.folder, item.repo), self._own(item.repo))
        return Mirrored(item.repo, str(folder), len(item.commits))

    def plan(self, pending: Mapping[str, NeededRepository], _total: int) -> list[str]:
        """Put the repositories with most commits first."""
        return sorted(pending, key=lambda name: -len(pending[name].commits))

    def begin(self, _item: NeededRepository, _number: int) -> None: ...

    def attempt(self, item: NeededRepository, _number: int) -> Mirrored:
        began, missing = time.monotonic(), self._missing(item)
        problem = self._fetch(item.repo, missing)
        left = self._missing(item)
        own = self._own(item.repo)
        size = sum(path.stat().st_size for path in own.rglob("*") if path.is_file())
        took = time.monotonic() - began
        if len(left) == len(item.commits):
            shutil.rmtree(own, ignore_errors=True)
        which = f"{count(len(left), 'commit')}, such as {left[0][:12]}," if left else ""
        lacks = f"{which} cannot be fetched: {problem}" if left else ""
        return Mirrored(item.repo, str(own), len(item.commits), len(missing) - len(left), size, took, lacks)

    def may_retry(self, _item: NeededRepository, mirrored: Mirrored) -> bool:
        """Return whether the connection may do better next time; a commit that does not exist never will."""
        return bool(mirrored.problem) and "not our ref" not in mirrored.problem and not self._ended.is_set()

    def save(self, _item: NeededRepository, mirrored: Mirrored) -> Mirrored:
        return mirrored

    def abort(self) -> None:
        """End every fetch; what earlier fetches brought stays."""
        self._ended.set()
        for process in tuple(self._at_work):
            process.kill()

    def _own(self, repo: str) -> Path:
        return self.folder / f"{repo.replace('/', '__')}.git"

    def _missing(self, item: NeededRepository) -> list[str]:
        """List the commits that no clone in the folder has; in one made here, only a ref proves that it is whole."""
        own = self._own(item.repo)
        clones = list(find_mirror(self.folder, item.repo))

        def is_there(commit: str) -> bool:
            return any(has_commit(clone, make_fetch_ref(commit) if clone == own else commit) for clone in clones)

        return [commit for commit in item.commits if not is_there(commit)]

    def _fetch(self, repo: str, commits: Sequence[str]) -> str:
        """Fetch commits in batches, then one by one where a batch fails; return git's last complaint."""
        self._own(repo).parent.mkdir(parents=True, exist_ok=True)
        complaint = self._git(repo, "init", "--quiet", "--bare")
        for start in range(0, len(commits), BATCH):
            batch = commits[start : start + BATCH]
            complaint = self._fetch_commits(repo, batch)
            if NOT_ALLOWED in complaint:
                return self._fetch_branches(repo, commits)
            if complaint and len(batch) > 1 and "not our ref" in complaint:
                complaints = [self._fetch_commits(repo, [commit]) for commit in batch]
                complaint = next(filter(None, complaints), "")
            elif complaint:
                return complaint  # the connection failed: the next batch would fare no better
        return complaint

    def _fetch_commits(self, repo: str, commits: Sequence[str]) -> str:
        wants = [f"{commit}:{make_fetch_ref(commit)}" for commit in commits]
        return self._git(repo, *SLOW, *WHOLE_PACKS, "fetch", "--quiet", "--depth=1", "--no-tags", _url(repo), *wants)

    def _fetch_branches(self, repo: str, commits: Sequence[str]) -> str:
        """Fetch all branches and tags with their history, and mark the commits that came."""
        everything = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        complaint = self._git(repo, *SLOW, *WHOLE_PACKS, "fetch", "--quiet", _url(repo), *everything)
        for commit in commits:
            if not complaint and has_commit(self._own(repo), commit):
                self._git(repo, "update-ref", make_fetch_ref(commit), commit)
        return complaint or "not our ref"

    def _git(self, repo: str, *args: str) -> str:
        """Run git on a mirror; return the last line of its complaint, or ""."""
        if self._ended.is_set():
            return "interrupted"
        command = ["git", f"--git-dir={self._own(repo)}", *args]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=git_env()) as process:
            self._at_work.add(process)
            try:
                _, complaint = process.communicate()
            finally:
                self._at_work.discard(process)
        return _reason(complaint) if process.returncode else ""


def _reason(complaint: bytes) -> str:
    lines = complaint.decode(errors="replace").splitlines()
    reasons = [line for line in lines if line.startswith(("fatal: remote error: ", "fatal: ", "error: "))]
    return reasons[0].partition(": ")[2] if reasons else last_line(complaint)


def _url(repo: str) -> str:
    return GIT_URL.format(repo=repo)
