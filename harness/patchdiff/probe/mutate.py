"""Changed copies of a test function, as edits of its text: literals, names, arguments, elements, signs.

Works on tokens, which are the same from Python 3.6 to 3.14, so a change has a line, a column, an old and a new text.
The choice depends on the text and the seed alone, hence is the same on every side of a comparison.
"""

import ast
import bisect
import io
import itertools
import random
import re
import tokenize
from collections.abc import Collection, Mapping, Sequence
from typing import Any, List, NamedTuple  # noqa: UP035

from . import values
from .brackets import Place, TokenEdit, cross, ends_operand, find_brackets, find_row_items, rearrange, split_lines

Groups = List[List[List[TokenEdit]]]  # noqa: UP006 - of places: alternatives, each a list of edits
PER_PLACE = 24  # alternatives kept at one place, and the first: the empty string, the next number
FIRST = 0.2  # share of changes that are a place's first
WHOLE, STATEMENTS = -9, 0.4  # the region of whole statements put in or left out, and its weight beside all others
ALIKE, EARLIER = 8, 6  # strings of its test in place of one, earlier statements before one
ASSERTION, ACTION, LEADING = "assertion", "action", "leading"
SHARE = {ASSERTION: 0.6, ACTION: 0.25, LEADING: 0.0}  # part of the statements of a role that one copy changes
LEADING_ALONE, TWICE = 0.65, 0.25  # share of copies with a change in what leads up alone, and of two such changes
USUAL = ("None", "0", "1", "''", "'a'", "False", "True", "[]")  # values that anything may be set to
SUBCLASS = 'type("Sub", ({},), {{}})'
OTHERS = ("None", "object()")  # in place of any number or text: nothing, and what equals itself alone
_OTHER_SIGN = {"+": "-", "-": "+", "*": "+", "/": "*"}
_WORDS = {"True": "False", "False": "True", "None": "0"}
_SKIPPED = frozenset(
    (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT, tokenize.NL)
)


class Argument(NamedTuple):
    name: str  # or place
    text: str
    local: "frozenset[str]"  # the names that it needs of its function


class Borrowed(NamedTuple):
    """A statement of a test that another test may take over."""

    text: str
    local: "frozenset[str]"  # the names that it needs of its test
    others: "frozenset[str]"  # and of the module

    def texts(self, bound: "set[str]") -> "list[str]":
        """Return its text; if one of its names is not bound here, a text for each possible replacement of this name."""
        missing = sorted(self.local - bound)
        if len(missing) != 1:
            return [] if missing else [self.text]
        name = r"(?<![\w.])" + missing[0] + r"\b(?! *=[^=])"
        return [re.sub(name, new, self.text) for new in (*sorted(bound), *USUAL)]


class Material(NamedTuple):
    """The material that may be put into a function from outside."""

    around: "Sequence[str]"  # strings in its module: for pieces
    words: "Sequence[str]"  # strings that the change itself is about: whole, and for pieces
    arguments: "Mapping[str, Sequence[Argument]]"  # of calls in its module, by function
    classes: "Collection[str]" = ()  # that the change is about
    statements: "Sequence[Borrowed]" = ()  # of other tests
    variables: "frozenset[str]" = frozenset()  # of the module
    asked: Any = None  # by the changed code: for `operators`
    operators: "Sequence[str]" = ()  # that make the copies, in place of `make_copies`


NOTHING = Material((), (), {})


class Scope(NamedTuple):
    """The changeable parts: nothing between `closed` places, no brackets at `fixed` ones."""

    closed: "list[tuple[Place, Place]]"  # from the first to the last of the places between which nothing may change
    fixed: "frozenset[Place]"  # of brackets whose elements stay as they are
    statements: "list[tuple[int, str]]"  # first line and role of each statement, in order of lines
    material: Material

    def is_closed(self, place: Place) -> bool:
        return any(first <= place <= last for first, last in self.closed)


def is_repetition(edit: TokenEdit) -> bool:
    """Return whether an edit repeats a statement, and so changes everything after it."""
    return not edit.old and edit.new.endswith("\n")


