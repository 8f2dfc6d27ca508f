"""Sealed tests as text: what tests compare with is taken out, and what is compared is recorded instead. Pure.

An assertion can be sealed if its failure always fails its test, and if the product has no part in what it compares
with. Then whoever passes the original records a value that agrees with the one that the test had.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.harness.counters.assertions import NamedTest, is_inside, read_head, spell, walk
from assay.harness.counters.twins import AssertedFile
from assay.harness.domain import Edit, NoSeal
from assay.harness.languages.copying import edit_text
from assay.harness.languages.recorders import read_recorder

if TYPE_CHECKING:
    from tree_sitter import Node

    from assay.harness.languages.recorders import Sealing

SHORT = 4
"""Characters of an answer that may stand elsewhere in the tests: nothing hides a digit or a word."""
_QUOTES = "'\"`"
LITERALS = re.compile(r".*(string|integer|float|number|literal|list|tuple|dictionary|set|array|object)")


@dataclass(frozen=True, slots=True)
class Flipping:
    """The tests of a label and its flipping assertions, each with the path of its file; of these the first bytes."""

    tests: Sequence[tuple[str, NamedTest]]
    assertions: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Sealable:
    path: str
    test: NamedTest
    alike: bool
    """Whether the types of sequences do not count."""
    statement: "Node"
    expected: "Node"
    actual: "Node"
    cuts: tuple["Node", ...] = ()
    """Statements and cells of tables that make what it compares with, and nothing else."""
    certain: bool = True
    """Whether every pass through the test reaches it."""

    @property
    def place(self) -> tuple[str, int]:
        return self.path, self.statement.start_byte

    @property
    def sources(self) -> set[str]:
        """The sources of the literals that it compares with, without spaces."""
        shown = (spell(each) for node in (self.expected, *self.cuts) for each in _list_literals(node))
        return {"".join(source.split()).strip(_QUOTES) for source in shown}

    def is_shown(self, text: str) -> bool:
        """Return whether all that it compares with stands in a text without spaces; a digit or a word may."""
        return are_shown(self.sources, text)


@dataclass(frozen=True, slots=True)
class SealedFiles:
    """Test files without the answers to some labels."""

    seals: Sequence[Sealable] = ()
    """The number of a seal is its place."""
    flipping: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """The seals at the flipping assertions of each label."""
    missing: Mapping[str, NoSeal] = field(default_factory=dict)
    """Labels that are not sealed, and why."""


def are_shown(answers: Iterable[str], text: str) -> bool:
    """Return whether a text has all of the answers that are more than a few characters, and there are some."""
    long = [each for each in answers if len(re.findall(r"\w", each)) > SHORT]
    return bool(long) and all(each in text for each in long)


def seal_files(
    files: Mapping[str, AssertedFile], flipping: Mapping[str, Flipping], others: Sequence[str] = ()
) -> SealedFiles:
    """Choose the seals that take the answers to labels out of test files; ``others`` are texts that tests bring."""
    found = [each for path, file in files.items() for each in find_sealable(path, file)]
    places = {each.place: each for each in found}
    wanted = {label: [places[at] for at in flips.assertions if at in places] for label, flips in flipping.items()}
    missing = {label: NoSeal.NO_CONSTANT for label, seals in wanted.items() if not seals}
    while True:
        tests = {(each.path, each.test) for seals in wanted.values() for each in seals}
        sources = {source for seals in wanted.values() for each in seals for source in each.sources}
        seals = [each for each in found if (each.path, each.test) in tests or each.sources & sources]
        shown = "\0".join("".join(text.split()) for text in (*render_sealed(files, seals).values(), *others))
        kept = {label: [each for each in own if not each.is_shown(shown)] for label, own in wanted.items()}
        if kept == wanted:
            break
        wanted = kept
        missing |= {label: NoSeal.ELSEWHERE for label, own in kept.items() if not own and label not in missing}
    numbers = {each.place: number for number, each in enumerate(seals)}
    chosen = {label: frozenset(numbers[each.place] for each in own) for label, own in wanted.items() if own}
    return SealedFiles(seals, chosen, missing)


def render_sealed(
    files: Mapping[str, AssertedFile], seals: Sequence[Sealable], *, answered: bool = False
) -> dict[str, str]:
    """Return all files, with a recorder at the end where there are seals; ``answered`` ones record what they expect."""
    edits: dict[str, list[Edit]] = {path: [] for path in files}
    for number, each in enumerate(seals):
        sealing = _get_sealing(files[each.path])
        edits[each.path].append(_record(each, files[each.path], number, answered=answered))
        cuts = () if answered else each.cuts
        for cut in cuts:
            new = sealing.nothing if cut.type in sealing.statements else sealing.blank
            edits[each.path].append((cut.start_byte, cut.end_byte, new + _feed(spell(cut))))
    texts = dict[str, str]()
    for path, own in edits.items():
        text = edit_text(files[path].text, own)
        recorder = read_recorder(_get_sealing(files[path]).recorder) if own else ""
        texts[path] = f"{text.rstrip()}\n\n\n{recorder}" if own else text
    return texts


def _record(seal: Sealable, file: AssertedFile, number: int, *, answered: bool) -> Edit:
    """Return the edit of an assertion; its lines stay."""
    node, actual, sealing = seal.statement, seal.actual, _get_sealing(file)
    content = node.text or b""
    before = content[: actual.start_byte - node.start_byte].decode()
    behind = content[actual.end_byte - node.start_byte :].decode()
    more = spell(seal.expected) if answered else "()"
    call = sealing.record.replace("{seal}", str(number)).replace("{expected}", more)
    lines = (_feed(before), "" if answered else _feed(behind))
    return node.start_byte, node.end_byte, call.replace("{actual}", f"{lines[0]}{spell(actual)}{lines[1]}")


def find_sealable(path: str, file: AssertedFile) -> list[Sealable]:
    """Find the assertions of a file that can be sealed."""
    if file.sealing is None:
        return []
    found = [each for node in file.assertions for each in _find_compared(path, file, node.node)]
    while True:  # what one compares with may be used by another
        operands = {at for each in found for at in _list_names(each.statement) - _list_names(each.actual)}
        cut = [(each, _find_cuts(file, each.test, each.expected, operands)) for each in found]
        kept = [each for each, cuts in cut if cuts is not None]
        if len(kept) == len(found):
            chosen = {each.place: _add_cuts(each, cuts or (), file.sealing) for each, cuts in cut}
            return [*chosen.values()]
        found = kept


def _list_names(node: "Node") -> set[int]:
    return {each.start_byte for each in walk(node) if each.type == "identifier"}


def _add_cuts(seal: Sealable, cuts: Sequence["Node"], sealing: "Sealing") -> Sealable:
    """Return a seal with what is cut; a loop over a table of the test's own leaves nothing out."""
    tables = [each for cut in cuts for each in _list_around(cut)]
    names = {spell(each.child_by_field_name("left")) for each in tables if each.type in sealing.assigning}
    around = [each for each in _list_around(seal.statement) if is_inside(each, seal.test)]
    branches = [each for each in around if each.type in sealing.branches]
    rows = [each.child_by_field_name("right") for each in branches]
    certain = all(each is not None and (each in tables or spell(each) in names) for each in rows)
    return replace(seal, cuts=tuple(cuts), certain=certain)


