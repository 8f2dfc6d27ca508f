"""Plain data: read and written as literals, and values that may replace it."""

import ast
import functools
import math
import random
import re
from collections.abc import Iterable, Sequence
from typing import Any

BLANKS = " \t\n\r\f\v"
MARKS = BLANKS + "\"'`/\\<>=&%#:;,.-_+*?!$@|()[]{}"
LONGEST = 20000  # characters of a string, beyond which it is data, not a literal
DEEPEST = 12
FEW = 2  # pieces of a string that is but a name
SPLICES, WORDS, WORDS_FOR_FEW = 12, 2, 8  # texts for a string with pieces of others in it, and words of the change
OTHERS = 4  # other strings that replace one, or give a line to it
BESIDE, PUT_IN = 6, 2  # texts with a word of the change beside another, with a mark of the change anywhere
LONG_NUMBER = 6  # digits of a number that is no border of anything
MARKED = 0.5  # share of pieces of strings of the tests that are brackets, where there are some
_PIECE = re.compile(r"[\[({<][^\[\](){}<>]*[\])}>]|\w+|\s+|.", re.DOTALL)
_OTHER_QUOTES = {ord('"'): "'", ord("'"): '"'}
_ACCENT = "\u00e9"


def read_literal(text: "str | ast.AST") -> Any:
    """Return the value of a literal, given as a text or a node; None if it is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def is_plain(value: object, depth: int = 0) -> bool:
    """Return whether a value is plain data: built-in types alone, which a literal describes completely."""
    if type(value) in (bool, int, str, bytes, type(None)):
        return True
    if type(value) is float:
        return math.isfinite(value)
    inner = _items(value) if depth < DEEPEST else None
    return inner is not None and all(is_plain(item, depth + 1) for item in inner)


def _items(value: Any) -> "list[Any] | None":
    """Return the content of a built-in container; None for anything else, and for the empty set: it has no literal."""
    if type(value) is dict:
        return [*value, *value.values()]
    if type(value) in (list, tuple) or (type(value) is set and value):
        return list(value)
    return None


def literal(value: object) -> str:
    """Write plain data as a literal, the same in every process; "" if it is not plain or too long."""
    if not is_plain(value):
        return ""
    text = _write(value)
    return text if len(text) <= LONGEST else ""


def _write(value: Any) -> str:
    if type(value) is set:
        return "{" + ", ".join(sorted(_write(item) for item in value)) + "}"
    if type(value) is dict:
        return "{" + ", ".join(_write(key) + ": " + _write(item) for key, item in value.items()) + "}"
    if type(value) is list:
        return "[" + ", ".join(_write(item) for item in value) + "]"
    if type(value) is tuple:
        return "(" + "".join(_write(item) + ", " for item in value).rstrip(" ") + ")"
    return repr(value)


def others(value: Any, choice: random.Random) -> "list[Any]":
    """Return plain values that may replace a plain value; none equals it in type and text."""
    if isinstance(value, (bool, int, float)):
        return [not value, None] if isinstance(value, bool) else [*numbers(value), None, str(value), [value]]
    if isinstance(value, (str, bytes)):
        return [*texts(value, choice), *encode_variants(value), None, [value]]
    if isinstance(value, (list, tuple)):
        return [type(value)(items) for items in _orders(list(value))] + [type(value)([value])]
    if isinstance(value, dict):
        return [*_fewer(value), *_rename_keys(value, choice), [value]]
    if isinstance(value, set):
        return [set(rest) for rest in _orders(sorted(value, key=repr)) if len(rest) < len(value)]
    return [0, "", False]


def encode_variants(value: Any) -> "list[bytes]":
    if isinstance(value, bytes):
        return [value + b"\xe9"]
    return [value.encode("utf-8", "replace"), (value + _ACCENT).encode("latin-1", "replace")]


def numbers(value: Any) -> "list[Any]":
    """Return a number's neighbours and the usual border values, small enough that nothing loops over them long."""
    if isinstance(value, float):
        return _different(value, [-value, 0.0, value + 1, value / 2, value * 10, 0.5, -1.0])
    return _different(value, [value + 1, value - 1, 0, 1, -1, -value, value * 2, value + 10, 2, 100])


def borders(value: Any, words: "Sequence[str]") -> "list[int]":
    """Return the numbers among the words of a change and their neighbours, for a whole number; nothing for others."""
    if type(value) is not int:
        return []
    found = dict.fromkeys(number + step for number in _find_numbers(tuple(words)) for step in (0, 1, -1))
    return [each for each in found if each != value]


@functools.lru_cache(maxsize=20)
def _find_numbers(words: "tuple[str, ...]") -> "tuple[int, ...]":
    return tuple(int(word) for word in words if word.isdecimal() and len(word) < LONG_NUMBER)


