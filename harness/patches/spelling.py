"""Spellings of one path that some file system or tool takes for the same. Pure.

Paths must not be much longer than a file system allows: normalising takes quadratic time on a run of combining marks.
"""

import re
import unicodedata

_SEPARATOR = re.compile(r"[/\\]")
_INVISIBLE = dict.fromkeys(
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000))
) | {code: None for code in range(0x10000) if unicodedata.category(chr(code)) in ("Cf", "Cc")}
"""Characters that are not seen; some file systems leave them out of a name."""


def plain(path: str) -> str:
    """Return a path without what cannot be seen in it: invisible characters, compatibility forms, ends of its parts.

    Some file systems take no notice of dots and blanks at the end of a name.
    """
    if not path.isascii():
        path = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).translate(_INVISIBLE))
    elif not path.isprintable():
        path = path.translate(_INVISIBLE)
    return "/".join(part if part in (".", "..") else part.rstrip(". ") for part in _SEPARATOR.split(path))


def fold(path: str) -> str:
    """Return a path as ``plain`` does, and in one case."""
    return unicodedata.normalize("NFKC", plain(path).casefold())
