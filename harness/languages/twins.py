"""Counter-tests as text: the assertions of a test, and the same test with another expected value. Pure.

A pass counts only if it could have failed, so each edit makes an assertion false for whatever satisfies the original.
Only what is compared is edited, never what is given to the product: another input may have the old answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from assay.harness.domain import CounterForm, Edit
from assay.harness.languages.base import Asserting
from assay.harness.languages.syntax import list_definitions, parse

if TYPE_CHECKING:
    from tree_sitter import Node

    from assay.harness.languages.syntax import Parsed

DOCUMENTED = 5  # lines of a test in which its title as a documentation string stands
MOST = 4  # forms of one assertion that are tried at most
_NUMBER = re.compile(r"(?P<head>0[xXoObB]|)(?P<digits>[\d_]+)(?P<rest>.*)", re.DOTALL)
_SWITCHES = {"true": "false", "false": "true", "True": "False", "False": "True"}
_NAMES = re.compile(r".*(identifier|name|constant|variable|attribute)$|self|this|super|call|.*_call.*|.*invocation")


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test of a file: the last part of its name, and its first and last line, from 1."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to make an assertion false."""

    form: CounterForm
    edits: tuple[Edit, ...]


class AssertedFile:
    """A test file whose assertions are known."""

    def __init__(self, text: str, parsed: "Parsed", asserting: Asserting, test_name: str) -> None:
        self.text, self._asserting = text, asserting
        self._content = text.encode(errors="replace")
        self._nodes = list(_find_assertions(parsed.root, asserting))
        self._root = parsed.root
        self.tests = _list_functions(parsed)
        self._helpers = {each.name: each for each in self.tests}
        if asserting.titled:
            self.tests = _list_titled(text, test_name) or self.tests

    @classmethod
    def read(cls, language: str, path: str, text: str) -> Self | None:
        """Return a test file; None if it is in no language whose assertions are known, or cannot be read."""
        parsed = parse(language, path, text)
        asserting = parsed.language.SYNTAX.asserting if parsed else None
        return cls(text, parsed, asserting, parsed.language.TEST_NAME) if parsed and asserting else None

    def find_tests(self, label: str) -> list[NamedTest]:
        """Return the tests that a label may name: those with the longest name in it, or that it is a title of."""
        named = [test for test in self.tests if re.search(rf"(?<!\w){re.escape(test.name)}(?!\w)", label)]
        if not named:
            lines = self.text.split("\n")
            heads = ((test, lines[test.first - 1 : test.first + DOCUMENTED]) for test in self.tests)
            named = [test for test, head in heads if any(label in line for line in head)]
        longest = max((len(test.name) for test in named), default=0)
        return [test for test in named if len(test.name) == longest]

    def list_variants(self, test: NamedTest, lines: Sequence[int] = ()) -> list[list[Variant]]:
        """List the ways to make assertions of a test false, strongest first: one list for each flipping assertion.

        Args:
            lines: where the test fails without the fix, from 1; without any, its first assertion counts as flipping.
        """
        chosen = dict[Sequence[Edit], list[Variant]]()
        steps = sorted(self._list_steps(test), key=lambda step: step.node.start_byte)
        for line in sorted(line for line in lines if test.first <= line <= test.last) or [test.first]:
            behind = [step for step in steps if _last_line(step.node) >= line]
            behind.sort(key=lambda step: _first_line(step.node) > line)
            listed = (self._vary_step(step, test, lines) for step in behind)
            for variants in next(filter(None, listed), []):
                chosen[variants[0].edits] = variants
        return [*chosen.values()]

    def _list_steps(self, test: NamedTest) -> Iterator["_Assertion"]:
        """Yield the assertions of a test, and its calls of helpers that have some, in the same file."""
        helpers = {name: helper for name, helper in self._helpers.items() if helper != test}
        calls = list[int]()
        for node in (node for node in _walk(self._root) if _is_inside(node, test)):
            head, _ = _read_head(node, self._asserting)
            name = re.search(r"(\w+)$", head)
            if name and name[1] in helpers:
                calls.append(node.start_byte)
                yield _Assertion(node, helper=helpers[name[1]])
        yield from (each for each in self._nodes if _is_inside(each.node, test) and each.node.start_byte not in calls)

    def _vary_step(self, step: "_Assertion", test: NamedTest, lines: Sequence[int]) -> list[list[Variant]]:
        if step.helper is None:
            variants = [*self._vary(step, test)][:MOST]
            return [variants] if variants else []
        own = [each for each in self._nodes if _is_inside(each.node, step.helper)]
        named = [each for each in own if any(_first_line(each.node) <= line <= _last_line(each.node) for line in lines)]
        found = ([*self._vary(each, step.helper)][:MOST] for each in (*named, *own))
        return [variants for variants in found if variants][:1]

    def edit(self, edits: Iterable[Edit]) -> str:
        return apply_edits(self._content, edits)

    def _vary(self, assertion: "_Assertion", test: NamedTest) -> Iterator[Variant]:
        found = self._asserting
        for operand in (each for each in assertion.operands if _is_constant(each, found)):
            yield from (Variant(CounterForm.NEAR, (edit,)) for edit in _change_literals(operand, found))
        expected = _choose_expected(assertion, found)
        if expected:
            yield from self._follow(expected, test)
        sought = [each for each in assertion.searched if _is_constant(each, found)] or assertion.searched[:1]
        for operand in (*([expected] if expected else ()), *sought):
            if found.nonce and not assertion.typed and not (assertion.raised and not _is_constant(operand, found)):
                yield Variant(CounterForm.NONCE, (_replace(operand, found.nonce),))
        if assertion.kind and found.exception:
            yield Variant(CounterForm.NONCE, (_replace(assertion.kind, found.exception),))
        if assertion.raised and found.exception:
            yield Variant(CounterForm.RAISES, (_replace(assertion.raised, found.exception),))
        yield from self._negate(assertion)

    def _follow(self, operand: "Operand", test: NamedTest) -> Iterator[Variant]:
        """Follow a name to the literals that it is given in the test."""
        name = re.search(r"(\w+)$", _spell(operand))
        if not name or len(operand) != 1 or not _NAMED.fullmatch(_spell(operand)):
            return
        edits = list[Edit]()
        for node in (node for node in _walk(self._root) if _is_inside(node, test)):
            value = _find_given(node, name[1])
            if value is not None and _is_constant([value], self._asserting):
                edits += list(_change_literals([value], self._asserting))[:1]
        if edits:
            yield Variant(CounterForm.NEAR, tuple(edits))

    def _negate(self, assertion: "_Assertion") -> Iterator[Variant]:
        """Yield the opposite; that of a mere condition is what the base gives, if it holds there."""
        compares = assertion.operands or assertion.searched or assertion.raised or assertion.kind
        form = CounterForm.NEGATED if compares else CounterForm.BASE_VALUE
        source = _text(assertion.node)
        for pattern, other in self._asserting.opposites:
            if re.search(pattern, source):
                new = re.sub(pattern, other, source, count=1, flags=re.DOTALL)
                yield Variant(form, ((assertion.node.start_byte, assertion.node.end_byte, new),))
                return