def texts(value: Any, choice: random.Random) -> "list[Any]":
    """Return changed copies of a string or bytes: borders, case, line ends, quotes, cut, doubled, changes inside."""
    if isinstance(value, bytes):
        news = texts(value.decode("latin-1"), choice)
        return [each.encode("latin-1") for each in news if all(ord(mark) < 256 for mark in each)]
    plain = ["", " ", value + " ", " " + value, value.swapcase(), value[:-1], value[1:], value[::-1]]
    plain += [value.upper(), value + "\n", value + _ACCENT, "x" + value[1:], value[:-1] + "0"]
    if len(value) < 200:
        plain.append(value + value)
    plain += [value.replace("\n", "\r\n"), value.translate(_OTHER_QUOTES)]
    return _different(
        value, plain + _vary_inside(value, choice) + _vary_marks(value, choice) + _vary_lines(value, choice)
    )


def _vary_inside(value: str, choice: random.Random) -> "list[str]":
    if len(value) < 2:
        return []
    at = choice.randrange(len(value))
    mark = choice.choice(value)
    news = [value[:at] + value[at + 1 :], value[:at] + mark + value[at:], value[:at] + mark + value[at + 1 :]]
    digits = [match.span() for match in re.finditer(r"\d+", value)]
    if digits:
        first, last = choice.choice(digits)
        alike = str(choice.randrange(10 ** (last - first))).zfill(last - first)
        news.append(value[:first] + choice.choice((alike, alike, "0", str(int(value[first:last]) + 1))) + value[last:])
    words = value.split(" ")
    if len(words) > 1:
        at = choice.randrange(len(words) - 1)
        news.append(" ".join(words[:at] + words[at + 1 :]))
        news.append(" ".join([*words[:at], words[at + 1], words[at], *words[at + 2 :]]))
        news.append(" ".join([*words[: at + 1], *words[at:]]))
        news.append("\n".join([" ".join(words[: at + 1]), " ".join(words[at + 1 :])]))
    return news


def _vary_marks(value: str, choice: random.Random) -> "list[str]":
    """Return copies of a string with a mark that formats give a meaning to, another blank for a blank, a mark twice."""
    at = choice.randrange(len(value) + 1)
    news = [value[:at] + mark + value[at:] for mark in choice.sample(MARKS, 4)]
    blanks = [place for place, mark in enumerate(value) if mark in BLANKS]
    if blanks:
        at = choice.choice(blanks)
        news += [value[:at] + mark + value[at + 1 :] for mark in choice.sample(BLANKS, 3)]
    unlike = [place for place, mark in enumerate(value) if not mark.isalnum()]
    news += [value[:at] + value[at] + value[at:] for at in choice.sample(unlike, min(2, len(unlike)))]
    return news


def _vary_lines(value: str, choice: random.Random) -> "list[str]":
    """Return copies of a text of several lines: one left out, doubled, moved up, put further in."""
    lines = value.splitlines(True)
    if len(lines) <= 1:
        return []
    at, above = choice.randrange(len(lines)), choice.randrange(len(lines) - 1)
    news = [lines[:at] + lines[at + 1 :], lines[: at + 1] + lines[at:]]
    news.append([*lines[:above], lines[above + 1], lines[above], *lines[above + 2 :]])
    news.append([*lines[:at], "  " + lines[at], *lines[at + 1 :]])
    return ["".join(each) for each in news]


def splice(value: Any, donors: "Sequence[str]", words: "Sequence[str]", choice: random.Random) -> "list[Any]":
    """Return texts for a string: words that a change is about, and itself with pieces of others put in or in exchange.

    Words are taken whole and in pieces; `donors` in pieces, and some whole ones that share a mark with it.
    """
    if isinstance(value, bytes):
        news = splice(value.decode("latin-1"), donors, words, choice)
        return [each.encode("latin-1") for each in news if all(ord(mark) < 256 for mark in each)]
    near = _insert_words(value, [*words, *_marks(tuple(words))], choice) + _insert_marks(value, words, choice)
    donors, words = ([other for other in each if other != value] for each in (donors, words))
    own = pieces(value)
    found = choice.sample(words, min(WORDS if len(own) > FEW else WORDS_FOR_FEW, len(words)))
    if any(is_bracketed(piece) for piece in own):
        donors = [other for other in donors if any(is_bracketed(piece) for piece in pieces(other))] or donors
    kin = [
        other
        for other in donors
        if _find_marks(other) & _find_marks(value) or not _find_marks(other) | _find_marks(value)
    ]
    found += choice.sample(kin, min(OTHERS, len(kin)))
    if "\n" in value:
        found += _splice_lines(value, [other for other in donors if "\n" in other.strip("\n")], choice)
    for number in range(SPLICES):
        sources = (donors, words, donors, [value])[number % 4] or donors or [value]
        foreign = pieces(choice.choice(sources))
        marked = [place for place, piece in enumerate(foreign) if is_bracketed(piece)]
        if foreign and own:
            at = choice.randrange(len(own) + 1)
            whole = marked and sources is not words and choice.random() < MARKED
            first = choice.choice(marked) if whole else choice.randrange(len(foreign))
            piece = foreign[first : first + choice.choice((0, 1, 1, 1, 3))]
            found.append("".join([*own[:at], *piece, *own[at + choice.choice((0, 0, 1)) :]]))
    return [new for new in found + near if new != value]


