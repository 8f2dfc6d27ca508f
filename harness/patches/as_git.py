"""The files of a patch as ``git apply`` reads them: names, modes and hunks. Pure, and linear in the patch's size.

Follows git's ``apply.c`` step by step, since readers of patches differ and git's reading is the one that counts.
Where git reads on beyond the end of a line (an open quote, a mode on the next line), the patch is refused instead.
``tests/harness/patches/test_as_real_git.py`` compares both on random patches.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.patches.diff import MalformedPatchError, MiscountedHunkError
from assay.harness.patches.names import (
    QUOTE,
    SLASH,
    below,
    date_length,
    is_epoch,
    is_no_file,
    strip_folder,
    twice,
    unquote,
)

NEWLINE = b"\n"
_RANGE = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ENDS_A_NAME = re.compile(rb"[\t\r]")
_ENDS_A_LONG_NAME = re.compile(rb"\r")
_MODE = re.compile(rb"[ \t\v\f\r]*\+?(0*[0-7]{1,20})[ \t\r]?")
_NUMBERS = re.compile(rb"[^. ]{0,64}\.\.[^ ]{0,64}")
_STEPS = {b" ": (1, 1), b"": (1, 1), b"-": (1, 0), b"+": (0, 1)}
"""Old and new lines that a line of a hunk stands for, by its mark."""
_HUGE = 10**18
_SHORTEST_NOTE = 11  # characters of the shortest translation of "\ No newline at end of file"
_HEADER_LINES = 32  # more than twice as many as git knows
_ID_LENGTH = 64  # hexadecimal digits of the longest object name
_BINARY = (b"literal ", b"delta ")
_DIFFER = (b"Binary files ", b"Files ")


@dataclass(slots=True)
class GitFile:
    """What git reads about one file; names are bytes, without the leading folder that ``-p1`` takes off."""

    old: bytes | None = None
    new: bytes | None = None
    default: bytes | None = None
    """The name in the ``diff --git`` line, if it is there twice."""
    is_new: bool | None = None
    """None: a diff that is not git's does not say it, and its hunks decide."""
    is_deleted: bool | None = None
    is_moved: bool = False
    """Renamed or copied."""
    is_binary: bool = False
    has_data: bool = True
    """False of a binary file whose content the patch lacks: git applies no such patch."""
    modes: list[int] = field(default_factory=list)
    """Every mode that its headers name."""
    body: list[bytes] = field(default_factory=list)
    """The lines of its hunks, or its binary data."""
    lines: range = field(default=range(0), compare=False)
    """Which lines of the patch these are, header included."""

    @property
    def names(self) -> tuple[bytes, ...]:
        """Both names, or the only one."""
        return tuple(dict.fromkeys(name for name in (self.old, self.new) if name is not None))


def read_as_git(patch: bytes) -> Iterator[GitFile]:
    """Yield the files of a patch, which ends with a line feed, in order.

    Raises MalformedPatchError: git would refuse the patch, or read on beyond the end of a line.
    """
    return _Reader(patch).files()