_VALUES = re.compile(r"list|tuple|dictionary|set|array|object|hash|composite_literal|array_creation_expression")
_USING = re.compile(
    r"call|.*_call.*|.*invocation|subscript.*|.*index.*|element_reference|lambda.*|.*comprehension|binary.*"
)


_NAMED = re.compile(r"[\w.$@:>-]+")
_PARTS = re.compile(r"parenthesized_expression|boolean_operator|binary_expression|attribute")
_EITHER = frozenset({"or", "||", "not", "!"})
_BRACKETS = frozenset("([{")


Operand = Sequence["Node"]


@dataclass(frozen=True, slots=True)
class _Assertion:
    node: "Node"
    operands: Sequence[Operand] = ()
    """What is compared for equality."""
    searched: Sequence[Operand] = ()
    """What is searched for in something else."""
    raised: Operand = ()
    """The type of an expected exception."""
    kind: Operand = ()
    """The type that a value must have."""
    helper: NamedTest | None = None
    """The function in the same file that a call of it stands for."""
    typed: bool = False
    """Whether both operands must have one type."""


def apply_edits(content: bytes, edits: Iterable[Edit]) -> str:
    """Return a text with edits; of two that overlap, the first one is made."""
    out, at = list[bytes](), 0
    for first, last, new in sorted(set(edits)):
        if first >= at:
            out += [content[at:first], new.encode()]
            at = last
    return (b"".join(out) + content[at:]).decode(errors="replace")


def _find_assertions(node: "Node", asserting: Asserting) -> Iterator[_Assertion]:
    """Yield the outermost assertions."""
    found = _read_call(node, asserting) or _read_statement(node, asserting)
    if found:
        yield found
    if not found or node.type in asserting.blocks:
        for child in node.named_children:
            yield from _find_assertions(child, asserting)


