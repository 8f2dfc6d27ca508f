"""Changed copies of a test function, as edits of its text: literals, names, arguments, elements, signs.

Works on tokens, which are the same from Python 3.6 to 3.14, so a change has a line, a column, an old and a new text.
What is chosen depends on the text and the seed alone, hence is the same on every side of a comparison.
"""

import ast
import bisect
import io
import itertools
import random
import token as token_names
import tokenize
from typing import TYPE_CHECKING, Any, NamedTuple

from . import values
from .brackets import Place, TokenEdit, brackets_of, crossed, ends_operand, items_of_rows, lines_of, rearranged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Groups = list[list[list["TokenEdit"]]]  # of places: alternatives, each a list of edits

PER_PLACE = 24  # alternatives kept at one place, and the first: the empty string, the next number
FIRST = 0.2  # share of changes that are a place's first
WHOLE, STATEMENTS = -9, 0.4  # the region of whole statements put in or left out, and its weight beside all others
ALIKE, EARLIER = 8, 6  # strings of its test in place of one, earlier statements before one
ASSERTION, ACTION, LEADING = "assertion", "action", "leading"
SHARE = {ASSERTION: 0.6, ACTION: 0.25, LEADING: 0.0}  # part of the statements of a role that one copy changes
LEADING_ALONE, TWICE = 0.65, 0.25  # share of copies with a change in what leads up alone, and of two such changes
OTHERS = ("None", "object()")  # in place of any number or text: nothing, and what equals itself alone
_OTHER_SIGN = {"+": "-", "-": "+", "*": "+", "/": "*"}
_WORDS = {"True": "False", "False": "True", "None": "0"}
_SKIPPED = frozenset(
    getattr(token_names, name, -1) for name in ("NEWLINE", "INDENT", "DEDENT", "ENDMARKER", "COMMENT", "NL")
) | {tokenize.COMMENT, tokenize.NL}


class Strings(NamedTuple):
    """Strings from outside a function that may be put into it."""

    around: "list[str]"  # in its module: for pieces
    words: "list[str]"  # that the change itself is about: whole, and for pieces
    arguments: "Mapping[str, Sequence[tuple[str, str]]]"  # literals in its calls, by function, with place or name


NO_STRINGS = Strings([], [], {})


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
    return bisect.bisect_left(scope.statements, (line + 1, "")) - 1


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
    """Return the text with the edits made; "" if two of them overlap or begin at the same place."""
    starts = [0, *itertools.accumulate(map(len, lines_of(text)))]
    spans = sorted((starts[e.start[0] - 1] + e.start[1], starts[e.end[0] - 1] + e.end[1], e.new) for e in edits)
    out, at = [], 0
    for first, last, new in spans:
        if first < at or [each[0] for each in spans].count(first) > 1:
            return ""
        out += [text[at:first], new]
        at = last
    return "".join(out) + text[at:]


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
    brackets = [each for each in brackets_of(text, tokens) if not scope.is_closed(each.whole.start)]
    rows, arguments = items_of_rows(brackets), scope.strings.arguments
    for bracket in brackets:
        edits = [] if bracket.whole.start in scope.fixed else list(rearranged(bracket))
        known = rows.get(bracket.whole.start, ()) if bracket.display else arguments.get(bracket.before, ())
        edits += crossed(bracket, _some(known, PER_PLACE, choice))
        groups.append([[edit] for edit in edits])
    literals = [choice.choice(group) for group in groups if group]
    groups += _whole_statements(text, scope, literals, choice)
    return [group[:1] + choice.sample(group[1:], min(PER_PLACE, len(group) - 1)) for group in groups if group]


def _whole_statements(text: str, scope: Scope, literals: "list[list[TokenEdit]]", choice: random.Random) -> "Groups":
    """Return edits that leave out a statement, or that make before it an earlier one again."""
    function, lines = parse_function(text), lines_of(text)
    firsts = list(map(first_line, function.body))
    earlier, found = [], []  # type: list[str], Groups
    for node, first, end in zip(function.body, firsts, [*firsts[1:], text.count("\n") + 1]):  # noqa: B905
        place, old = (first, 0), "".join(lines[first - 1 : end - 1])
        indent = old[: len(old) - len(old.lstrip())]
        found.append([[TokenEdit(place, place, "", new)] for new in _some(earlier, EARLIER, choice)])
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


def _some(news: "Sequence[Any]", count: int, choice: random.Random) -> "list[Any]":
    return choice.sample(news, min(count, len(news)))


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
    if each.string in _OTHER_SIGN and ends_operand(before):
        return [_OTHER_SIGN[each.string]]
    return []


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
