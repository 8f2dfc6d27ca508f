"""Changed copies of a test function, as edits of its text: literals, names, arguments, elements, signs.

Works on tokens, which are the same from Python 3.6 to 3.14, so a change has a line, a column, an old and a new text.
What is chosen depends on the text and the seed alone, hence is the same on every side of a comparison.
"""

import ast
import bisect
import io
import itertools
import keyword
import random
import token as token_names
import tokenize
from typing import TYPE_CHECKING, Any, NamedTuple, Tuple  # noqa: UP035

from . import values

if TYPE_CHECKING:
    from collections.abc import Sequence

    Groups = list[list[list["TokenEdit"]]]  # of places: alternatives, each a list of edits

Place = Tuple[int, int]  # noqa: UP006 - (line, column) of the function's text: lines from 1, columns in characters
PER_PLACE = 24  # alternatives kept at one place, and the first: the empty string, the next number
FIRST = 0.2  # share of changes that are a place's first
WHOLE, STATEMENTS = -9, 0.4  # the region of whole statements put in or left out, and its weight beside all others
ALIKE, CROSSED, OTHER_DISPLAYS = 8, 6, 3  # strings of its test, statements, lists of other tests, in place of one
LONGEST_LIST = 30  # elements of a list that is reordered; longer ones are data tables
ASSERTION, ACTION, LEADING = "assertion", "action", "leading"
SHARE = {ASSERTION: 0.6, ACTION: 0.25, LEADING: 0.0}  # part of the statements of a role that one copy changes
LEADING_ALONE, TWICE = 0.65, 0.25  # share of copies with a change in what leads up alone, and of two such changes
OTHERS = ("None", "object()")  # in place of any number or text: nothing, and what equals itself alone
_OTHER_SIGN = {"+": "-", "-": "+", "*": "+", "/": "*"}
_OPENING, _CLOSING = "([{", ")]}"
# texts around a list, tuple or dictionary that make something else of it
KINDS = {
    "[": (("iter(", ")"), ("set(", ")"), ("tuple(", ")"), ("dict.fromkeys(", ")"), ("[", "]")),
    "(": (("iter(", ")"), ("list(", ")"), ("set(", ")")),
    "{": (("[", "]"),),
}
_WORDS = {"True": "False", "False": "True", "None": "0"}
_SKIPPED = frozenset(
    getattr(token_names, name, -1) for name in ("NEWLINE", "INDENT", "DEDENT", "ENDMARKER", "COMMENT", "NL")
) | {tokenize.COMMENT, tokenize.NL}


class TokenEdit(NamedTuple):
    """One replacement in the text of a function."""

    start: Place
    end: Place
    old: str
    new: str


class Strings(NamedTuple):
    """Strings from outside a function that may be put into it."""

    around: "list[str]"  # in its module: for pieces
    words: "list[str]"  # that the change itself is about: whole, and for pieces
    displays: "Sequence[str]" = ()  # lists, tuples and dictionaries of plain data in its module, as literals
    statements: "Sequence[tuple[str, frozenset[str]]]" = ()  # of its tests, with the names that each uses


NO_STRINGS = Strings([], [])


class Scope(NamedTuple):
    """The changeable parts: nothing between `closed` places, no brackets at `fixed` ones."""

    closed: "list[tuple[Place, Place]]"  # from the first to the last of the places between which nothing may change
    fixed: "frozenset[Place]"  # of brackets whose elements stay as they are
    statements: "list[tuple[int, str]]"  # first line and role of each statement, in order of lines
    strings: Strings

    def is_closed(self, place: Place) -> bool:
        """Return whether nothing may change at a place."""
        return any(first <= place <= last for first, last in self.closed)


def is_repetition(edit: TokenEdit) -> bool:
    """Return whether an edit makes a statement once more, and so changes all that comes after it."""
    return not edit.old and edit.new.endswith("\n")


class _Bracket(NamedTuple):
    opening: int
    closing: int
    display: bool
    spans: "list[tuple[int, int]]"  # first and last token of each element


