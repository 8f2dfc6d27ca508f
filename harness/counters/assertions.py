"""The tests of a file, and their assertions, by the patterns of each language (``languages.base.Asserting``). Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.harness.languages.base import Asserting
from assay.harness.languages.syntax import list_definitions

if TYPE_CHECKING:
    from tree_sitter import Node

    from assay.harness.languages.syntax import Parsed

_NAMES = re.compile(r".*(identifier|name|constant|variable|attribute)$|self|this|super|call|.*_call.*|.*invocation")
_VALUES = re.compile(r"list|tuple|dictionary|set|array|object|hash|composite_literal|array_creation_expression")
_USING = re.compile(
    r"call|.*_call.*|.*invocation|subscript.*|.*index.*|element_reference|lambda.*|.*comprehension|binary.*"
)


NAMED = re.compile(r"[\w.$@:>-]+")
_PARTS = re.compile(r"parenthesized_expression|boolean_operator|binary_expression|attribute")
_EITHER = frozenset({"or", "||", "not", "!"})
_BRACKETS = frozenset("([{")


Operand = Sequence["Node"]


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test of a file: the last part of its name, and its first and last line, from 1."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Assertion:
    """An assertion, or a call of a helper that has some."""

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
    statement: "Node | None" = None
    """The whole of it, where its condition is only a part."""

    @property
    def last_line(self) -> int:
        return last_line(self.statement or self.node)


def find_assertions(node: "Node", asserting: Asserting) -> Iterator[Assertion]:
    """Yield the outermost assertions."""
    found = _read_call(node, asserting) or _read_statement(node, asserting)
    if found:
        yield found
    if not found or node.type in asserting.blocks:
        for child in node.named_children:
            yield from find_assertions(child, asserting)


def _read_call(node: "Node", asserting: Asserting) -> Assertion | None:
    head, operands = read_head(node, asserting)
    if not head:
        return None
    inner = asserting.matcher and re.search(asserting.matcher, head) and len(operands) == 1
    if inner:
        method, operands = read_head(operands[0][0], asserting)
        head = f"{head} {method}"
    given = [*operands, (), ()]
    known = {
        asserting.raising: Assertion(node, raised=given[0], searched=operands[1:]),
        asserting.instance: Assertion(node, kind=given[1]),
        asserting.searching: Assertion(node, searched=operands),
    }
    for pattern, found in known.items():
        if re.search(pattern, head):
            return found
    if re.search(asserting.equal, head):
        compares = len(operands) > 1 or inner or "(" in head
        alone = operands if compares else [each for each in operands if is_constant(each, asserting)]
        return Assertion(node, operands=alone)
    if re.search(asserting.truth, head):
        return _compare(node, operands[0] if operands else (), asserting) or Assertion(node)
    return None


def read_head(node: "Node", asserting: Asserting) -> tuple[str, Sequence[Operand]]:
    """Return the source of a call up to its arguments, and these; nothing for another node."""
    found = node.child_by_field_name("arguments") or next(
        (each for each in reversed(node.named_children) if each.type in asserting.arguments), None
    )
    if found is None or found.type not in asserting.arguments or node.type in asserting.arguments:
        return "", ()
    head = (node.text or b"")[: found.start_byte - node.start_byte].decode(errors="replace")
    return " ".join(head.split()).strip(" ("), _split(found)


def _read_statement(node: "Node", asserting: Asserting) -> Assertion | None:
    if node.type not in asserting.statements:
        return None
    condition = node.child_by_field_name("condition") or next(iter(node.named_children), None)
    if condition is None or not re.search(asserting.failing, spell(node)):
        return None
    shown = condition if asserting.failing else node
    calls = (read_head(each, asserting) for each in walk(condition))
    found = next((operands for head, operands in calls if head and re.search(asserting.equal, head)), ())
    if asserting.failing and len(found) > 1:
        return Assertion(shown, operands=found, statement=node)
    return replace(_read_condition(shown, condition, asserting) or Assertion(shown), statement=node)


def _read_condition(shown: "Node", condition: "Node", asserting: Asserting) -> Assertion | None:
    """Return the comparison in a condition, in any part of it that must hold."""
    found = _compare(shown, [condition], asserting)
    head, operands = read_head(condition, asserting)
    if found is None and re.search(asserting.instance, head) and len(operands) > 1:
        found = Assertion(shown, kind=operands[1])
    must_hold = _PARTS.fullmatch(condition.type) and not any(child.type in _EITHER for child in condition.children)
    if found is None and (must_hold or head.endswith(".all")):
        inner = (_read_condition(shown, child, asserting) for child in condition.named_children)
        found = next((each for each in inner if each), None)
    return found


def _compare(node: "Node", condition: Operand, asserting: Asserting) -> Assertion | None:
    """Return an assertion that compares two operands, if its condition does."""
    nodes = list(condition)
    if len(nodes) == 1 and nodes[0].type in asserting.comparisons:
        nodes = list(nodes[0].children)
    for place, each in enumerate(nodes):
        if each.type in asserting.operators and place and place < len(nodes) - 1:
            sides = [nodes[:place], nodes[place + 1 :]]
            if each.type == "in":
                return Assertion(node, searched=sides[:1])
            return Assertion(node, operands=sides, typed=asserting.typed)
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


def choose_expected(assertion: Assertion, asserting: Asserting) -> Operand:
    """Return the operand that the product has no part in; nothing where both operands must have one type."""
    if assertion.typed:
        return next((each for each in assertion.operands if NAMED.fullmatch(spell_operand(each))), ())
    operands = assertion.operands
    order = operands if asserting.expected_first else [*reversed(operands)]
    unused = [each for each in order if not uses_product(each)]
    constant = [each for each in order if is_constant(each, asserting)]
    return next(iter((*constant, *unused, *order)), ())


def uses_product(operand: Operand) -> bool:
    """Return whether anything in an operand may be worked out by the product."""
    return any(_USING.fullmatch(node.type) for part in operand for node in walk(part))


def is_constant(operand: Operand, asserting: Asserting) -> bool:
    """Return whether nothing in an operand is given to the product: literals, and names in a list of values."""
    nodes = [node for each in operand for node in walk(each)]
    if not any(node.type in asserting.literals for node in nodes):
        return False
    if _VALUES.fullmatch(operand[0].type) and not uses_product(operand):
        return True
    names = [spell(node) for node in nodes if _NAMES.fullmatch(node.type) and not node.named_child_count]
    return all(re.fullmatch(asserting.constants, name) for name in names)


def list_functions(parsed: "Parsed") -> list[NamedTest]:
    found = (each for each in list_definitions(parsed) if each.kind == "function")
    return [NamedTest(each.name.rpartition(".")[2].strip("`"), each.first, each.last) for each in found]


def list_chosen(root: "Node") -> list[NamedTest]:
    """List the tests of a program that is given the name of one: statements with that name in their condition."""
    found = list[NamedTest]()
    for node in (node for node in walk(root) if node.type == "if_statement"):
        condition = node.child_by_field_name("condition")
        texts = (
            [spell(each).strip('"') for each in walk(condition) if each.type == "string_literal"] if condition else []
        )
        found += [NamedTest(text, first_line(node), last_line(node)) for text in texts if text]
    return found


def list_titled(text: str, test_name: str) -> list[NamedTest]:
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


def walk(node: "Node") -> Iterator["Node"]:
    yield node
    for child in node.named_children:
        yield from walk(child)


def spell_operand(operand: Operand) -> str:
    return "".join(map(spell, operand))


def spell(node: "Node | None") -> str:
    return (node.text or b"").decode(errors="replace") if node else ""


def is_inside(node: "Node", test: NamedTest) -> bool:
    return test.first <= first_line(node) and last_line(node) <= test.last


def first_line(node: "Node") -> int:
    return node.start_point.row + 1


def last_line(node: "Node") -> int:
    return node.end_point.row + 1