def make_copies(text: str, scope: Scope, seed: str, count: int) -> "list[tuple[str, list[TokenEdit], Any]]":
    """Return up to `count` different changed copies of a function, by `seed`: text, changes and parsed function.

    A copy has one change in many of its assertions, since these do not touch one another; or one, now and then two, in
    the statements before them, since those change everything after them and the assertions show the effect.
    """
    choice = random.Random(seed)
    regions: dict[int, Groups] = {}
    for group in _find_changes(text, scope, choice):
        line, column = group[0][0].start  # whole statements alone begin at a line's first column
        regions.setdefault(_region(scope, line) if column else WHOLE, []).append(group)
    found, seen = [], {text}  # type: list[tuple[str, list[TokenEdit], Any]], set[str]
    for _ in range(count * 8 if regions else 0):
        if len(found) == count:
            break
        edits = _choose_edits(regions, scope, choice)
        changed = apply(text, edits) if edits else ""
        function = parse_copy(changed, edits) if changed and changed not in seen else None
        seen.add(changed)
        if function is not None:
            found.append((changed, edits, function))
    return found


def _region(scope: Scope, line: int) -> int:
    return bisect.bisect_left(scope.statements, (line + 1, "")) - 1


def find_role(scope: Scope, line: int) -> "tuple[int, str]":
    return scope.statements[max(0, _region(scope, line))]


def _choose_edits(regions: "dict[int, Groups]", scope: Scope, choice: random.Random) -> "list[TokenEdit]":
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
    """Apply edits to a text; "" if two of them overlap or begin at the same place."""
    starts = [0, *itertools.accumulate(map(len, split_lines(text)))]
    spans = sorted((starts[e.start[0] - 1] + e.start[1], starts[e.end[0] - 1] + e.end[1], e.new) for e in edits)
    out, at = [], 0
    for first, last, new in spans:
        if first < at or [each[0] for each in spans].count(first) > 1:
            return ""
        out += [text[at:first], new]
        at = last
    return "".join(out) + text[at:]


def parse_function(text: str) -> Any:
    """Parse a function as it stands in its class, lines as in the text."""
    if text[:1] not in (" ", "\t"):
        return ast.parse(text).body[0]
    around: Any = ast.increment_lineno(ast.parse("if 1:\n" + text), -1).body[0]
    return around.body[0]


