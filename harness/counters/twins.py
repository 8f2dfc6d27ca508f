"""Counter-tests as text: the assertions of a test, and the same test with another expected value. Pure.

A pass counts only if it could have failed, so each edit makes an assertion false for whatever satisfies the original.
Only what is compared is edited, never what is given to the product: another input may have the old answer.
"""

import random
import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from assay.harness.counters.assertions import (
    NAMED,
    Assertion,
    NamedTest,
    Operand,
    choose_expected,
    find_assertions,
    first_line,
    is_constant,
    is_inside,
    last_line,
    list_chosen,
    list_functions,
    list_titled,
    read_head,
    spell,
    spell_operand,
    uses_product,
    walk,
)
from assay.harness.domain import CounterForm, Edit
from assay.harness.languages.base import Asserting
from assay.harness.languages.copying import edit_text
from assay.harness.languages.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node

    from assay.harness.languages.syntax import Parsed

_HEAD, _ROW = re.compile(r"string|field_declaration_list"), re.compile(r"tuple|list|literal_value|array")
"""Nodes that name the columns of a table, and nodes that may be its rows."""
DOCUMENTED = 5  # lines of a test in which its title as a documentation string stands
DRAWS = 40  # draws until a value is one that the test does not have
MOST = 4  # forms of one assertion that are tried at most
_NUMBER = re.compile(r"(?P<head>0[xXoObB]|)(?P<digit>\d)(?P<rest>.*)", re.DOTALL)
"""Its first digit is changed: tolerances are smaller."""
_LAST_DIGITS = {"0b": 1, "0o": 7}
_ALPHABETS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
NONCE_LETTERS = 12
_SWITCHES = {"true": "false", "false": "true", "True": "False", "False": "True"}


@dataclass(frozen=True, slots=True)
class Twin:
    """One way to make an assertion false."""

    form: CounterForm
    edits: tuple[Edit, ...]