def mutants(text: str, scope: Scope, seed: str, count: int) -> "list[tuple[str, list[TokenEdit], Any]]":
    """Return at most `count` different changed copies of a function: text, changes and parsed function, by `seed`.

    A copy has one change in many of its assertions, since these do not touch one another; or one in what leads up to
    them, now and then two, since those change everything after them, and the assertions show what comes of it.
    """
    choice = random.Random(seed)
    regions: dict[int, Groups] = {}
    for group in _groups(text, scope, choice):
        line, column = group[0][0].start  # whole statements alone begin at a line's first column
        regions.setdefault(_region(scope, line) if column else WHOLE, []).append(group)
    found, seen = [], {text}  # type: list[tuple[str, list[TokenEdit], Any]], set[str]
    for _ in range(count * 8 if regions else 0):
        if len(found) == count:
            break
        edits = _chosen(regions, scope, choice)
        changed = apply(text, edits) if edits else ""
        function = _parsed(changed) if changed and changed not in seen else None
        seen.add(changed)
        if function is not None:
            found.append((changed, edits, function))
    return found


def _region(scope: Scope, line: int) -> int:
    return bisect.bisect_right([first for first, _ in scope.statements], line) - 1


def role_at(scope: Scope, line: int) -> "tuple[int, str]":
    """Return the first line and the role of the statement that a line belongs to."""
    return scope.statements[max(0, _region(scope, line))]


def _chosen(regions: "dict[int, Groups]", scope: Scope, choice: random.Random) -> "list[TokenEdit]":
    """Return the changes of one copy."""
    roles = {at: LEADING if at == WHOLE else scope.statements[max(0, at)][1] for at in sorted(regions)}
    leading = [at for at, role in roles.items() if role == LEADING]
    if leading and (choice.random() < LEADING_ALONE or len(leading) == len(roles)):
        few = max(1.0, sum(len(regions[at]) for at in leading if at != WHOLE) * STATEMENTS)
        weights = [few if at == WHOLE else float(len(regions[at])) for at in leading]
        places = choice.choices(leading, weights, k=2 if choice.random() < TWICE else 1)
    else:
        places = [at for at, role in roles.items() if choice.random() < SHARE[role]]
    edits: list[TokenEdit] = []
    for at in places or [choice.choice(sorted(regions))]:
        weights = [len(group) ** 0.5 for group in regions[at]]
        (group,) = choice.choices(regions[at], weights)
        edits += group[0] if choice.random() < FIRST else choice.choice(group)
    return edits


def apply(text: str, edits: "Sequence[TokenEdit]") -> str:
    """Return the text with the edits made; "" if two of them overlap."""
    starts = [0, *itertools.accumulate(map(len, lines_of(text)))]
    spans = sorted((starts[e.start[0] - 1] + e.start[1], starts[e.end[0] - 1] + e.end[1], e.new) for e in edits)
    out, at = [], 0
    for first, last, new in spans:
        if first < at:
            return ""
        out += [text[at:first], new]
        at = last
    return "".join(out) + text[at:]