class _Reader:
    """The lines of a patch, and the place that has been reached."""

    def __init__(self, patch: bytes) -> None:
        self._lines = patch.removesuffix(NEWLINE).split(NEWLINE)
        self._at = 0
        self._strip = 1

    def files(self) -> Iterator[GitFile]:
        while (file := self._header()) is not None:
            start = self._at
            if not self._hunks(file):
                self._binary(file)
            file.body = self._lines[start : self._at]
            file.lines = range(file.lines.start, self._at)
            yield file

    def _line(self, ahead: int = 0) -> bytes:
        """Return a line without its line feed; empty beyond the last one."""
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else b""

    def _refuse(self, why: str) -> MalformedPatchError:
        return MalformedPatchError(f"line {self._at + 1}: {why}")

    def _header(self) -> GitFile | None:
        """Find the next header and read it; None if there is no further file."""
        file = GitFile()  # keeps the names of a ``diff --git`` line that nothing follows, as in git
        while self._at < len(self._lines):
            line = self._line()
            if line.startswith(b"@@ -") and _RANGE.match(line):
                raise self._refuse("a hunk has no file header above it")
            if self._at + 1 == len(self._lines):
                return None
            file.lines = range(self._at, self._at)
            if line.startswith(b"diff --git "):
                if self._git_header(file, line[len(b"diff --git ") :]):
                    return file
            elif line.startswith(b"--- ") and self._line(1).startswith(b"+++ ") and self._line(2).startswith(b"@@ -"):
                self._plain_header(file, line[4:], self._line(1)[4:])
                return file
            else:
                self._at += 1
        return None

    def _git_header(self, file: GitFile, names: bytes) -> bool:
        """Read the lines below ``diff --git``; return whether there are any."""
        start = self._at
        file.default, file.is_new, file.is_deleted = self._same_name(names), False, False
        self._at += 1
        while self._at < len(self._lines) and self._git_line(file, self._line()):
            if (file.is_new or False) + (file.is_deleted or False) + file.is_moved > 1:
                raise self._refuse("the header contradicts itself")
            if self._at > start + _HEADER_LINES:
                raise self._refuse(f"a header of more than {_HEADER_LINES} lines")
            self._at += 1
        if file.old is None and file.new is None:
            if file.default is None:
                raise self._refuse("the header names no file")
            file.old = file.new = file.default
        if (file.new is None and not file.is_deleted) or (file.old is None and not file.is_new):
            raise self._refuse("the header lacks a file name")
        return self._at > start + 1

    def _git_line(self, file: GitFile, line: bytes) -> bool:
        """Read one line of git's header; return False at the first line that is none."""
        word, rest = _split_word(line)
        match word:
            case b"--- ":
                file.old = self._verify_name(rest, file.old, missing=bool(file.is_new))
            case b"+++ ":
                file.new = self._verify_name(rest, file.new, missing=bool(file.is_deleted))
            case b"copy from " | b"rename from " | b"rename old ":
                file.is_moved, file.old = True, self._name(rest, 0, _ENDS_A_LONG_NAME)
            case b"copy to " | b"rename to " | b"rename new ":
                file.is_moved, file.new = True, self._name(rest, 0, _ENDS_A_LONG_NAME)
            case b"":
                return False
            case _:
                self._mode_line(file, word, rest)
        return True

    def _mode_line(self, file: GitFile, word: bytes, rest: bytes) -> None:
        if word == b"new file mode ":
            file.is_new, file.new = True, file.default
        elif word == b"deleted file mode ":
            file.is_deleted, file.old = True, file.default
        if word == b"index ":
            numbers = _NUMBERS.match(rest)
            if numbers is None and self._continues(rest):
                raise self._refuse("an index line without its two numbers")
            if numbers is None or rest[numbers.end() : numbers.end() + 1] != b" ":
                return
            rest = rest[numbers.end() + 1 :]
        elif not word.endswith(b"mode "):
            return
        file.modes.append(self._mode(rest))

    def _continues(self, numbers: bytes) -> bool:
        """Return whether git would take the numbers of an index line from the lines below it."""
        if b"." in numbers or len(numbers) > _ID_LENGTH:
            return False
        below, at = b"", self._at + 1
        while len(below) < _ID_LENGTH and at < len(self._lines):
            below, at = below + self._lines[at][:_ID_LENGTH] + NEWLINE, at + 1
        return re.match(rb"[^.]*\.\.", below) is not None

    def _mode(self, text: bytes) -> int:
        match = _MODE.match(text)
        if match is None or not (match[0][-1:].isspace() or match.end() == len(text)):
            raise self._refuse(f"an odd file mode {_show(text)}")
        return int(match[1], 8)

    def _verify_name(self, text: bytes, known: bytes | None, *, missing: bool) -> bytes | None:
        """Read a name that has to agree with what the lines above say."""
        if known is None and not missing:
            return self._name(text, self._strip, _ENDS_A_NAME)
        if known is None:
            if not is_no_file(text):
                raise self._refuse("/dev/null is missing")
            return None
        if missing or self._name(text, self._strip, _ENDS_A_NAME) != known:
            raise self._refuse("the header names different files")
        return known

    def _name(self, text: bytes, strip: int, ends: re.Pattern[bytes]) -> bytes | None:
        """Read a file name; None if there is none below the folders to strip."""
        if text.startswith(QUOTE):
            return self._strip_name(self._unquote_name(text, whole=True)[0], strip)
        end = ends.search(text)
        return self._strip_name(text[: end.start()] if end else text, strip) or None

    def _strip_name(self, name: bytes, strip: int) -> bytes | None:
        if name.startswith(SLASH) and not is_no_file(name):
            raise self._refuse(f"absolute path {_show(name)}")  # git would take its first slash off
        return strip_folder(name, strip)

    def _unquote_name(self, text: bytes, *, whole: bool = False) -> tuple[bytes, int]:
        """Read a quoted name at the start of a text; return it with the place behind its closing quote.

        With ``whole``, nothing but a tab and anything may follow.
        """
        read = unquote(text)
        if read is None:
            raise self._refuse("a quoted path is not closed on its line, or has an odd escape")
        after = text[read[1] :].rstrip(b"\r")
        if whole and after and not after.startswith(b"\t"):
            raise self._refuse(f"a quoted path is followed by something: {_show(text)}")
        return read

    def _same_name(self, text: bytes) -> bytes | None:
        """Return the name that a ``diff --git`` line has twice: all that new empty files and changes of mode have."""
        if text.startswith(QUOTE):
            first, end = self._unquote_name(text)
            second = text[end:].lstrip(b" \t\r")
            if second.startswith(QUOTE):
                other = below(self._unquote_name(second)[0], self._strip)
            else:
                other = below(second + NEWLINE, self._strip)
            mine = below(first, self._strip)
            return mine if other == mine and second else None
        name = below(text, self._strip)
        if name is None:
            return None
        quote = name.find(QUOTE)
        if quote < 0:
            return twice(name, self._strip)
        other = below(self._unquote_name(name[quote:])[0], self._strip)
        if other is None or len(other) >= quote or not name.startswith(other):
            return None
        return other if name[len(other) : len(other) + 1] in (b" ", b"\t", b"\r") else None

    def _plain_header(self, file: GitFile, first: bytes, second: bytes) -> None:
        """Read the two lines above the hunks of a diff that is not git's."""
        self._guess_strip(second)
        if is_no_file(first):
            file.is_new, file.is_deleted, file.new = True, False, self._read_dated_name(second)
        elif is_no_file(second):
            file.is_new, file.is_deleted, file.old = False, True, self._read_dated_name(first)
        else:
            self._two_names(file, first, second)
        if not file.names:
            raise self._refuse("no file name can be found")
        self._at += 2

    def _two_names(self, file: GitFile, first: bytes, second: bytes) -> None:
        default = self._read_dated_name(first)
        name = self._read_dated_name(second)
        if not second.startswith(QUOTE) and (name is None or (default is not None and name.startswith(default))):
            name = default  # the shorter one
        if is_epoch(first):
            file.is_new, file.is_deleted, file.new = True, False, name
        elif is_epoch(second):
            file.is_new, file.is_deleted, file.old = False, True, name
        else:
            file.old = file.new = name

    def _guess_strip(self, second: bytes) -> None:
        """Strip no folder from here on if the second name has none, as git does."""
        name = None if is_no_file(second) else self._read_dated_name(second, strip=0)
        if name is not None and SLASH not in name:
            self._strip = 0

    def _read_dated_name(self, text: bytes, strip: int | None = None) -> bytes | None:
        strip = self._strip if strip is None else strip
        if text.startswith(QUOTE):
            return self._strip_name(self._unquote_name(text, whole=True)[0], strip)
        if date := date_length(text):
            return self._strip_name(text[: len(text) - date], strip) or None
        return self._name(text, strip, _ENDS_A_NAME)

    def _hunks(self, file: GitFile) -> int:
        """Skip the hunks of a file, and note what they say about it; return their number."""
        count = old = new = 0
        while self._line().startswith(b"@@ -"):
            removed, added = self._hunk()
            count, old, new = count + 1, old + removed, new + added
        if file.is_new is None:
            file.is_new = None if not old and count < 2 else False
        if file.is_deleted is None:
            file.is_deleted = None if not new and count < 2 else False
        if (file.is_new and old) or (file.is_deleted and new):
            raise self._refuse("a new or a deleted file with two sides")
        return count

    def _hunk(self) -> tuple[int, int]:
        """Skip one hunk; return the number of its old and of its new lines."""
        match = _RANGE.match(self._line())
        if match is None:
            raise self._refuse("a broken hunk header")
        counts = _number(match[2]), _number(match[4])
        self._at += 1
        self._hunk_lines(*counts)
        if self._line().startswith(b"\\ ") and len(self._line()) > _SHORTEST_NOTE:
            self._at += 1
        return counts

    def _hunk_lines(self, old: int, new: int) -> None:
        """Skip the lines of a hunk; a loop without calls, since a patch may have millions of them."""
        lines, at, end, changes = self._lines, self._at, len(self._lines), False
        while (old > 0 or new > 0) and at < end:
            step = _STEPS.get(lines[at][:1])
            if step is not None:
                old -= step[0]
                new -= step[1]
                changes |= step[0] != step[1]
            elif not lines[at].startswith(b"\\ ") or len(lines[at]) < _SHORTEST_NOTE:
                break
            at += 1
        self._at = at
        if at == end and (old > 0 or new > 0):
            raise MiscountedHunkError("the last hunk is cut off")
        if old > 0 or new > 0:
            before = _show(self._line()[:60])
            raise MiscountedHunkError(f"line {at + 1}: a hunk is shorter than its header says, before {before}")
        if old or new or not changes:
            raise MiscountedHunkError(f"line {at + 1}: a hunk is longer than its header says, or changes nothing")

    def _binary(self, file: GitFile) -> None:
        line = self._line()
        if line == b"GIT binary patch":
            file.is_binary = True
            self._at += 1
            self._binary_hunk(required=True)
            self._binary_hunk(required=False)
        elif line.endswith(b" differ") and line.startswith(_DIFFER):
            file.is_binary, file.has_data = True, False
            self._at += 1

    def _binary_hunk(self, *, required: bool) -> None:
        if not self._line().startswith(_BINARY):
            if required:
                raise self._refuse("binary data without their size")
            return
        self._at += 1
        while line := self._line():
            if len(line) < 6 or len(line) % 5 != 1:
                raise self._refuse("broken binary data")
            self._at += 1
        if self._at >= len(self._lines):
            raise MalformedPatchError("the binary data are cut off")
        self._at += 1


_WORDS = (
    *(b"--- ", b"+++ ", b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ", b"copy from "),
    *(b"copy to ", b"rename old ", b"rename new ", b"rename from ", b"rename to ", b"index "),
    *(b"similarity index ", b"dissimilarity index "),
)


def _split_word(line: bytes) -> tuple[bytes, bytes]:
    """Split a line into the words by which git knows it, and the rest; no words if git does not know it."""
    word = next((word for word in _WORDS if line.startswith(word)), b"")
    return word, line[len(word) :]


def _number(digits: bytes | None) -> int:
    if digits is None:
        return 1
    significant = digits.lstrip(b"0")
    return int(significant or b"0") if len(significant) < 19 else _HUGE


def _show(text: bytes) -> str:
    return repr(text[:80].decode(errors="replace"))
