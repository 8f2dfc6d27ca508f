"""Shams: tests whose literals are spelled another way and mean the same. Pure.

Code that knows the text of a test, and is honest with every other, fails them.
"""

import random
import re

from assay.harness.languages.base import Asserting

_INTEGER = re.compile(r"0|[1-9]\d{0,8}")
_PLAIN = r"[^\\\n$#{{}}{quote}]*"  # nothing that the text itself gives a meaning


def respell_literal(source: str, asserting: Asserting, dice: random.Random) -> str:
    """Return another spelling of a literal's value; empty if none is known."""
    if _INTEGER.fullmatch(source):
        return f"0x{int(source):x}"
    quote = source[:1]
    if not quote or quote not in asserting.escaping:
        return ""
    inner = source[1:-1]
    places = [place for place, letter in enumerate(inner) if re.match(r"[A-Za-z]", letter)]
    if not places or source[-1:] != quote or not re.fullmatch(_PLAIN.format(quote=quote), inner):
        return ""
    place = dice.choice(places)
    return quote + inner[:place] + asserting.escape.format(ord(inner[place])) + inner[place + 1 :] + quote