def _read_call(node: "Node", asserting: Asserting) -> _Assertion | None:
    head, operands = _read_head(node, asserting)
    if not head:
        return None
    inner = asserting.matcher and re.search(asserting.matcher, head) and len(operands) == 1
    if inner:
        method, operands = _read_head(operands[0][0], asserting)
        head = f"{head} {method}"
    given = [*operands, (), ()]
    known = {
        asserting.raising: _Assertion(node, raised=given[0], searched=operands[1:]),
        asserting.instance: _Assertion(node, kind=given[1]),
        asserting.searching: _Assertion(node, searched=operands),
    }
    for pattern, found in known.items():
        if re.search(pattern, head):
            return found
    if re.search(asserting.equal, head):
        compares = len(operands) > 1 or inner or "(" in head
        alone = operands if compares else [each for each in operands if _is_constant(each, asserting)]
        return _Assertion(node, operands=alone)
    if re.search(asserting.truth, head):
        return _compare(node, operands[0] if operands else (), asserting) or _Assertion(node)
    return None


def _read_head(node: "Node", asserting: Asserting) -> tuple[str, Sequence[Operand]]:
    """Return the source of a call up to its arguments, and these; nothing for another node."""
    found = node.child_by_field_name("arguments") or next(
        (each for each in reversed(node.named_children) if each.type in asserting.arguments), None
    )
    if found is None or found.type not in asserting.arguments or node.type in asserting.arguments:
        return "", ()
    head = (node.text or b"")[: found.start_byte - node.start_byte].decode(errors="replace")
    return " ".join(head.split()).strip(" ("), _split(found)


def _read_statement(node: "Node", asserting: Asserting) -> _Assertion | None:
    if node.type not in asserting.statements:
        return None
    condition = node.child_by_field_name("condition") or next(iter(node.named_children), None)
    if condition is None or not re.search(asserting.failing, _text(node)):
        return None
    shown = condition if asserting.failing else node
    calls = (_read_head(each, asserting) for each in _walk(condition))
    found = next((operands for head, operands in calls if head and re.search(asserting.equal, head)), ())
    if asserting.failing and len(found) > 1:
        return _Assertion(shown, operands=found)
    return _read_condition(shown, condition, asserting) or _Assertion(shown)


def _read_condition(shown: "Node", condition: "Node", asserting: Asserting) -> _Assertion | None:
    """Return what a condition compares, in any part of it that must hold."""
    found = _compare(shown, [condition], asserting)
    head, operands = _read_head(condition, asserting)
    if found is None and re.search(asserting.instance, head) and len(operands) > 1:
        found = _Assertion(shown, kind=operands[1])
    must_hold = _PARTS.fullmatch(condition.type) and not any(child.type in _EITHER for child in condition.children)
    if found is None and (must_hold or head.endswith(".all")):
        inner = (_read_condition(shown, child, asserting) for child in condition.named_children)
        found = next((each for each in inner if each), None)
    return found


def _compare(node: "Node", condition: Operand, asserting: Asserting) -> _Assertion | None:
    """Return an assertion that compares two operands, if its condition does."""
    nodes = list(condition)
    if len(nodes) == 1 and nodes[0].type in asserting.comparisons:
        nodes = list(nodes[0].children)
    for place, each in enumerate(nodes):
        if each.type in asserting.operators and place and place < len(nodes) - 1:
            sides = [nodes[:place], nodes[place + 1 :]]
            if each.type == "in":
                return _Assertion(node, searched=sides[:1])
            return _Assertion(node, operands=sides, typed=asserting.typed)
    return None


def _split(arguments: "Node") -> Sequence[Operand]:
    """Return the arguments of a call, or what commas part in a tree of tokens; the values of named ones come last."""
    parts: list[list[Node]] = [[]]
    inside = [*arguments.children]
    if inside and inside[0].type in _BRACKETS:
        inside = inside[1:-1]
    for child in inside:
        if child.type == ",":
            parts.append([])
        elif "comment" not in child.type:
            parts[-1].append(child)
    named = [part[0].child_by_field_name("value") for part in parts if part and part[0].type == "keyword_argument"]
    others = [part for part in parts if part and part[0].type != "keyword_argument"]
    return [*others, *([node] for node in named if node)]