class AssertedFile:
    def __init__(self, text: str, parsed: "Parsed", asserting: Asserting, test_name: str, dice: random.Random) -> None:
        self.text, self.root, self.asserting = text, parsed.root, asserting
        self.sealing, self._dice = parsed.language.SYNTAX.sealing, dice
        self._nonce = asserting.nonce.format("".join(dice.choices(string.ascii_lowercase, k=NONCE_LETTERS)))
        self._drawn, self._respelled = dict[int, str](), dict[int, str]()
        self._content = text.encode(errors="replace")
        self._tables: list[Node] | None = None
        self._names, self._given = dict[str, list["Node"]](), dict[str, list["Node"]]()
        self.assertions = list(find_assertions(parsed.root, asserting))
        self.tests = list_functions(parsed)
        self._helpers = {each.name: each for each in self.tests}
        if asserting.titled:
            self.tests = list_titled(text, test_name) or [*self.tests, *list_chosen(parsed.root)]

    @classmethod
    def read(cls, language: str, path: str, text: str, dice: random.Random) -> Self | None:
        """Return a test file whose other values ``dice`` draws, unknown to any patch; None if it cannot be read."""
        parsed = parse(language, path, text)
        asserting = parsed.language.SYNTAX.asserting if parsed else None
        return cls(text, parsed, asserting, parsed.language.TEST_NAME, dice) if parsed and asserting else None

    def list_names(self, name: str) -> list["Node"]:
        """List the places of a name."""
        if not self._names:
            for node in (node for node in walk(self.root) if node.type == "identifier"):
                self._names.setdefault(spell(node), []).append(node)
        return self._names.get(name, [])

    def find_tests(self, label: str) -> list[NamedTest]:
        """Return the tests that a label may name: those with the longest name in it, or that it is a title of."""
        named = [test for test in self.tests if re.search(rf"(?<!\w){re.escape(test.name)}(?!\w)", label)]
        if not named:
            lines = self.text.split("\n")
            heads = ((test, lines[test.first - 1 : test.first + DOCUMENTED]) for test in self.tests)
            named = [test for test, head in heads if any(label in line for line in head)]
        longest = max((len(test.name) for test in named), default=0)
        return [test for test in named if len(test.name) == longest]

    def list_twins(self, test: NamedTest, lines: Sequence[int] = ()) -> list[list[Twin]]:
        """List the ways to make assertions of a test false, strongest first: one list for each flipping assertion."""
        return [twins for _, twins in self.find_flipping(test, lines)]

    def find_flipping(self, test: NamedTest, lines: Sequence[int] = ()) -> list[tuple["Assertion", list[Twin]]]:
        """Find the assertions that fail at ``lines`` without the fix, and their twins; without lines, the first one."""
        chosen = dict[Sequence[Edit], tuple[Assertion, list[Twin]]]()
        steps = sorted(self._list_steps(test), key=lambda step: step.node.start_byte)
        for line in sorted(line for line in lines if test.first <= line <= test.last) or [test.first]:
            behind = [step for step in steps if step.last_line >= line]
            around = [step for step in reversed(behind) if first_line(step.node) <= line]  # the innermost first
            behind = [*around, *(step for step in behind if step not in around)]
            listed = (self._vary_step(step, test, lines) for step in behind)
            for flipping in next(filter(None, listed), []):
                chosen[flipping[1][0].edits] = flipping
        return [*chosen.values()] if chosen or not lines else self.find_flipping(test)

    def _list_steps(self, test: NamedTest) -> Iterator["Assertion"]:
        """Yield the assertions of a test, and its calls of helpers that have some, in the same file."""
        helpers = {name: helper for name, helper in self._helpers.items() if helper != test}
        calls = list[int]()
        for node in (node for node in walk(self.root) if is_inside(node, test)):
            head, _ = read_head(node, self.asserting)
            name = re.search(r"(\w+)$", head)
            if name and name[1] in helpers:
                calls.append(node.start_byte)
                yield Assertion(node, helper=helpers[name[1]])
        yield from (
            each for each in self.assertions if is_inside(each.node, test) and each.node.start_byte not in calls
        )

    def _vary_step(
        self, step: "Assertion", test: NamedTest, lines: Sequence[int]
    ) -> list[tuple["Assertion", list[Twin]]]:
        if step.helper is None:
            twins = [*self._vary(step, test)][:MOST]
            return [(step, twins)] if twins else []
        own = [each for each in self.assertions if is_inside(each.node, step.helper)]
        named = [each for each in own if any(first_line(each.node) <= line <= last_line(each.node) for line in lines)]
        found = ((each, [*self._vary(each, step.helper)][:MOST]) for each in (*named, *own))
        return [(each, twins) for each, twins in found if twins][:1]

    def list_expected(self, lines: Collection[int]) -> Iterator["Node"]:
        """Yield the literals that assertions of the tests around some lines, from 1, expect.

        Those of names that they expect are in the same test.
        """
        known, found = set[tuple[str, NamedTest | None]](), sorted(lines)
        tests = [test for test in self.tests if bisect_left(found, test.first) < bisect_right(found, test.last)]
        for each in self.assertions:
            test = next((test for test in reversed(tests) if is_inside(each.node, test)), None)
            if test is None and first_line(each.node) not in lines:
                continue
            constant = [operand for operand in each.operands if not uses_product(operand)]
            for operand in filter(
                None, (*constant, choose_expected(each, self.asserting), *each.searched, each.raised)
            ):
                named = NAMED.fullmatch(spell_operand(operand)) and (spell_operand(operand), test)
                given = list["Node"]()
                if named and named not in known:
                    given = [*self._find_values(operand, test)] or [*self._find_columns(operand, test)]
                    known.add(named)
                yield from list_literals((inner for node in (*operand, *given) for inner in walk(node)), self.asserting)

    def edit(self, edits: Iterable[Edit]) -> str:
        return edit_text(self.text, edits)

    def respell(self, test: NamedTest) -> list[Edit]:
        """Return edits that spell the literals of a test another way."""
        inside = (node for node in walk(self.root) if is_inside(node, test))
        edits = list[Edit]()
        for node in filter(self._may_respell, list_literals(inside, self.asserting)):
            if node.start_byte not in self._respelled:
                self._respelled[node.start_byte] = respell_literal(spell(node), self.asserting, self._dice)
            if new := self._respelled[node.start_byte]:
                edits.append((node.start_byte, node.end_byte, new))
        return edits

    def _may_respell(self, node: "Node") -> bool:
        """Return whether a literal is one: no part of a name such as ``pair.0``, no attribute of a mark-up."""
        marked = node.parent is not None and node.parent.type.startswith("jsx")
        return not marked and self._content[node.start_byte - 1 : node.start_byte] != b"."

    def _vary(self, assertion: "Assertion", test: NamedTest) -> Iterator[Twin]:
        found = self.asserting
        for operand in (each for each in assertion.operands if is_constant(each, found)):
            yield from (Twin(CounterForm.NEAR, (edit,)) for edit in self._change_literals(operand, test))
        expected = choose_expected(assertion, found)
        if expected:
            yield from self._follow(expected, test)
        sought = [each for each in assertion.searched if is_constant(each, found)] or assertion.searched[:1]
        for operand in (*([expected] if expected else ()), *sought):
            if found.nonce and not assertion.typed and not (assertion.raised and not is_constant(operand, found)):
                yield Twin(CounterForm.NONCE, (_replace(operand, self._nonce),))
        if assertion.kind and found.exception:
            yield Twin(CounterForm.NONCE, (_replace(assertion.kind, found.exception),))
        if assertion.raised and found.exception:
            yield Twin(CounterForm.RAISES, (_replace(assertion.raised, found.exception),))
        yield from self._negate(assertion)

    def _follow(self, operand: "Operand", test: NamedTest) -> Iterator[Twin]:
        """Follow a name to the literals that it is given in the test."""
        values = (value for value in self._find_values(operand, test) if is_constant([value], self.asserting))
        edits = [edit for value in values for edit in list(self._change_literals([value], test))[:1]]
        if edits:
            yield Twin(CounterForm.NEAR, tuple(edits))

    def _find_values(self, operand: "Operand", test: NamedTest | None) -> Iterator["Node"]:
        """Yield the values of an operand's name in a test, or anywhere in the file."""
        name = re.search(r"(\w+)$", spell_operand(operand))
        if not name or len(operand) != 1 or not NAMED.fullmatch(spell_operand(operand)):
            return
        if not self._given:
            for key, value in filter(None, map(_find_given, walk(self.root))):
                self._given.setdefault(key, []).append(value)
        yield from (each for each in self._given.get(name[1], ()) if test is None or is_inside(each, test))

    def _find_columns(self, operand: Operand, test: NamedTest | None) -> Iterator["Node"]:
        """Yield the cells of a table in a test that are in the column of an operand's name."""
        name = re.search(r"(\w+)$", spell_operand(operand))
        if self._tables is None:
            self._tables = [node for node in walk(self.root) if _HEAD.fullmatch(node.type) or _ROW.fullmatch(node.type)]
        nodes = [node for node in self._tables if test and is_inside(node, test)] if name else []
        for head in (node for node in nodes if name and _HEAD.fullmatch(node.type) and name[1] in spell(node)):
            found = re.findall(r"(?m)^\s*(\w+)|, *(\w+)", spell(head).strip("{}'\""))
            columns = [each for names in found for each in names if each]
            if name and len(columns) > 1 and name[1] in columns:
                rows = (node for node in nodes if _ROW.fullmatch(node.type) and node.named_child_count == len(columns))
                yield from (row.named_children[columns.index(name[1])] for row in rows)

    def _change_literals(self, operand: Operand, test: NamedTest) -> Iterator[Edit]:
        """Yield edits of the last literal of an operand and of its first one; those of one literal are always alike.

        A value that the test has elsewhere is avoided: a product knows its arguments, and may leave them alone.
        """
        literals = list_literals((node for each in operand for node in walk(each)), self.asserting)
        used = {spell(node) for node in list_literals(walk(self.root), self.asserting) if is_inside(node, test)}
        for node in dict.fromkeys((*literals[-1:], *literals[:1])):
            draws = [change_literal(spell(node), self._dice) for _ in range(DRAWS)]
            drawn = next((each for each in draws if each not in used), draws[0])
            new = self._drawn.setdefault(node.start_byte, drawn)
            if new:
                yield node.start_byte, node.end_byte, new

    def _negate(self, assertion: "Assertion") -> Iterator[Twin]:
        """Yield the opposite; that of a mere condition is what the base gives, if it holds there."""
        compares = assertion.operands or assertion.searched or assertion.raised or assertion.kind
        form = CounterForm.NEGATED if compares else CounterForm.BASE_VALUE
        source = spell(assertion.node)
        for pattern, other in self.asserting.opposites:
            if re.search(pattern, source):
                new = re.sub(pattern, other, source, count=1, flags=re.DOTALL)
                yield Twin(form, ((assertion.node.start_byte, assertion.node.end_byte, new),))
                return


