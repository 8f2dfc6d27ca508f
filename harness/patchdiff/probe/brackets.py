"""Brackets in a source text, and other elements for them: arguments of calls, items of lists, tuples and dictionaries.

Works on tokens, which are the same from Python 3.6 to 3.14.
"""

import keyword
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Tuple  # noqa: UP035

from . import values

Place = Tuple[int, int]  # noqa: UP006 - (line, column) of the function's text: lines from 1, columns in characters
LONGEST_LIST = 30  # elements of a list that is reordered; longer ones are data tables
_OPENING, _CLOSING = "([{", ")]}"
KINDS = {  # what else a list, a tuple or a dictionary may be, with its text and its length
    "[": ("iter({})", "set({})", "tuple({})", "dict.fromkeys({})", "[{}]", "type('Sub', (list,), {{}})({})"),
    "(": ("iter({})", "list({})", "set({})", "__import__('collections').namedtuple('T', list('abcdefgh'[:{1}])){0}"),
    "{": ("[{}]", "type('Sub', (dict,), {{}})({})"),
}


class TokenEdit(NamedTuple):
    """One replacement in the text of a function."""

    start: Place
    end: Place
    old: str
    new: str


class Element(NamedTuple):
    """An argument or item; ``name`` is that of a named argument."""

    start: Place
    end: Place
    text: str
    name: str = ""


class Bracket(NamedTuple):
    """A bracket whose elements can be separated: a display, or the arguments of a call."""

    before: str  # the token before it: of a call, the function's name
    display: bool
    whole: Element
    inside: Element
    parts: "list[Element]"


def split_lines(text: str) -> "list[str]":
    """Split a source text into lines as the parser counts them, each with its end."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def ends_operand(before: str) -> bool:
    """Return whether a token can end an operand, so that a bracket or sign after it belongs to it."""
    return before[-1:] in (")", "]", "}", "'", '"') or (before[-1:].isalnum() and not keyword.iskeyword(before))


def find_brackets(text: str, tokens: "list[tokenize.TokenInfo]") -> "list[Bracket]":
    lines, found, stack = split_lines(text), [], []  # type: list[str], list[Bracket], list[int]
    for index, each in enumerate(tokens):
        if each.type == tokenize.OP and each.string in _OPENING:
            stack.append(index)
        elif each.type == tokenize.OP and each.string in _CLOSING and stack:
            found += _bracket(lines, tokens, stack.pop(), index)
    return sorted(found, key=lambda each: each.whole.start)


def _bracket(lines: "list[str]", tokens: "list[tokenize.TokenInfo]", opening: int, closing: int) -> "Iterator[Bracket]":
    before = tokens[opening - 1].string if opening else ""
    display, spans = not ends_operand(before), _spans(tokens, opening, closing)
    defines = opening > 1 and tokens[opening - 2].string in ("def", "class")
    checks = (before.startswith("assert") and before != "assert") or before == "raises"
    if spans is None or defines or checks or (tokens[opening].string == "[" and not display):
        return
    is_tuple = tokens[opening].string != "(" or tokens[closing - 1].string == "," or len(spans) > 1
    if (is_tuple and spans) or not display:
        parts = [_element(lines, tokens[at].start, tokens[to].end, tokens[at : at + 2]) for at, to in spans]
        first, last = (parts[0].start, parts[-1].end) if parts else (tokens[opening].end,) * 2
        whole = _element(lines, tokens[opening].start, tokens[closing].end)
        yield Bracket(before, display, whole, _element(lines, first, last), parts)


def _spans(tokens: "list[tokenize.TokenInfo]", opening: int, closing: int) -> "list[tuple[int, int]] | None":
    """Return the first and last token of each element; None for a comprehension."""
    spans, depth, first = [], 0, opening + 1  # type: list[tuple[int, int]], int, int
    for index in range(opening + 1, closing + 1):
        word = tokens[index].string
        if depth == 0 and word in ("for", "lambda", "async"):
            return None
        if depth == 0 and (word == "," or index == closing):
            spans += [(first, index - 1)] * (index > first)
            first = index + 1
        depth += (word in _OPENING) - (word in _CLOSING) if tokens[index].type == tokenize.OP else 0
    return spans


def _element(lines: "list[str]", start: Place, end: Place, begins: "Sequence[tokenize.TokenInfo]" = ()) -> Element:
    rows = lines[start[0] - 1 : end[0]]
    rows[-1] = rows[-1][: end[1]]
    rows[0] = rows[0][start[1] :]
    named = len(begins) > 1 and begins[1].string == "="
    return Element(start, end, "".join(rows), begins[0].string if named else "")


def rearrange(bracket: Bracket) -> "Iterator[TokenEdit]":
    """Yield edits that leave out, repeat or swap items; in a call, swap arguments or drop a named one."""
    parts, inside, whole = [each.text for each in bracket.parts], bracket.inside, bracket.whole
    if not 0 < len(parts) <= LONGEST_LIST:
        return
    free = list(range(len(parts)))
    if bracket.display:
        dropped = [parts[:i] + parts[i + 1 :] for i in free]
        orders = dropped + [parts[: i + 1] + parts[i:] for i in free[:3]]
    else:
        orders = [parts[:i] + parts[i + 1 :] for i in free if bracket.parts[i].name]
        free = [i for i in free if not bracket.parts[i].name and parts[i][0] != "*"]
    orders += [_swap(parts, *pair) for pair in zip(free, free[1:])]  # noqa: B905, RUF007 - not before Python 3.10
    comma = "," if bracket.display and whole.text[0] == "(" else ""
    # a comment inside an element would swallow what follows it on one line
    news = [", ".join(order) + (comma if len(order) == 1 else "") for order in orders if "#" not in "".join(order)]
    yield from (TokenEdit(*inside[:3], new) for new in news if new != inside.text)
    for kind in KINDS[whole.text[0]] if bracket.display else ():
        yield TokenEdit(*whole[:3], kind.format(whole.text, len(parts)))


def _swap(parts: "list[str]", left: int, right: int) -> "list[str]":
    order = list(parts)
    order[left], order[right] = order[right], order[left]
    return order


def cross(bracket: Bracket, known: "Sequence[tuple[str, str]]") -> "Iterator[TokenEdit]":
    """Yield edits that take a literal of another call of the function or another row, at its place or by its name."""
    parts = {each.name or str(at): each for at, each in enumerate(bracket.parts)}
    for name, literal in known:
        part, named = parts.get(name), literal if name.isdigit() else name + "=" + literal
        old = part and values.literal(values.read_literal(part.text[len(part.name) :].lstrip("= ")))
        if part and literal not in (old, part.text):
            yield TokenEdit(*part[:3], named)
        elif not part and not name.isdigit():
            yield TokenEdit(bracket.inside.end, bracket.inside.end, "", ", " * bool(parts) + named)


def find_row_items(brackets: "Sequence[Bracket]") -> "dict[Place, list[tuple[str, str]]]":
    """Return, by a row's beginning, the items of all rows of the same length in its table, each with its place."""
    found: dict[Place, list[tuple[str, str]]] = {}
    displays = {(each.whole.start, each.whole.end): each for each in brackets if each.display}
    for table in displays.values():
        rows = [displays[part[:2]] for part in table.parts if part[:2] in displays]
        for length in {len(row.parts) for row in rows}:
            alike = [row for row in rows if len(row.parts) == length]
            items = sorted({(str(at), part.text) for row in alike for at, part in enumerate(row.parts)})
            found.update((row.whole.start, items) for row in alike)
    return found