def _choose_expected(assertion: _Assertion, asserting: Asserting) -> Operand:
    """Return the operand that the product has no part in; nothing where both operands must have one type."""
    if assertion.typed:
        return next((each for each in assertion.operands if _NAMED.fullmatch(_spell(each))), ())
    operands = assertion.operands
    order = operands if asserting.expected_first else [*reversed(operands)]
    unused = [each for each in order if not any(_USING.fullmatch(node.type) for part in each for node in _walk(part))]
    constant = [each for each in order if _is_constant(each, asserting)]
    return next(iter((*constant, *unused, *order)), ())


def _is_constant(operand: Operand, asserting: Asserting) -> bool:
    """Return whether nothing in an operand is given to the product: literals, and names in a list of values."""
    nodes = [node for each in operand for node in _walk(each)]
    if not any(node.type in asserting.literals for node in nodes):
        return False
    if _VALUES.fullmatch(operand[0].type) and not any(_USING.fullmatch(node.type) for node in nodes):
        return True
    names = [_text(node) for node in nodes if _NAMES.fullmatch(node.type) and not node.named_child_count]
    return all(re.fullmatch(asserting.constants, name) for name in names)


def _change_literals(operand: Operand, asserting: Asserting) -> Iterator[Edit]:
    """Yield edits of the last literal of an operand and of its first one."""
    literals = [node for each in operand for node in _walk(each) if node.type in asserting.literals]
    literals = [
        node for node in literals if not any(inner.type in asserting.literals for inner in _walk(node) if inner != node)
    ]
    for node in dict.fromkeys((*literals[-1:], *literals[:1])):
        new = change_literal(_text(node))
        if new:
            yield node.start_byte, node.end_byte, new


def change_literal(source: str) -> str:
    """Return a literal of the same type and shape with another value; empty if there is none."""
    if source in _SWITCHES:
        return _SWITCHES[source]
    if found := _NUMBER.fullmatch(source):
        digits = found["digits"]
        last = digits.rstrip("_")[-1]
        other = "1" if last == "0" else "0" if digits == "1" else str((int(last) + 1) % 10)
        return f"{found['head']}{digits[: len(digits.rstrip('_')) - 1]}{other}{found['rest']}"
    quoted = re.match(r"""[A-Za-z@$]*#*(\"\"\"|'''|["'`])""", source)
    if not quoted:
        return ""
    inner = source[quoted.end() :]
    letter = re.search(r"[A-Za-z]", inner) if "\\" not in inner and "{" not in inner else None
    if letter and len(quoted[1]) < len(inner):
        other = chr(ord(letter[0]) + (-1 if letter[0] in "zZ" else 1))
        return source[: quoted.end()] + inner[: letter.start()] + other + inner[letter.end() :]
    return f"{source[: quoted.end()]}q{inner}"


def _find_given(node: "Node", name: str) -> "Node | None":
    """Return what a node gives to a name, if it does."""
    key = next(
        (child for field in ("left", "name", "key", "pattern") if (child := node.child_by_field_name(field))), None
    )
    value = next((child for field in ("right", "value") if (child := node.child_by_field_name(field))), None)
    if key is None or value is None or _text(key).strip("'\":") != name:
        return None
    return value


def _list_functions(parsed: "Parsed") -> list[NamedTest]:
    found = (each for each in list_definitions(parsed) if each.kind == "function")
    return [NamedTest(each.name.rpartition(".")[2].strip("`"), each.first, each.last) for each in found]


def _list_titled(text: str, test_name: str) -> list[NamedTest]:
    """List the tests that are calls with a title; each ends where the next one begins."""
    found = [*re.finditer(test_name, text, re.MULTILINE)]
    if not found:
        return []
    starts = [text.count("\n", 0, match.start()) + 1 for match in found]
    names = ([group for group in match.groups() if group] for match in found)
    ends = [*(start - 1 for start in starts[1:]), text.count("\n") + 1]
    return [
        NamedTest(each[-1], first, max(first, last))
        for each, first, last in zip(names, starts, ends, strict=True)
        if each
    ]


def _walk(node: "Node") -> Iterator["Node"]:
    yield node
    for child in node.named_children:
        yield from _walk(child)


def _replace(operand: Operand, new: str) -> Edit:
    return operand[0].start_byte, operand[-1].end_byte, new


def _spell(operand: Operand) -> str:
    return "".join(map(_text, operand))


def _text(node: "Node | None") -> str:
    return (node.text or b"").decode(errors="replace") if node else ""


def _is_inside(node: "Node", test: NamedTest) -> bool:
    return test.first <= _first_line(node) and _last_line(node) <= test.last


def _first_line(node: "Node") -> int:
    return node.start_point.row + 1


def _last_line(node: "Node") -> int:
    return node.end_point.row + 1
