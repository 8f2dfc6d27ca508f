"""Text of a run made fit to be read: nothing in it moves a cursor, turns the reading direction or fills the memory."""

import re
from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass
from typing import BinaryIO

from assay.harness.redaction import redact

HEAD, TAIL = 64 * 1024, 192 * 1024
"""Bytes of a long file that are shown, from its begin and from its end: a log's end says most."""
LINE = 2000  # characters of a line that are shown
SECRET = 5000  # characters of a secret that the end of an excerpt would cut

_TERMINAL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,4096}\x1b\\|[ -/]*[0-~])"
)
"""Escape sequences of terminals: colours, cursor, titles, links."""
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"} | {0x7F: "\u2421"}
_HIDDEN = [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x061C, 0x200E, 0x200F, 0x2028, 0x2029]
_HIDDEN += [*range(0xD800, 0xE000), 0xFEFF, 0xFFFE, 0xFFFF]
_VISIBLE = _CONTROLS | {code: f"\u27e8U+{code:04X}\u27e9" for code in _HIDDEN}
"""Control characters as their pictures; characters that turn text around, break lines or cannot be shown as numbers."""
_ALL_PLAIN = re.compile(
    r"[\t\n -~\u00a0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*"
)


TAKEN: ContextVar[Counter[str] | None] = ContextVar("TAKEN", default=None)
"""Counts what is taken out of pages, by kind, for who sets it."""


def readable(text: str, most: int | None = None) -> str:
    """Return text without secrets and terminal escapes; other invisible characters become visible.

    ``most`` is how much of it is shown: no secret is cut before it is seen.
    """
    text = without_secrets(text if most is None else text[: most + SECRET])[:most]
    if _ALL_PLAIN.fullmatch(text):
        return text
    return _TERMINAL.sub("", text.replace("\r\n", "\n")).replace("\r", "\n").translate(_VISIBLE)


def without_secrets(text: str) -> str:
    done, taken = redact(text), TAKEN.get()
    if taken is not None:
        taken.update(done.counts)
    return done.text


def brief(text: str, most: int) -> str:
    """Return the first line of a text, cut to ``most`` characters."""
    line = readable(text.strip(), 4 * most).partition("\n")[0]
    return line if len(line) <= most else f"{line[:most]}\u2026"


def cut_lines(text: str, most: int = LINE) -> str:
    """Return text whose long lines end with a note on the missing part."""
    if len(text) <= most:
        return text
    return "\n".join(
        line if len(line) <= most else f"{line[:most]} \u2026 ({len(line) - most:,} more characters)"
        for line in text.split("\n")
    )


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A file's text, or its begin and end."""

    head: str
    tail: str = ""
    size: int = 0
    """Bytes of the whole file."""
    left_out: int = 0
    """Bytes between head and tail that are not shown."""


def excerpt(file: BinaryIO, head: int = HEAD, tail: int = TAIL) -> Excerpt:
    """Read the first ``head`` and the last ``tail`` bytes of a seekable file."""
    size = file.seek(0, 2)
    file.seek(0)
    if size <= head + tail:
        return Excerpt(_decode(file.read(head + tail)), size=size)
    begin = file.read(head + SECRET)
    file.seek(max(0, size - tail - SECRET))
    end = file.read()
    return Excerpt(_decode(begin, head), _decode(end, -tail), size, size - head - tail)


def _decode(content: bytes, most: int | None = None) -> str:
    """Return a text, its first characters or, with a negative number, its last."""
    text = without_secrets(content.decode(errors="replace"))
    return cut_lines(readable(text[most:] if most and most < 0 else text[:most]))