def _splice_lines(value: str, donors: "Sequence[str]", choice: random.Random) -> "list[str]":
    """Return a text of several lines with a line of another before one of its own, or in its place."""
    lines, news = value.splitlines(True), []
    for other in choice.sample(donors, min(OTHERS, len(donors))):
        at, line = choice.randrange(len(lines)), choice.choice(other.strip("\n").splitlines()) + "\n"
        margin = lines[at][: len(lines[at]) - len(lines[at].lstrip(" "))]
        news.append("".join([*lines[:at], margin + line.lstrip(" "), *lines[at + choice.choice((0, 0, 1)) :]]))
    return news


def _insert_words(value: str, words: "Sequence[str]", choice: random.Random) -> "list[str]":
    """Return copies with a word or mark of the change beside, or in place of, a word of the change in the text."""
    standing = (word for word in words if word in value)
    places = [(match.start(), word) for word in standing for match in re.finditer(re.escape(word), value)]
    news = []
    for at, word in choice.sample(places, min(BESIDE, len(places))):
        first, last = choice.choice(((at, at), (at + len(word),) * 2, (at, at + len(word))))
        news.append(value[:first] + choice.choice((word, choice.choice(words))) + value[last:])
    return news


def _insert_marks(value: str, words: "Sequence[str]", choice: random.Random) -> "list[str]":
    """Return a text with marks of the change anywhere, and with a piece repeated as often as a number of the change."""
    news, marks, own = [], _marks(tuple(words)), pieces(value)
    for mark in choice.sample(marks, min(PUT_IN, len(marks))):
        at = choice.randrange(len(value) + 1)
        news.append(value[:at] + mark + value[at:])
    counts = _find_numbers(tuple(words))
    if counts and own:
        at = choice.randrange(len(own))
        many = own[at] * (choice.choice(counts) + choice.choice((0, 1)))
        news.append("".join([*own[:at], many, *own[at + 1 :]]))
    return news


@functools.lru_cache(maxsize=20)
def _marks(words: "tuple[str, ...]") -> "tuple[str, ...]":
    return tuple(sorted({mark for word in words for mark in word if not mark.isalnum()}))


@functools.lru_cache(maxsize=2000)
def _find_marks(value: str) -> "frozenset[str]":
    return frozenset(mark for mark in value if not mark.isalnum() and mark != " ")


@functools.lru_cache(maxsize=2000)
def pieces(value: str) -> "tuple[str, ...]":
    """Split a string into innermost brackets, words, blanks, marks."""
    return tuple(_PIECE.findall(value))


def is_bracketed(piece: str) -> bool:
    return len(piece) > 1 and piece[0] in "[({<"


def _different(value: Any, news: "Iterable[Any]") -> "list[Any]":
    return list({repr(each): each for each in news if repr(each) != repr(value)}.values())


def _orders(items: "list[Any]") -> "list[list[Any]]":
    """Return the items with one left out, one repeated, two swapped, all reversed, none."""
    found = [items[:i] + items[i + 1 :] for i in range(min(len(items), 4))]
    if items:
        found += [items[:1] + items, items + items[-1:]]
    if len(items) > 1:
        found += [items[::-1], [items[1], items[0], *items[2:]], []]
    return [order for order in found if repr(order) != repr(items)]


def _fewer(value: "dict[Any, Any]") -> "list[dict[Any, Any]]":
    keys = list(value)[:4]
    found = [{key: item for key, item in value.items() if key != left} for left in keys]
    if len(value) > 1:
        found += [dict(reversed(list(value.items()))), {}]
    return found


def _rename_keys(value: "dict[Any, Any]", choice: random.Random) -> "list[dict[Any, Any]]":
    """Return copies of a dictionary in which one key is another value of its kind; the order stays."""
    names = [key for key in value if isinstance(key, (str, bytes)) and len(key) < LONGEST]
    if not names:
        return []
    old = choice.choice(names)
    news = [new for new in texts(old, choice) if new not in value]
    chosen = choice.sample(news, min(4, len(news)))
    return [{new if key == old else key: item for key, item in value.items()} for new in chosen]