def lines_of(text: str) -> "list[str]":
    """Return the lines of a source text as the parser counts them, each with its end."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def parse_function(text: str) -> Any:
    """Return the function of a text as it stands in its class, lines as in the text."""
    if text[:1] not in (" ", "\t"):
        return ast.parse(text).body[0]
    around: Any = ast.increment_lineno(ast.parse("if 1:\n" + text), -1).body[0]
    return around.body[0]


def _parsed(text: str) -> Any:
    try:
        return parse_function(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _groups(text: str, scope: Scope, choice: random.Random) -> "Groups":
    """Return the changes possible, by place: each place has alternatives, each alternative is a list of edits."""
    tokens = _tokens(text)
    strings = sorted({each.string for each in tokens if each.type == token_names.STRING})
    groups = []
    for index, each in enumerate(tokens):
        if scope.is_closed(each.start):
            continue
        before = tokens[index - 1].string if index else ""
        news = _alternatives(each, before, scope, choice)
        alike = [other for other in strings if each.type == token_names.STRING and other != each.string]
        several = news, _some(alike, ALIKE, choice)
        groups += [[[TokenEdit(each.start, each.end, each.string, new)] for new in some] for some in several]
    for bracket in _brackets(tokens):
        start = tokens[bracket.opening].start
        if not scope.is_closed(start) and start not in scope.fixed:
            others = scope.strings.displays if bracket.display else []
            alike = [each[1:-1] for each in others if each[0] == tokens[bracket.opening].string]
            groups.append(_rearranged(text, tokens, bracket, choice.sample(alike, min(OTHER_DISPLAYS, len(alike)))))
    literals = [choice.choice(group) for group in groups if group]
    groups += _whole_statements(text, scope, literals, choice)
    return [group[:1] + choice.sample(group[1:], min(PER_PLACE, len(group) - 1)) for group in groups if group]


def _whole_statements(text: str, scope: Scope, literals: "list[list[TokenEdit]]", choice: random.Random) -> "Groups":
    """Return edits that leave out a statement, or that make before it an earlier one again, or one of another test."""
    function, lines = parse_function(text), lines_of(text)
    names, firsts = names_in(function), list(map(first_line, function.body))
    of_others = [each for each, uses in scope.strings.statements if uses <= names and each not in text]
    of_others += [each.replace(old, _WORDS[old]) for each in of_others for old in ("True", "False") if old in each]
    earlier, found = [], []  # type: list[str], Groups
    for node, first, end in zip(function.body, firsts, [*firsts[1:], text.count("\n") + 1]):  # noqa: B905
        place, old = (first, 0), "".join(lines[first - 1 : end - 1])
        indent = old[: len(old) - len(old.lstrip())]
        others = [indent + each.replace("\n", "\n" + indent) + "\n" for each in _some(of_others, CROSSED, choice)]
        found.append([[TokenEdit(place, place, "", new)] for new in _some(earlier, CROSSED, choice) + others])
        acts = role_at(scope, node.lineno) == (node.lineno, ACTION) and not scope.is_closed((node.lineno, len(indent)))
        if acts:
            found.append([[TokenEdit(place, (end, 0), old, "")]])
        if (acts or isinstance(node, ast.Assign)) and old.endswith("\n"):
            inside = [edits for edits in literals if first <= edits[0].start[0] < end]
            longer = (lines_of(apply(text, edits)) for edits in inside)
            earlier += [old, *("".join(each[first - 1 : end - 1 + len(each) - len(lines)]) for each in longer)]
    return found


def first_line(node: Any) -> int:
    """Return the line at which a statement begins, its decorators included."""
    return int(min([node.lineno] + [each.lineno for each in getattr(node, "decorator_list", [])]))


def _some(news: "list[str]", count: int, choice: random.Random) -> "list[str]":
    return choice.sample(news, min(count, len(news)))


def names_in(tree: ast.AST) -> "frozenset[str]":
    """Return the names that code uses, and the attributes of names that it uses."""
    found = {getattr(node, "id", getattr(node, "arg", "")) for node in ast.walk(tree)}
    own = (node for node in ast.walk(tree) if getattr(getattr(node, "value", None), "id", "") in ("self", "cls"))
    return frozenset(found).union("self." + str(getattr(node, "attr", "")) for node in own)


def _tokens(text: str) -> "list[tokenize.TokenInfo]":
    """Return the tokens that mean something, without the inside of formatted strings."""
    found, formatted = [], 0
    try:
        for each in tokenize.generate_tokens(io.StringIO(text).readline):
            name = token_names.tok_name.get(each.type, "")
            formatted += name.endswith("STRING_START")
            if each.type not in _SKIPPED and not formatted:
                found.append(each)
            formatted -= name.endswith("STRING_END")
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []
    return found


def _alternatives(each: tokenize.TokenInfo, before: str, scope: Scope, choice: random.Random) -> "list[str]":
    """Return the texts that may stand in a token's place."""
    if each.type == token_names.NUMBER:
        return _numbers(each.string, scope.strings.words)
    if each.type == token_names.STRING:
        return _strings(each.string, scope.strings, choice)
    if each.type == token_names.NAME:
        return [_WORDS[each.string]] if each.string in _WORDS else []
    if each.string in _OTHER_SIGN and _ends_operand(before):
        return [_OTHER_SIGN[each.string]]
    return []


def _ends_operand(before: str) -> bool:
    return before[-1:] in (")", "]", "}", "'", '"') or (before[-1:].isalnum() and not keyword.iskeyword(before))


def _numbers(text: str, words: "Sequence[str]") -> "list[str]":
    value = values.read_literal(text)
    if not isinstance(value, (int, float)):
        return []
    return [*map(_source, [*values.numbers(value), *values.borders(value, words)]), *OTHERS]


def _source(value: Any) -> str:
    """Return the text of a literal as it may stand anywhere in an expression."""
    return "(" + repr(value) + ")" if isinstance(value, (int, float)) and value < 0 else repr(value)


def _strings(text: str, strings: Strings, choice: random.Random) -> "list[str]":
    """Return texts for a string: changed copies, words of the change, and mixtures."""
    value = values.read_literal(text)
    if not isinstance(value, (str, bytes)):
        return []
    news = [repr(new) for new in [*values.texts(value, choice), *values.as_bytes(value)[-1:]]]
    return [*news, *OTHERS, *(repr(new) for new in values.spliced(value, strings.around, strings.words, choice))]


