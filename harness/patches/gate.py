"""The patch gate: checks on the form of a patch, before git sees it. Pure; nothing is read or written.

Whether a patch applies to its tree is decided by ``git apply``, inside the container.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.harness.patches.diff import MalformedPatchError, unescaped

MAX_BYTES = 5 * 1024 * 1024
MAX_FILES = 2000

_HUNK = re.compile(r"@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@")
_MODE = re.compile(r"(?:new file mode|new mode|old mode|index [0-9a-f]+\.\.[0-9a-f]+) ([0-9]{6})$")
_PATH_HEADERS = ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ")
_BINARY = ("GIT binary patch", "Binary files ")
_FORBIDDEN_MODES = {"120000": "a symbolic link", "160000": "a submodule"}
_IGNORED_BY_FILE_SYSTEMS = dict.fromkeys([0x200C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), 0xFEFF])


@dataclass(frozen=True, slots=True)
class GatedPatch:
    """A patch that passed the gate.

    ``normalized`` names the changes that the gate made; ``paths`` are the files it touches, relative to the tree.
    """

    text: str
    paths: tuple[str, ...] = ()
    normalized: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to apply."""
        return not self.text


def gate(text: str, *, allow_binary: bool = False) -> GatedPatch:
    """Check the form of a patch and return it ready to apply.

    Args:
        text: a unified diff, as a model wrote it.
        allow_binary: accept ``GIT binary patch`` sections (only where the gold patch has them too).

    Raises:
        MalformedPatchError: the patch is too large, not UTF-8, cut off, or reaches outside the tree.
    """
    if not text.strip():
        return GatedPatch("")
    _check_size(text)
    normalized = () if text.endswith("\n") else ("final newline",)
    headers = list(header_lines(text))
    for line in headers:
        _check_header(line, allow_binary=allow_binary)
    paths = _paths(headers)
    if not paths:
        raise MalformedPatchError("no file header: this is not a unified diff")
    if len(paths) > MAX_FILES:
        raise MalformedPatchError(f"touches {len(paths)} files; at most {MAX_FILES} are accepted")
    return GatedPatch(text if not normalized else text + "\n", paths, normalized)


def header_lines(text: str) -> Iterator[str]:
    """Yield the lines of a diff outside its hunks.

    Lines are cut at line feeds only, as git does. Raises MalformedPatchError at a hunk that is cut off or broken.
    """
    lines = iter(text.removesuffix("\n").split("\n"))
    for line in lines:
        match = _HUNK.match(line)
        if match is None:
            yield line
        else:
            _skip_hunk(lines, old=int(match[1] or 1), new=int(match[2] or 1))


def _skip_hunk(lines: Iterator[str], *, old: int, new: int) -> None:
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            raise MalformedPatchError("the last hunk is cut off")
        kind = line[:1]
        if kind not in (" ", "+", "-", "\\", "", "\r"):
            raise MalformedPatchError(f"a hunk is shorter than its header says, before {line[:60]!r}")
        old -= kind not in ("+", "\\")
        new -= kind not in ("-", "\\")
    if old < 0 or new < 0:
        raise MalformedPatchError("a hunk is longer than its header says")


def _check_size(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise MalformedPatchError("not valid UTF-8 (lone surrogate)") from error
    if size > MAX_BYTES:
        raise MalformedPatchError(f"{size} bytes; at most {MAX_BYTES} are accepted")
    if "\0" in text:
        raise MalformedPatchError("contains a NUL byte")


def _check_header(line: str, *, allow_binary: bool) -> None:
    line = line.rstrip("\r")
    _check_quotes(line)
    mode = _MODE.match(line)
    if mode and mode[1] in _FORBIDDEN_MODES:
        raise MalformedPatchError(f"makes {_FORBIDDEN_MODES[mode[1]]}")
    if line.startswith(_BINARY) and not allow_binary:
        raise MalformedPatchError("contains binary data, and the gold patch has none")
    if line.startswith("diff --git "):
        for token in unescaped(line[len("diff --git ") :]).split():
            _check_path(token.strip('"'))
    for path in _header_path(line):
        _check_path(path)


def _check_quotes(line: str) -> None:
    """Refuse a quoted path that something follows: readers of patches disagree about it."""
    for header in _PATH_HEADERS:
        if line.startswith(f'{header}"') and not re.fullmatch(r'"(?:[^"\\]|\\.)*"(?:\t.*)?', line[len(header) :]):
            raise MalformedPatchError(f"a quoted path is followed by something: {line[:80]!r}")


def _check_path(path: str) -> None:
    if path == "/dev/null":
        return
    if path.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", path):
        raise MalformedPatchError(f"absolute path {path!r}")
    for part in re.split(r"[/\\]", path):
        plain = part.translate(_IGNORED_BY_FILE_SYSTEMS).lower().rstrip(". ")
        if part == "..":
            raise MalformedPatchError(f"path {path!r} leaves the tree")
        if plain in (".git", "git~1") or plain.startswith(".git:"):
            raise MalformedPatchError(f"path {path!r} is inside git's own folder")


def _paths(headers: list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for line in headers:
        for path in _header_path(line.rstrip("\r")):
            if path != "/dev/null":
                found[_without_prefix(line, path)] = None
        found.update(dict.fromkeys(_unchanged_name(line)))
    return tuple(found)


def _header_path(line: str) -> tuple[str, ...]:
    for header in _PATH_HEADERS:
        if line.startswith(header):
            path = line[len(header) :].partition("\t")[0]
            return (unescaped(path[1:-1]) if path.startswith('"') and path.endswith('"') else path,)
    return ()


def _unchanged_name(line: str) -> tuple[str, ...]:
    """Return the path of a ``diff --git`` line with two equal names: all that mode changes and empty files have."""
    match = re.match(r'diff --git "?a/(.+?)"? "?b/\1"?$', line.rstrip("\r"))
    return (unescaped(match[1]),) if match else ()


def _without_prefix(line: str, path: str) -> str:
    if line.startswith(("--- ", "+++ ")) and "/" in path:
        return path.split("/", 1)[1]
    return path
