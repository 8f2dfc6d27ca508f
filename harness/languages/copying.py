"""The tests of a test file, the literals in them, and copies of a test with another literal, as text. Pure.

Where tests are functions, a copy stands beside its test under another name. Where they are calls in a script, a copy is
the script without its other tests. Many copies make one file, so that one run shows many inputs.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from assay.harness.domain import Edit
from assay.harness.languages.base import Copying
from assay.harness.languages.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node

MARK = "Assay__"  # the word, followed by a number, by which a copy is known in sources and in reports
LONGEST = 400  # bytes of a literal; longer ones are data
SWITCHES = frozenset({"true", "false"})
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))")
_MEANINGS = dict(zip("nrtfvb0\\'\"", "\n\r\t\f\v\b\0\\'\"", strict=True))


@dataclass(frozen=True, slots=True)
class SourceLiteral:
    """A text, a number, ``true`` or ``false`` in a test; ``first`` and ``last`` are bytes of the file."""

    source: str
    line: int
    """Counted from 1."""
    first: int
    last: int
    alone: tuple[Edit, ...] = ()
    """Takes the other rows out of the table in the test, so that what is wrong with them hides nothing."""

    @property
    def value(self) -> str | int | float | None:
        """The text or number; None if it is neither, or cannot be read."""
        if self.source[0] in "'\"`":
            raw = self.source[0] == "`"
            return None if raw and "${" in self.source else read_text(self.source[1:-1], raw=raw)
        for kind in (int, float):
            try:
                return kind(self.source)
            except ValueError:
                continue
        return None


@dataclass(frozen=True, slots=True)
class SourceTest:
    """A test in a test file: a function, a call, or a row of a table."""

    source: str
    first: int
    """Byte of the file."""
    cut: Edit
    """Takes the test out of the file."""
    table: str
    """Pattern of the name of the table that it is a row of."""
    literals: tuple[SourceLiteral, ...]
    """The literals that may change."""

    def needs(self, other: "SourceTest") -> bool:
        """Return whether another test stays where this one is copied: rows that it uses, or what uses its table."""
        name, user = (other.table, self) if other.table else (self.table, other)
        return self == other or (bool(name) and name != user.table and bool(re.search(rf"\b{name}\b", user.source)))


class CopiedFile:
    def __init__(self, path: str, text: str, root: "Node", copying: Copying) -> None:
        self.path, self.text, self._copying = path, text, copying
        self.tests = list(_tests(root, copying))
        inner = root.named_children if copying.head else []
        self._heads = [node for node in inner if re.match(copying.head, _source(node))]
        self._cuts: dict[int, list[Edit]] = {}

    @classmethod
    def read(cls, language: str, path: str, text: str, copying: Copying | None) -> Self | None:
        """Return a test file; None if it does not parse, or tests of the language cannot be copied."""
        parsed = parse(language, path, text) if copying else None
        return cls(path, text, parsed.root, copying) if copying and parsed and not parsed.root.has_error else None

    def render_file(self, copies: Iterable[str]) -> str:
        shared = self.text if self._copying.renamed else "\n".join(map(_source, self._heads))
        return "\n".join([shared, *copies])

    def copy_test(self, test: SourceTest, literal: SourceLiteral, new: str, number: int) -> str:
        """Return a copy of a test with the source of another literal."""
        begin, renamed, (before, behind) = self._copying.test[1], self._copying.renamed, self._copying.wrapped
        edit = (literal.first, literal.last, new)
        if renamed:
            edits = [(first - test.first, last - test.first, text) for first, last, text in (edit, *literal.alone)]
            before = re.sub(begin, renamed, edit_text(test.source, edits), count=1)
        else:
            if test.first not in self._cuts:
                heads = [(node.start_byte, node.end_byte, "") for node in self._heads]
                self._cuts[test.first] = heads + [other.cut for other in self.tests if not test.needs(other)]
            before += edit_text(self.text, [*self._cuts[test.first], *literal.alone, edit])
        return before.replace("MARK", f"{MARK}{number}", 1) + behind


def _tests(node: "Node", copying: Copying) -> Iterator[SourceTest]:
    """Yield the outermost tests: functions, calls, and the rows of tables."""
    kind, begin = copying.test
    if node.type == kind and re.match(begin, _source(node)):
        yield _test(node, copying, (node.start_byte, node.end_byte, "null"))
    elif not copying.renamed and (name := _table(node, copying)):
        rows = _rows(node)
        starts = [node.start_byte + 1, *(row.start_byte for row in rows[1:]), node.end_byte - 1]
        for row, first, last in zip(rows, starts, starts[1:], strict=False):
            yield _test(row, copying, (first, last, ""), name)
    else:
        for child in node.named_children:
            yield from _tests(child, copying)


def _test(node: "Node", copying: Copying, cut: Edit, table: str = "") -> SourceTest:
    return SourceTest(_source(node), node.start_byte, cut, table, tuple(_literals(node, copying, _source(node))))


def _table(node: "Node", copying: Copying) -> str:
    """Return the name of a list that may be a table, as a pattern; "" for any other node."""
    kind, of_row = copying.row
    around = node.parent
    while around and around.type in copying.between:
        around = around.parent
    name = around and (around.child_by_field_name("name") or around.child_by_field_name("left"))
    is_table = node.type == kind and name and all(row.type in of_row for row in _rows(node))
    return re.escape(_source(name)) if is_table and name else ""


def _rows(node: "Node") -> list["Node"]:
    return [each for each in node.named_children if each.type != "comment"]


def _literals(node: "Node", copying: Copying, test: str, alone: tuple[Edit, ...] = ()) -> Iterator[SourceLiteral]:
    """Yield the literals of a test that may change; ``test`` is its source."""
    if node.type in copying.texts | copying.numbers | SWITCHES:
        around = node.parent
        call = around.parent if around and around.type in ("arguments", "argument_list") else around
        stays = call and (call.type in copying.kept or re.match(copying.names, _source(call)))
        if not stays and node.end_byte - node.start_byte <= LONGEST:
            yield SourceLiteral(_source(node), node.start_point[0] + 1, node.start_byte, node.end_byte, alone)
        return
    name = "" if alone else _table(node, copying)
    is_table = bool(name and re.search(copying.loop.replace("NAME", name), test))
    if is_table:
        declared = set(re.findall(r"\w+", " ".join(re.findall(copying.declared, test))))
        is_table = not declared & _identifiers(node)
    for child in node.named_children:
        others = (node.start_byte + 1, child.start_byte, ""), (child.end_byte, node.end_byte - 1, "")
        yield from _literals(child, copying, test, others if is_table else alone)


def _identifiers(node: "Node") -> set[str]:
    own = {_source(node)} if node.type == "identifier" else set()
    return own.union(*map(_identifiers, node.named_children))


def read_text(text: str, *, raw: bool = False) -> str:
    """Resolve the escapes in a text between quotes; a raw text and unknown escapes stay as they are."""
    return text if raw else _ESCAPE.sub(_meant, text)


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _MEANINGS.get(escape[3], escape[0])


def _source(node: "Node") -> str:
    return (node.text or b"").decode(errors="replace")


def edit_text(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with some edits; of two that overlap, the outer one is made."""
    content, out, at = text.encode(errors="replace"), [], 0
    for first, last, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if first >= at:
            out += [content[at:first], new.encode(errors="replace")]
            at = last
    return (b"".join(out) + content[at:]).decode(errors="replace")
