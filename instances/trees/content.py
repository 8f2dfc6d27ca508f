"""The content of a repository tree: entries read from git or a release archive, and one tar that never changes."""

import hashlib
import io
import json
import posixpath
import re
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from assay.harness.domain import TreeRef
from assay.harness.errors import EnvironmentFailure

MTIME = 1_000_000_000
"""Time of every file, in seconds: the same tree gives the same bytes, and zip files need a year after 1980."""


FILE, EXECUTABLE, LINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000  # the modes of entries in git
STORED = "refs/heads/main"  # the commit of ``store_entries``


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file, executable file, symbolic link or (for a submodule) empty folder."""

    path: str
    mode: int
    content: bytes
    """A link's content is its target."""


def write_tar(entries: Iterable[TreeEntry], to: IO[bytes]) -> None:
    """Write entries, in the given order, as an uncompressed tar whose bytes depend on nothing else."""
    with tarfile.open(fileobj=to, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in entries:
            tar.addfile(_member(entry), io.BytesIO(entry.content))


def read_tar(path: Path) -> Iterator[TreeEntry]:
    with tarfile.open(path) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            yield TreeEntry(member.name, _git_mode(member), content.read() if content else _link_target(member))


def commit_entries(git_dir: Path, ref: TreeRef, env: dict[str, str]) -> Iterator[TreeEntry]:
    """Yield the tree of a commit exactly as git stores it; raises EnvironmentFailure.

    Not by ``git archive``, which omits and rewrites files that the tree's own attributes name.
    """
    yield from _entries(git_dir, _rows(git_dir, ref, env), env)


def find_lacking(git_dir: Path, ref: TreeRef, env: dict[str, str]) -> tuple[str, ...]:
    """List the files of a commit that a partial clone lacks; a clone that is none has to have them all.

    Raises EnvironmentFailure if git cannot list the commit's files.
    """
    if not any((git_dir / "objects/pack").glob("*.promisor")):
        return ()
    blobs = [(sha, path) for mode, sha, path in _rows(git_dir, ref, env) if mode != SUBMODULE]
    command = ["git", f"--git-dir={git_dir}", "cat-file", "--buffer", "--batch-check=%(objectname)"]
    wanted = "".join(f"{sha}\n" for sha, _ in blobs).encode()
    listed = subprocess.run(command, input=wanted, capture_output=True, env=env, check=False).stdout.decode()
    missing = {line.split()[0] for line in listed.splitlines() if line.endswith(" missing")}
    return tuple(path for sha, path in blobs if sha in missing)


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """What turns one tree into another."""

    entries: tuple[TreeEntry, ...]
    """New and changed files."""
    removed: tuple[str, ...]
    """Files, and folders that hold no file any more."""


def compare_commits(git_dir: Path, old: TreeRef, new: TreeRef, env: dict[str, str]) -> TreeChanges:
    """Find what turns the tree of one commit into that of another; raises as ``commit_entries``."""
    before, after = _rows(git_dir, old, env), _rows(git_dir, new, env)
    known = set(before)
    changed = [row for row in after if row not in known]
    paths = {path for _, _, path in after}
    removed = [path for _, _, path in before if path not in paths]
    folders = _folders(path for _, _, path in before) - _folders(paths)
    return TreeChanges(tuple(_entries(git_dir, changed, env)), (*removed, *sorted(folders)))


def differing_entries(
    git_dir: Path, old: TreeRef, new: TreeRef, env: dict[str, str]
) -> tuple[list[TreeEntry], list[TreeEntry]]:
    """Return the entries in which two commits' trees differ, old and new; raises as ``commit_entries``."""
    sides = _rows(git_dir, old, env), _rows(git_dir, new, env)
    same = set(sides[0]) & set(sides[1])
    before, after = (list(_entries(git_dir, [row for row in rows if row not in same], env)) for rows in sides)
    return before, after


def commit_paths(git_dir: Path, ref: TreeRef, env: dict[str, str]) -> list[str]:
    """List the paths of a commit's tree; raises EnvironmentFailure if git fails."""
    return [path for _, _, path in _rows(git_dir, ref, env)]


def commit_submodules(git_dir: Path, ref: TreeRef, env: dict[str, str]) -> dict[str, str]:
    """Return the commit of each submodule by its path; raises EnvironmentFailure if git fails."""
    return {path: sha for mode, sha, path in _rows(git_dir, ref, env) if mode == SUBMODULE}


def patch_commit(git_dir: Path, ref: TreeRef, scratch: Path, env: dict[str, str]) -> Iterator[TreeEntry]:
    """Yield the tree of a commit with its patch on top; raises EnvironmentFailure if the patch does not apply.

    New objects go to the folder ``scratch``, not into the repository.
    """
    (scratch / "objects").mkdir()
    own = {
        "GIT_INDEX_FILE": str(scratch / "index"),
        "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(git_dir / "objects"),
    }
    for step in (["read-tree", ref.commit], ["apply", "--cached"], ["write-tree", "--missing-ok"]):
        command = ["git", f"--git-dir={git_dir}", *step]
        done = subprocess.run(command, input=ref.patch.encode(), capture_output=True, env={**env, **own}, check=False)
        if done.returncode:
            raise EnvironmentFailure(f"a patch of the tree does not apply: {last_line(done.stderr)}")
    yield from commit_entries(git_dir, replace(ref, commit=done.stdout.decode().strip()), {**env, **own})


def store_entries(entries: Iterable[TreeEntry], git_dir: Path, env: dict[str, str]) -> str:
    """Make a repository of a tree, without folders of submodules; return its commit. Raises EnvironmentFailure."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(git_dir)], capture_output=True, env=env, check=False)
    with tempfile.TemporaryFile() as stream:
        stream.write(f"commit {STORED}\ncommitter assay <assay@localhost> 0 +0000\ndata 0\n".encode())
        for entry in entries:
            if entry.mode != SUBMODULE:
                path = json.dumps(entry.path, ensure_ascii=False).encode(errors="surrogateescape")
                stream.write(b"M %o inline %s\ndata %d\n" % (entry.mode, path, len(entry.content)))
                stream.write(entry.content + b"\n")
        stream.seek(0)
        command = ["git", f"--git-dir={git_dir}", "fast-import", "--quiet"]
        done = subprocess.run(command, stdin=stream, capture_output=True, env=env, check=False)
    if done.returncode:
        raise EnvironmentFailure(f"git cannot store the tree: {last_line(done.stderr)}")
    return STORED


def archive_entries(path: Path) -> Iterator[TreeEntry]:
    """Yield the tree in a release archive (tar or zip) without its top folder, sorted by path.

    ``.git`` is left out, as in git's own trees; archives that were packed with a submodule hold it. Raises
    EnvironmentFailure: it is no archive, has no single top folder, or holds a path that leaves that folder.
    """
    try:
        entries = _zip_entries(path) if _is_zip(path) else _tar_entries(path)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise EnvironmentFailure(f"{path.name} cannot be unpacked: {reason}") from None
    tops = {top for top, _ in entries}
    if len(tops) != 1:
        raise EnvironmentFailure(f"{path.name} holds {len(tops)} top folders, not one")
    kept = (entry for _, entry in entries if ".git" not in entry.path.lower().split("/"))
    yield from sorted(kept, key=lambda entry: entry.path)


def last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def _rows(git_dir: Path, ref: TreeRef, env: dict[str, str]) -> list[tuple[int, str, str]]:
    """List mode, object and path of all files of a commit but those left out."""
    command = ["git", f"--git-dir={git_dir}", "ls-tree", "-r", "-z", ref.commit]
    listing = subprocess.run(command, capture_output=True, env=env, check=False)
    if listing.returncode:
        raise EnvironmentFailure(f"git cannot list {ref.commit} in {git_dir}: {last_line(listing.stderr)}")
    rows, lacking = [], {*ref.lacking}
    for row in filter(None, listing.stdout.split(b"\0")):
        meta, _, path = row.partition(b"\t")
        mode, _, sha = meta.decode().split(" ")
        rows.append((int(mode, 8), sha, path.decode(errors="surrogateescape")))
    return [row for row in rows if row[2] not in lacking]


def _entries(git_dir: Path, rows: list[tuple[int, str, str]], env: dict[str, str]) -> Iterator[TreeEntry]:
    yield from (TreeEntry(path, mode, b"") for mode, _, path in rows if mode == SUBMODULE)
    blobs = [row for row in rows if row[0] != SUBMODULE]
    with tempfile.TemporaryFile() as wanted:  # not a pipe: both sides would fill theirs and wait for each other
        wanted.write("".join(f"{sha}\n" for _, sha, _ in blobs).encode())
        wanted.seek(0)
        yield from _blob_entries(["git", f"--git-dir={git_dir}", "cat-file", "--batch"], wanted, env, blobs)


def _folders(paths: Iterable[str]) -> set[str]:
    return {path[:at] for path in paths for at, letter in enumerate(path) if letter == "/"}


def _blob_entries(
    command: list[str], wanted: IO[bytes], env: dict[str, str], rows: list[tuple[int, str, str]]
) -> Iterator[TreeEntry]:
    with subprocess.Popen(command, stdin=wanted, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as git:
        assert git.stdout is not None
        for mode, sha, path in rows:
            header = git.stdout.readline().split()
            if len(header) != 3:
                raise EnvironmentFailure(f"object {sha} of {path} is not in this repository; its copy is incomplete")
            content = git.stdout.read(int(header[2]))
            git.stdout.read(1)  # the line feed that ends an object
            if hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() != sha:
                raise EnvironmentFailure(f"object {sha} of {path} has other content than its name says; clone anew")
            yield TreeEntry(path, mode, content)


def _is_zip(path: Path) -> bool:
    """Look at the first bytes; ``zipfile.is_zipfile`` looks at the last ones, which may be those of a zip in a tar."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\3\4"


def _tar_entries(path: Path) -> list[tuple[str, TreeEntry]]:
    with tarfile.open(path) as tar:
        return [_split_top(_tar_entry(tar, member), "[^/]*") for member in tar if not member.isdir()]


def _tar_entry(tar: tarfile.TarFile, member: tarfile.TarInfo) -> TreeEntry:
    path = _inside(member.name)
    if member.issym():
        _inside(posixpath.join(posixpath.dirname(path), member.linkname))
        return TreeEntry(path, LINK, _link_target(member))
    if not (member.isreg() or member.islnk()):
        raise tarfile.TarError(f"{path!r} is no file")
    content = tar.extractfile(member)
    mode = EXECUTABLE if member.mode & 0o100 else FILE
    return TreeEntry(path, mode, content.read() if content else b"")


def _inside(path: str) -> str:
    """Shorten a path; raises TarError if it leaves its folder."""
    short = posixpath.normpath(path)
    if short.startswith("/") or short.split("/")[0] == "..":
        raise tarfile.TarError(f"{path!r} would leave its folder")
    return short


def _zip_entries(path: Path) -> list[tuple[str, TreeEntry]]:
    """Read top folder and entry of every file of a Go module's archive, which keeps neither modes nor links.

    The top folder is ``module@version``, in which the module's path has slashes.
    """
    with zipfile.ZipFile(path) as packed:
        files = [info for info in packed.infolist() if not info.is_dir()]
        return [_split_top(TreeEntry(_safe(info.filename), FILE, packed.read(info)), "[^@]*@[^/]*") for info in files]


def _safe(path: str) -> str:
    """Check that a path stays in its folder; raises BadZipFile."""
    if path.startswith("/") or "\\" in path or {"", ".", ".."} & set(path.split("/")):
        raise zipfile.BadZipFile(f"{path!r} would leave its folder")
    return path


def _split_top(entry: TreeEntry, top: str) -> tuple[str, TreeEntry]:
    """Split an entry's path after the top folder; raises ValueError when it is in none."""
    found = re.fullmatch(f"({top})/(.+)", entry.path, re.DOTALL)
    if found is None:
        raise ValueError(f"{entry.path!r} is in no top folder")
    return found[1], replace(entry, path=found[2])


def _member(entry: TreeEntry) -> tarfile.TarInfo:
    member = tarfile.TarInfo(entry.path)
    member.mtime = MTIME
    member.mode = 0o755 if entry.mode != FILE else 0o644
    if entry.mode == LINK:
        member.type, member.linkname = tarfile.SYMTYPE, entry.content.decode(errors="surrogateescape")
    elif entry.mode == SUBMODULE:
        member.type = tarfile.DIRTYPE
    else:
        member.size = len(entry.content)
    return member


def _git_mode(member: tarfile.TarInfo) -> int:
    if member.issym():
        return LINK
    if member.isdir():
        return SUBMODULE
    return EXECUTABLE if member.mode & 0o100 else FILE


def _link_target(member: tarfile.TarInfo) -> bytes:
    return member.linkname.encode(errors="surrogateescape")