def _brackets(tokens: "list[tokenize.TokenInfo]") -> "list[_Bracket]":
    """Return the brackets whose elements can be separated."""
    found, stack = [], []  # type: list[_Bracket], list[int]
    for index, each in enumerate(tokens):
        if each.type == token_names.OP and each.string in _OPENING:
            stack.append(index)
        elif each.type == token_names.OP and each.string in _CLOSING and stack:
            opening = stack.pop()
            bracket = _bracket(tokens, opening, index)
            if bracket is not None:
                found.append(bracket)
    return sorted(found)


def _bracket(tokens: "list[tokenize.TokenInfo]", opening: int, closing: int) -> "_Bracket | None":
    spans, depth, first = [], 0, opening + 1  # type: list[tuple[int, int]], int, int
    for index in range(opening + 1, closing + 1):
        word = tokens[index].string
        if depth == 0 and word in ("for", "lambda", "async"):
            return None
        if depth == 0 and (word == "," or index == closing):
            if index > first:
                spans.append((first, index - 1))
            first = index + 1
        depth += (word in _OPENING) - (word in _CLOSING) if tokens[index].type == token_names.OP else 0
    if opening > 1 and tokens[opening - 2].string in ("def", "class"):
        return None
    before = tokens[opening - 1].string if opening else ""
    if (before.startswith("assert") and before != "assert") or before == "raises":
        return None
    display = not _ends_operand(before)
    if tokens[opening].string == "[" and not display:
        return None
    is_tuple = tokens[opening].string != "(" or not display or tokens[closing - 1].string == "," or len(spans) > 1
    return _Bracket(opening, closing, display, spans) if spans and is_tuple else None


def _rearranged(
    text: str, tokens: "list[tokenize.TokenInfo]", bracket: _Bracket, others: "list[str]"
) -> "list[list[TokenEdit]]":
    """Return edits that leave out, repeat, swap or replace elements; of a call, swap arguments or drop a named one."""
    lines = lines_of(text)
    start, end = tokens[bracket.spans[0][0]].start, tokens[bracket.spans[-1][1]].end
    parts = [_between(lines, tokens[first].start, tokens[last].end) for first, last in bracket.spans]
    if len(parts) > LONGEST_LIST:
        return []
    orders = _displayed(parts) if bracket.display else _called(parts, tokens, bracket)
    comma = "," if bracket.display and tokens[bracket.opening].string == "(" else ""
    old = _between(lines, start, end)
    # a comment inside an element would swallow what follows it on one line
    news = [", ".join(order) + (comma if len(order) == 1 else "") for order in orders if "#" not in "".join(order)]
    news += others
    found = [TokenEdit(start, end, old, new) for new in news if new != old]
    if bracket.display and tokens[bracket.opening].string in KINDS:
        start, end = tokens[bracket.opening].start, tokens[bracket.closing].end
        old = _between(lines, start, end)
        found += [TokenEdit(start, end, old, left + old + right) for left, right in KINDS[old[0]]]
    return [[edit] for edit in found]


def _displayed(parts: "list[str]") -> "list[list[str]]":
    count = len(parts)
    dropped = [parts[:i] + parts[i + 1 :] for i in range(count)]
    doubled = [parts[: i + 1] + parts[i:] for i in range(min(count, 3))]
    return dropped + doubled + _swapped(parts, list(range(count)))


def _called(parts: "list[str]", tokens: "list[tokenize.TokenInfo]", bracket: _Bracket) -> "list[list[str]]":
    named = [i for i, span in enumerate(bracket.spans) if _is_named(tokens, span)]
    starred = [i for i, part in enumerate(parts) if part.startswith("*")]
    positional = [i for i in range(len(parts)) if i not in named and i not in starred]
    dropped = [parts[:i] + parts[i + 1 :] for i in named]
    return dropped + _swapped(parts, positional)


def _is_named(tokens: "list[tokenize.TokenInfo]", span: "tuple[int, int]") -> bool:
    return span[1] > span[0] and tokens[span[0] + 1].string == "="


def _swapped(parts: "list[str]", places: "list[int]") -> "list[list[str]]":
    found = []
    for left, right in zip(places, places[1:]):  # noqa: B905, RUF007 - not before Python 3.10
        order = list(parts)
        order[left], order[right] = order[right], order[left]
        found.append(order)
    return found


def _between(lines: "list[str]", start: Place, end: Place) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return lines[start[0] - 1][start[1] :] + "".join(middle) + lines[end[0] - 1][: end[1]]
