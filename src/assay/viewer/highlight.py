"""Source text with Pygments' classes, in one piece or line by line."""

from functools import cache, lru_cache
from time import thread_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST = 64 * 1024  # characters of one piece that are highlighted; longer ones stay plain
SECONDS = 0.2  # processor time for one piece: patterns can be slow on hostile text, which then stays plain
CLASSES = ("k", "s", "c", "n", "m", "o")
"""Token classes of the style sheet: keyword, string, comment, name, number, operator."""


def highlight(text: str, *, lexer: str = "", path: str = "") -> "Markup":
    """Return text with the classes of its tokens, everything escaped.

    Args:
        text: fit to be read (``text.readable``).
        lexer: Pygments' name of a language.
        path: file name, which chooses the lexer if ``lexer`` is empty.
    """
    from markupsafe import Markup, escape
    from pygments import format as write

    chosen = _lexer(lexer, _end(path)) if len(text) <= LONGEST else None
    tokens = _tokens(chosen, text) if chosen is not None else None
    return escape(text) if tokens is None else Markup(write(tokens, _formatter()))


def _tokens(lexer: Any, text: str) -> list[Any] | None:
    """Return the tokens of a text; None if finding them takes too long."""
    found, began = [], thread_time()
    for token in lexer.get_tokens(text):
        found.append(token)
        if thread_time() - began > SECONDS:
            return None
    return found


def highlight_lines(lines: list[str], path: str) -> "list[Markup]":
    """Return lines of one file with the classes of their tokens; the number of lines stays."""
    from markupsafe import Markup, escape

    found = str(highlight("\n".join(lines), path=path)).removesuffix("\n").split("\n")
    if len(found) != len(lines):
        return [escape(line) for line in lines]
    return [Markup(line) for line in found]


@lru_cache(maxsize=256)
def _lexer(name: str, end: str) -> Any:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    options: dict[str, Any] = {"stripnl": False, "ensurenl": False}
    try:
        return get_lexer_by_name(name, **options) if name else get_lexer_for_filename(end, **options)
    except ClassNotFound:
        return None


@cache
def _formatter() -> Any:
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True)


def _end(path: str) -> str:
    """Return the part of a path that chooses the lexer, so that few of them are looked up."""
    name = path.rsplit("/", 1)[-1]
    _, dot, end = name.rpartition(".")
    return f"x.{end}" if dot and end.isalnum() and len(end) < 12 else name[:40]
