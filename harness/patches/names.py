"""File names in the headers of diffs as git reads them: quoted, below a folder, before a time. Pure and linear."""

import re

QUOTE, SLASH = b'"', b"/"
_NO_FILE = b"/dev/null"
_PLAIN = re.compile(rb'[^"\\]+')
_ESCAPE = re.compile(rb'\\(?:([0-3][0-7]{2})|([abfnrtv"\\]))')
_LETTERS = dict(zip(b'abfnrtv"\\', b'\a\b\f\n\r\t\v"\\', strict=True))
_ZONE = re.compile(rb" [+-](?:\d{4}|\d{2}:\d{2})\Z")
_TIME = re.compile(rb" \d{2}:\d{2}:\d{2}(?:\.\d+)?\Z")
_DATE = re.compile(rb"(?:\d{2})?\d{2}-\d{2}-\d{2}\Z")
_EPOCH = re.compile(rb"(1969-12-31|1970-01-01) ([0-2]\d):([0-5]\d):00(?:\.0+)? ([+-])([0-2]\d):?([0-5]\d)\Z")


def unquote(text: bytes) -> tuple[bytes, int] | None:
    """Read a quoted name at the start of a text; return it with the place behind its closing quote.

    None if the quote is not closed or an escape is unknown to git.
    """
    parts, at = bytearray(), 1
    while (char := text[at : at + 1]) != QUOTE:
        match = _PLAIN.match(text, at) or _ESCAPE.match(text, at)
        if match is None:
            return None
        if char != b"\\":
            parts += match[0]
        else:
            parts.append(int(match[1], 8) if match[1] else _LETTERS[match[2][0]])
        at = match.end()
    return bytes(parts), at + 1


def is_no_file(text: bytes) -> bool:
    """Return whether a header names the file that is not there."""
    return text.startswith(_NO_FILE) and text[len(_NO_FILE) : len(_NO_FILE) + 1] in (b"", b" ", b"\t", b"\r")


def below(name: bytes, strip: int) -> bytes | None:
    """Return a name of a ``diff --git`` line without its first folder; None for an absolute one and for no name."""
    slash = name.find(SLASH)
    if not strip:
        return None if slash == 0 else name
    return name[slash + 1 :] if slash > 0 else None


def strip_folder(name: bytes, strip: int) -> bytes | None:
    """Return a name without its first folder, if that is to be stripped, and with single slashes."""
    slash = name.find(SLASH)
    if strip and slash < 0:
        return None
    return re.sub(rb"/+", SLASH, name[slash + 1 :] if strip else name)


def twice(text: bytes, strip: int) -> bytes | None:
    """Return the name before a blank, if the same name and nothing else is behind the blank and one folder."""
    slash = -1
    for match in re.finditer(rb"[ \t]", text):
        start = match.end()
        if strip:
            slash = slash if slash >= start else text.find(SLASH, start)
            if slash < 0:
                return None
            if slash == start:
                continue
            start = slash + 1
        if start + match.start() == len(text):
            return text[: match.start()] if text.endswith(text[: match.start()]) else None
    return None


def date_length(text: bytes) -> int:
    """Return the length of a time at the end of a header, with the blanks before it; 0 if there is none."""
    if not text[-1:].isdigit():
        return 0
    rest = text
    for pattern in (_ZONE, _TIME):
        if match := pattern.search(rest):
            rest = rest[: match.start()]
    date = _DATE.search(rest)
    before = rest[: date.start()] if date else b""
    if before.endswith(b"\t"):
        return len(text) - len(before) + 1
    return len(text) - len(before.rstrip(b" ")) if before.endswith(b" ") else 0


def is_epoch(text: bytes) -> bool:
    """Return whether the time behind the last tab is the beginning of 1970: how other tools say "no file"."""
    _, tab, time = text.rpartition(b"\t")
    match = _EPOCH.match(time) if tab else None
    if match is None:
        return False
    minutes = int(match[2]) * 60 + int(match[3])
    zone = (int(match[5]) * 60 + int(match[6])) * (-1 if match[4] == b"-" else 1)
    return minutes - zone == (24 * 60 if match[1].startswith(b"1969") else 0)
