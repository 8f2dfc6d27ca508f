"""Words that this process hands to builds, such as passwords: whatever it prints or saves has a mask in their place."""

import re
from collections.abc import Iterable

MASK = "***"
LEAST = 4  # characters; a shorter word is part of too many others

_words: set[str] = set()


def conceal(words: Iterable[str]) -> None:
    """Mask these words from now on; those shorter than ``LEAST`` are not."""
    _words.update(word for word in words if len(word) >= LEAST)


def mask(text: str) -> str:
    words = sorted(_words.copy(), key=len, reverse=True)  # a password's base64 may begin with another's
    return re.sub("|".join(map(re.escape, words)), MASK, text) if words else text