def _find_compared(path: str, file: AssertedFile, node: "Node") -> Iterator[Sealable]:
    """Yield an assertion with what it compares, if each of its failures is a failure of its test."""
    sealing = _get_sealing(file)
    test = max((test for test in file.tests if is_inside(node, test)), key=lambda each: each.first, default=None)
    alike, sides = _find_sides(file, sealing, node)
    if test is None or not sides:
        return
    around = [each for each in _list_around(node) if is_inside(each, test)]
    source = "\n".join(file.text.split("\n")[test.first - 1 : test.last])
    once = sum(each.type in sealing.functions for each in around) == 1
    if not once or any(each.type in sealing.guards for each in around) or re.search(sealing.repeated, source, re.M):
        return
    literal = [_is_constant(sealing, side) and not [*_list_variables(sealing, side)] for side in sides]
    for place in (0, 1):
        if not all(literal) and _is_constant(sealing, sides[place]) and literal[place] >= literal[1 - place]:
            yield Sealable(path, test, alike, node, sides[place], sides[1 - place])


def _find_sides(file: AssertedFile, sealing: "Sealing", node: "Node") -> tuple[bool, Sequence["Node"]]:
    """Return whether types of sequences count, and the two nodes that an assertion compares; none if it does more."""
    asserting = file.asserting
    if node.type in asserting.statements:
        condition = node.named_children[0]
        while condition.type == "parenthesized_expression" and condition.named_child_count == 1:
            condition = condition.named_children[0]
        sides = condition.children if condition.type in asserting.comparisons else []
        compares = len(sides) == 3 and sides[1].type in asserting.operators - {"in"}
        return False, (sides[0], sides[2]) if compares else ()
    head, operands = read_head(node, asserting)
    given = [each[0] for each in operands[:2] if len(each) == 1 and "splat" not in each[0].type]
    given = [each for each in given if each.parent and each.parent.type in asserting.arguments]
    alike = bool(re.search(sealing.alike, head))
    return alike, given if len(given) == 2 and (alike or re.search(sealing.equal, head)) else ()