def list_literals(nodes: Iterable["Node"], asserting: Asserting) -> list["Node"]:
    """Return the nodes that are literals and have no literal inside."""
    found = (node for node in nodes if node.type in asserting.literals)
    return [node for node in found if not any(inner.type in asserting.literals for inner in [*walk(node)][1:])]


def change_literal(source: str, dice: random.Random) -> str:
    """Return a literal of the same type and shape with another value; empty if there is none."""
    if source in _SWITCHES:
        return _SWITCHES[source]
    if found := _NUMBER.fullmatch(source):
        most = _LAST_DIGITS.get(found["head"].lower(), 9)
        least = min(most, 1) if most > 1 else 0
        return f"{found['head']}{_draw(found['digit'], map(str, range(least, most + 1)), dice)}{found['rest']}"
    quoted = re.match(r"""[A-Za-z@$]*#*(\"\"\"|'''|["'`])""", source)
    if not quoted:
        return ""
    inner = source[quoted.end() :]
    places = _find_letters(inner) if "\\" not in inner and "{" not in inner else []
    if not places:
        return f"{source[: quoted.end()]}{dice.choice(string.ascii_lowercase)}{inner}"
    place = dice.choice(places)
    alphabet = next(each for each in _ALPHABETS if inner[place] in each)
    return source[: quoted.end()] + inner[:place] + _draw(inner[place], alphabet, dice) + inner[place + 1 :]


