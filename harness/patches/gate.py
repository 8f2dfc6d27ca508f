"""The patch gate: checks on the form of a patch, before git sees it. Pure; nothing is read or written.

It decides on what git reads (``as_git``). Whether a patch applies to its tree is decided by ``git apply``, inside the
container, and what it has done there is read from the tree.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from assay.harness.patches.as_git import NEWLINE, GitFile, read_as_git
from assay.harness.patches.diff import MalformedPatchError
from assay.harness.patches.spelling import fold

MAX_BYTES = 5 * 1024 * 1024
MAX_FILES = 2000  # file headers; one file may have several. Reading ends at the limit.
PATH_BYTES, PART_BYTES, PARTS = 4095, 255, 128
"""Linux takes no longer paths and names; no project nests its folders as deep."""
PLAIN_MODES = frozenset({0o100644, 0o100755})
_KINDS = {0o120000: "a symbolic link", 0o160000: "a submodule", 0o040000: "a folder"}
_KIND = 0o170000
_STRAY = frozenset({0o120000, 0o160000})


@dataclass(frozen=True, slots=True)
class GatedPatch:
    text: str
    paths: tuple[str, ...] = ()
    """Files that it touches, relative to the tree."""
    created: tuple[str, ...] = ()
    """Those of them that it makes, also by moving or copying another."""
    normalized: tuple[str, ...] = ()
    """Changes that the gate made."""
    strays: tuple[str, ...] = ()
    """Stray files, which are never applied: links, submodules, and binary files where the fix has none."""

    unread: str = ""
    """Why git does not read it; what it changes is not known then."""

    @property
    def is_empty(self) -> bool:
        return not self.text


@lru_cache(maxsize=32)
def gate(text: str, *, allow_binary: bool = False) -> GatedPatch:
    """Check the form of a patch and return it ready to apply, without stray files if there are others.

    Binary data are stray unless the gold patch has some too (``allow_binary``), or where the patch lacks them. Raises
    MalformedPatchError: the patch is too large, not UTF-8, cut off, reaches outside the tree, has nothing but stray
    files, or has another file at or below the path of one.
    """
    if not text.strip():
        return GatedPatch("")
    normalized = () if text.endswith("\n") else ("final newline",)
    data = _check_bytes(text) + (b"\n" if normalized else b"")
    files = list(islice(read_as_git(data), MAX_FILES + 1))
    if not files:
        raise MalformedPatchError("no file header: this is not a unified diff")
    if len(files) > MAX_FILES:
        raise MalformedPatchError(f"touches more than {MAX_FILES} files")
    reasons = [_find_stray(file, allow_binary=allow_binary) for file in files]
    strays = {path: why for file, why in zip(files, reasons, strict=True) if why for path in _check_paths(file)}
    kept = [file for file, why in zip(files, reasons, strict=True) if not why]
    paths = dict.fromkeys(path for file in kept for path in _check_paths(file))
    if strays:
        taken = paths.keys() | {path[: slash.start()] for path in paths for slash in re.finditer("/", path)}
        if refused := [reason for path, reason in strays.items() if path in taken or not paths]:
            raise MalformedPatchError(refused[0])
        data = _keep_only(kept, data)
    made = (file for file in kept if file.new is not None and (file.is_new is not False or file.is_moved))
    created = dict.fromkeys(check_path(file.new or b"") for file in made)
    return GatedPatch(data.decode(), tuple(paths), tuple(created), normalized, tuple(strays))


def gate_unread(text: str, why: str) -> GatedPatch:
    """Return a text that git does not read as a patch, for a tool that may; raises MalformedPatchError if none can."""
    return GatedPatch(_check_bytes(text).decode(), unread=why)


def _check_paths(file: GitFile) -> list[str]:
    return [check_path(name) for name in file.names]


def _find_stray(file: GitFile, *, allow_binary: bool) -> str:
    """Return why a file is stray, or ""; raises MalformedPatchError for a mode that neither it nor a plain file has.

    A link that is removed, moved or replaces a file is no stray: without it, the patch would do something else.
    """
    odd = [mode for mode in file.modes if mode not in PLAIN_MODES]
    is_whole = len(odd) == len(file.modes) and not file.is_deleted and not file.is_moved
    for mode in odd:
        if mode & _KIND not in _STRAY or not is_whole:
            check_mode(mode)
    if file.is_binary and not file.has_data:
        return "says that a binary file differs, and lacks its content"
    if file.is_binary and not allow_binary:
        return "contains binary data, and the gold patch has none"
    return next(map(_describe, odd), "")


def _keep_only(kept: list[GitFile], data: bytes) -> bytes:
    """Cut all but some files out of a patch; raises MalformedPatchError if git reads these in another way then."""
    lines = data.split(NEWLINE)
    cut = b"".join(line + NEWLINE for file in kept for line in lines[file.lines.start : file.lines.stop])
    if list(read_as_git(cut)) != kept:
        raise MalformedPatchError("stray files cannot be told from the others")
    return cut


def check_path(name: bytes) -> str:
    """Return a path of a patch or of a patched tree as text.

    Raises MalformedPatchError: it is not UTF-8, longer than a file system allows, or outside the tree.
    """
    try:
        path = name.decode()
    except UnicodeDecodeError as error:
        raise MalformedPatchError(f"path {_show(name)} is not UTF-8") from error
    if len(name) > PATH_BYTES:
        raise MalformedPatchError(f"a path of {len(name)} bytes; at most {PATH_BYTES} are possible")
    parts = re.split(r"[/\\]", path)
    if max(len(part.encode()) for part in parts) > PART_BYTES:
        raise MalformedPatchError(f"a name of more than {PART_BYTES} bytes in path {_show(name)}")
    if len(parts) > PARTS:
        raise MalformedPatchError(f"a path of {len(parts)} folders; at most {PARTS} are accepted")
    _check_place(path, parts)
    return path


def check_mode(mode: int) -> int:
    """Return the mode of a plain file; raises MalformedPatchError for any other."""
    if mode in PLAIN_MODES:
        return mode
    raise MalformedPatchError(_describe(mode))


def _describe(mode: int) -> str:
    kind = _KINDS.get(mode & _KIND)
    return f"file mode {mode:o} makes {kind}" if kind else f"file mode {mode:o}; only 100644 and 100755 are accepted"


def _check_bytes(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise MalformedPatchError("not valid UTF-8 (lone surrogate)") from error
    if len(data) > MAX_BYTES:
        raise MalformedPatchError(f"{len(data)} bytes; at most {MAX_BYTES} are accepted")
    if b"\0" in data:
        raise MalformedPatchError("contains a NUL byte")
    return data


def _check_place(path: str, parts: list[str]) -> None:
    if not path or "\0" in path:
        raise MalformedPatchError(f"path {path[:80]!r} names no file")
    if path.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", path):
        raise MalformedPatchError(f"absolute path {path[:80]!r}")
    for part in parts:
        name = fold(part)
        if name == "..":
            raise MalformedPatchError(f"path {path[:80]!r} leaves the tree")
        if name in (".git", "git~1") or name.startswith(".git:"):
            raise MalformedPatchError(f"path {path[:80]!r} is inside git's own folder")


def _show(name: bytes) -> str:
    return repr(name[:80].decode(errors="backslashreplace"))