def parse_copy(text: str, edits: "list[TokenEdit]") -> Any:
    """Parse a changed function; None for one that the compiler refuses, as that would cost the whole module."""
    try:
        if any(is_repetition(each) or each.old.isidentifier() for each in edits):
            compile("if 1:\n" * text[:1].isspace() + text, "copy", "exec")
        return parse_function(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _find_changes(text: str, scope: Scope, choice: random.Random) -> "Groups":
    """Return the possible changes, by place: each place has alternatives, each alternative is a list of edits."""
    tokens, function = find_tokens(text), parse_function(text)
    brackets = [each for each in find_brackets(text, tokens) if not scope.is_closed(each.whole.start)]
    rows, bound = find_row_items(brackets), find_bound(function)
    groups = _token_groups(tokens, function, scope, choice)
    for bracket in brackets:
        edits = [] if bracket.whole.start in scope.fixed else list(rearrange(bracket))
        arguments = [] if bracket.display else scope.material.arguments.get(bracket.before, [])
        known = [each[:2] for each in arguments if each.local <= bound]
        edits += cross(bracket, _some(known or rows.get(bracket.whole.start, []), PER_PLACE, choice))
        groups.append([[edit] for edit in edits])
    literals = [choice.choice(group) for group in groups if group]
    groups += _whole_statements(function, text, scope, literals, choice)
    return [group[:1] + choice.sample(group[1:], min(PER_PLACE, len(group) - 1)) for group in groups if group]


def _token_groups(tokens: "list[tokenize.TokenInfo]", function: Any, scope: Scope, choice: random.Random) -> "Groups":
    """Return the edits of single tokens: other literals, signs, variables, subclasses."""
    strings = sorted({each.string for each in tokens if each.type == tokenize.STRING})
    variables = sorted(scope.material.variables | find_bound(function) - {"self"})
    used, groups = find_used(function), []  # type: set[tuple[int, str]], Groups
    for index, each in enumerate(tokens):
        if scope.is_closed(each.start):
            continue
        before, here = tokens[index - 1].string if index else "", each[2:4]
        is_read = before != "." and (here[0][0], each.string) in used
        kin = strings if each.string in strings else variables if is_read and each.string in variables else []
        alike = [other for other in kin if other != each.string]
        several = _alternatives(each, before, scope, choice), _some(alike, ALIKE, choice)
        groups += [[[TokenEdit(*here, each.string, new)] for new in some] for some in several]
        if each.string in scope.material.classes:
            dotted = re.findall(r"[\w.]*$", each.line[: each.end[1]])[0]
            start = each.start[0], each.end[1] - len(dotted)
            groups.append([[TokenEdit(start, each.end, dotted, SUBCLASS.format(dotted))]])
    return groups


def _whole_statements(
    function: Any, text: str, scope: Scope, literals: "list[list[TokenEdit]]", choice: random.Random
) -> "Groups":
    """Return edits that leave out a statement, or insert before it an earlier one or one of another test."""
    lines, firsts = split_lines(text), list(map(first_line, function.body))
    used = {name for _, name in find_used(function)}
    kin = [each for each in scope.material.statements if used & each.others]
    earlier, found, bound = [], [], find_bound(function.args)  # type: list[str], Groups, set[str]
    for node, first, end in zip(function.body, firsts, [*firsts[1:], text.count("\n") + 1]):  # noqa: B905
        place, old = (first, 0), "".join(lines[first - 1 : end - 1])
        indent = old[: len(old) - len(old.lstrip())]
        taken = [indent + new for each in _some(kin, PER_PLACE, choice) for new in _some(each.texts(bound), 1, choice)]
        several = _some(earlier, EARLIER, choice), taken
        found += [[[TokenEdit(place, place, "", new)] for new in some] for some in several]
        acts = find_role(scope, node.lineno) == (node.lineno, ACTION) and not scope.is_closed(
            (node.lineno, len(indent))
        )
        if acts:
            found.append([[TokenEdit(place, (end, 0), old, "")]])
        if (acts or isinstance(node, ast.Assign)) and old.endswith("\n"):
            inside = [edits for edits in literals if first <= edits[0].start[0] < end]
            longer = (split_lines(apply(text, edits)) for edits in inside)
            earlier += [old, *("".join(each[first - 1 : end - 1 + len(each) - len(lines)]) for each in longer)]
        bound |= find_bound(node)
    return found


def find_bound(node: ast.AST) -> "set[str]":
    names: Any = (each for each in ast.walk(node) if isinstance(getattr(each, "ctx", each), (ast.Store, ast.arg)))
    return {getattr(each, "arg", getattr(each, "id", "")) for each in names} - {""}


def find_used(node: ast.AST) -> "set[tuple[int, str]]":
    """Return the names that a part of a program uses, with their lines."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return {(each.lineno, each.id) for each in names if isinstance(each.ctx, ast.Load)}


def first_line(node: Any) -> int:
    """Return a statement's first line, its decorators included."""
    return int(min([node.lineno] + [each.lineno for each in getattr(node, "decorator_list", [])]))


def _some(news: "Sequence[Any]", count: int, choice: random.Random) -> "list[Any]":
    return choice.sample(news, min(count, len(news)))


def find_tokens(text: str) -> "list[tokenize.TokenInfo]":
    """Return the meaningful tokens, without the inside of formatted strings."""
    found, formatted = [], 0
    try:
        for each in tokenize.generate_tokens(io.StringIO(text).readline):
            name = tokenize.tok_name.get(each.type, "")
            formatted += name.endswith("STRING_START")
            if each.type not in _SKIPPED and not formatted:
                found.append(each)
            formatted -= name.endswith("STRING_END")
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []
    return found


def _alternatives(each: tokenize.TokenInfo, before: str, scope: Scope, choice: random.Random) -> "list[str]":
    if each.type == tokenize.NUMBER:
        return _numbers(each.string, scope.material.words)
    if each.type == tokenize.STRING:
        return _strings(each.string, scope.material, choice)
    if each.type == tokenize.NAME:
        return [_WORDS[each.string]] if each.string in _WORDS else []
    if each.string in _OTHER_SIGN and ends_operand(before):
        return [_OTHER_SIGN[each.string]]
    return []


def _numbers(text: str, words: "Sequence[str]") -> "list[str]":
    value = values.read_literal(text)
    if not isinstance(value, (int, float)):
        return []
    news = [*values.numbers(value), *values.borders(value, words)]
    return [*("(" + repr(new) + ")" if new < 0 else repr(new) for new in news), *OTHERS]


def _strings(text: str, material: Material, choice: random.Random) -> "list[str]":
    value = values.read_literal(text)
    if not isinstance(value, (str, bytes)):
        return []
    news = [repr(new) for new in [*values.texts(value, choice), *values.encode_variants(value)[-1:]]]
    return [*news, *OTHERS, *(repr(new) for new in values.splice(value, material.around, material.words, choice))]