def _draw(old: str, letters: Iterable[str], dice: random.Random) -> str:
    """Draw one of other letters, in the order that begins behind the old one."""
    listed = [*letters]
    at = listed.index(old) if old in listed else 0
    return dice.choice([each for each in (*listed[at:], *listed[:at]) if each != old])


def _find_letters(text: str) -> list[int]:
    """Return the places of letters and digits, if possible outside of marks such as ``<b>``."""
    plain = re.sub(r"<[^<>]*>", lambda mark: " " * len(mark[0]), text)
    found = ([place.start() for place in re.finditer(r"[A-Za-z0-9]", each)] for each in (plain, text))
    return next(filter(None, found), [])


def _find_given(node: "Node") -> tuple[str, "Node"] | None:
    """Return the name that a node gives a value, and the value."""
    key = next(
        (child for field in ("left", "name", "key", "pattern") if (child := node.child_by_field_name(field))), None
    )
    value = next((child for field in ("right", "value") if (child := node.child_by_field_name(field))), None)
    return None if key is None or value is None else (spell(key).strip("'\":"), value)


def _replace(operand: Operand, new: str) -> Edit:
    return operand[0].start_byte, operand[-1].end_byte, new


_INTEGER = re.compile(r"0|[1-9]\d{0,8}")
_PLAIN = r"[^\\\n$#{{}}{quote}]*"  # nothing that the text itself gives a meaning


def respell_literal(source: str, asserting: Asserting, dice: random.Random) -> str:
    """Return another spelling of a literal's value, for code that knows a test's text; empty if none is known."""
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