def _is_constant(sealing: "Sealing", node: "Node") -> bool:
    """Return whether a value is made of literals and variables, by nothing that the product has a part in."""
    names = (each for each in walk(node) if each.type == "identifier" and not _is_variable(sealing, each))
    return all(re.fullmatch(sealing.known, spell(each)) for each in names) and not any(
        each.type in sealing.unknown for each in walk(node)
    )


def _list_variables(sealing: "Sealing", node: "Node") -> Iterator["Node"]:
    yield from (each for each in walk(node) if each.type == "identifier" and _is_variable(sealing, each))


def _list_literals(node: "Node") -> Iterator["Node"]:
    """Yield the outermost literals: texts, numbers, lists and the like."""
    if LITERALS.fullmatch(node.type):
        yield node
    else:
        for child in node.named_children:
            yield from _list_literals(child)


def _is_variable(sealing: "Sealing", name: "Node") -> bool:
    """Return whether a name stands for a value, and not for an argument, a function, a method or a module."""
    parent = name.parent
    if parent is None or name in map(parent.child_by_field_name, ("attribute", "function")):
        return parent is None
    if parent.type == "keyword_argument":
        return parent.child_by_field_name("name") != name
    return not (parent.type == "attribute" and re.fullmatch(sealing.known, spell(name)))


def _find_cuts(file: AssertedFile, test: NamedTest, expected: "Node", operands: set[int]) -> "list[Node] | None":
    """Return the statements that make what an assertion compares with; None if they are needed for anything else."""
    sealing, cuts = _get_sealing(file), dict[int, "Node"]()
    todo, made, names = [expected], set[str](), set[str]()
    while todo:
        new = {spell(each) for each in _list_variables(sealing, todo.pop())}
        for each in (each for name in new - names for each in file.list_names(name) if is_inside(each, test)):
            if each.start_byte in operands or not _is_variable(sealing, each):
                continue
            cells = _find_cells(file, test, each)
            if cells:
                cuts |= {cell.start_byte: cell for cell in cells}
                made.add(spell(each))
                todo += cells
                continue
            giving = next((node for node in _list_around(each) if node.type in sealing.assigning), None)
            left, right = (giving and giving.child_by_field_name(side) for side in ("left", "right"))
            if not (giving and left and right and giving.parent) or left.type != "identifier":
                return None
            if not _is_constant(sealing, right):
                return None
            if cuts.setdefault(giving.parent.start_byte, giving.parent) == giving.parent:
                made.add(spell(left))
                todo.append(right)
        names |= new
    return [*cuts.values()] if names <= made else None


def _find_cells(file: AssertedFile, test: NamedTest, name: "Node") -> "list[Node]":
    """Return the values that a name has in a loop over a table of literals; nothing if it is not declared there."""
    sealing = _get_sealing(file)
    loop = next((node for node in _list_around(name) if node.type in sealing.loops), None)
    left, rows = (loop and loop.child_by_field_name(side) for side in ("left", "right"))
    if not left or not rows or name not in (names := [left] if left.type == "identifier" else left.named_children):
        return []
    if rows.type == "identifier":
        used = [each for each in file.list_names(spell(rows)) if is_inside(each, test)]
        given = [each.parent for each in used if each.parent and each.parent.type in sealing.assigning]
        right = given[0].child_by_field_name("right") if len(given) == 1 and len(used) == 2 else None
        rows = right or rows
    found = list["Node"]()
    for row in (each for each in rows.named_children if each.type != "comment"):
        inner = [each for each in row.named_children if each.type != "comment"]
        own = [row] if left.type == "identifier" else inner if row.type in sealing.rows else []
        if rows.type not in sealing.rows or len(own) != len(names):
            return []
        found.append(own[names.index(name)])
    return found


def _list_around(node: "Node") -> Iterator["Node"]:
    around = node.parent
    while around is not None:
        yield around
        around = around.parent


def _feed(source: str) -> str:
    return "\n" * source.count("\n")


def _get_sealing(file: AssertedFile) -> "Sealing":
    assert file.sealing
    return file.sealing
