"""The text files of a repository and their definitions, in every language. Pure; files are parsed on demand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from assay.harness import languages
from assay.harness.languages.base import Syntax
from assay.harness.languages.syntax import Definition, Kind, definitions, find_language, innermost, parse

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines ``first`` to ``last`` of a file, counted from 1, both included."""

    path: str
    first: int
    last: int
    owner: str
    """Qualified name of the definition around it; empty outside of all definitions."""
    code: str


class Codebase:
    """The text files of a repository and their definitions; ``paths``: code, then its tests, then other texts."""

    def __init__(self, texts: Mapping[str, str], language: str) -> None:
        """Raises UserError for an unknown language."""
        self._texts = texts
        self._language = languages.find(language)
        self._definitions: dict[str, tuple[Definition, ...]] = {}
        self.paths = tuple(sorted(texts, key=self._order))

    def _order(self, path: str) -> tuple[bool, bool, str]:
        known = find_language(path, self._language.NAME)
        return known is None, (known or self._language).is_test_file(path), path

    def text(self, path: str) -> str:
        return self._texts[path]

    def height(self, path: str) -> int:
        text = self._texts[path]
        return text.count("\n") + (not text.endswith("\n") and bool(text))

    def files(self, name: str) -> list[str]:
        """Return the files that a path, or the end of one, may mean; of an absolute path the longest known end."""
        parts = PurePosixPath(name.strip()).parts
        absolute = parts[:1] == ("/",)
        tails = ["/".join(parts[start:]) for start in range(absolute, len(parts) if absolute else 1)]
        exact = next((tail for tail in tails if tail in self._texts), None)
        if exact is not None:
            return [exact]
        return [path for path in self.paths if tails and tails[0] and f"/{path}".endswith(f"/{tails[0]}")]

    def find_similar(self, name: str, most: int = 6) -> list[str]:
        names: dict[str, list[str]] = {}
        for path in self.paths:
            names.setdefault(PurePosixPath(path).name, []).append(path)
        found = get_close_matches(PurePosixPath(name).name, names, most)
        return [path for each in found for path in names[each]][:most]

    def definitions(self, path: str) -> tuple[Definition, ...]:
        if path not in self._definitions:
            self._definitions[path] = definitions(self._language.NAME, path, self._texts[path])
        return self._definitions[path]

    def find_named(self, kind: Kind, name: str, paths: Iterable[str]) -> Iterator[tuple[str, Definition]]:
        """Yield path and definition of all with a name, or a qualified one (``Outer::method``) that ends in it."""
        wanted = dot_name(name)
        last = wanted.rpartition(".")[2]
        for path in paths:
            if last and last in self._texts[path]:
                found = (each for each in self.definitions(path) if each.kind == kind)
                yield from ((path, each) for each in found if f".{each.name}".endswith(f".{wanted}"))

    def occurrences(self, path: str, wanted: str, around: int) -> Iterator[Snippet]:
        """Yield the occurrences of a text in a file with ``around`` lines of context; none that the last one shows."""
        text, start, shown = self._texts[path], 0, 0
        while (start := text.find(wanted, start)) >= 0:
            line = text.count("\n", 0, start) + 1
            if line > shown:
                shown = min(line + wanted.count("\n") + around, self.height(path))
                yield self.snippet(path, max(line - around, 1), shown, line)
            start += len(wanted)

    def snippet(self, path: str, first: int, last: int, line: int) -> Snippet:
        """Return lines of a file; the innermost definition around ``line`` is the owner."""
        owner = innermost(self.definitions(path), line)
        return Snippet(path, first, last, owner.name if owner else "", self._lines(path, first, last))

    def whole(self, path: str, each: Definition) -> Snippet:
        return Snippet(path, each.first, each.last, each.name, self._lines(path, each.first, each.last))

    def signatures(self, path: str, each: Definition) -> Snippet:
        """Return the signatures of a class and its methods; a class without methods is returned whole."""
        members = [other for other in self.definitions(path) if self._is_member(path, other, each)]
        inside = any(each.first <= member.first <= each.last for member in members)
        parts = self._heads(path, [each, *members]) if inside else [self._lines(path, each.first, each.last)]
        beside = [] if inside else self._heads(path, members)
        return Snippet(path, each.first, each.last, each.name, "\n".join(parts + beside))

    def _is_member(self, path: str, other: Definition, owner: Definition) -> bool:
        """Return whether a method belongs to a class: written in it or, as in Go, outside of all classes."""
        if other.kind != "function" or other.name.rpartition(".")[0] != owner.name:
            return False
        classes = (each for each in self.definitions(path) if each.kind == "class")
        around = [each for each in classes if each.first <= other.first and other.last <= each.last]
        return owner in around or not around

    def _heads(self, path: str, wanted: Sequence[Definition]) -> list[str]:
        return heads(self._language.NAME, path, self._texts[path], wanted)

    def _lines(self, path: str, first: int, last: int) -> str:
        return "\n".join(self._texts[path].split("\n")[first - 1 : last])


def dot_name(name: str) -> str:
    """Return a qualified name with dots, without the parentheses of a call."""
    plain = name.strip().partition("(")[0]
    return plain.replace("::", ".").replace("\\", ".").replace("#", ".").replace("->", ".").strip(".* ")


def heads(language: str, path: str, text: str, wanted: Sequence[Definition]) -> list[str]:
    """Return the source of each definition of a file up to its body; all of one that has no body."""
    parsed = parse(language, path, text)
    if parsed is None:
        return []
    lines = text.encode(errors="replace").split(b"\n")
    return [_head(lines, _body(parsed.root, each, parsed.language.SYNTAX), each) for each in wanted]


def _head(lines: Sequence[bytes], body: "Node | None", definition: Definition) -> str:
    kept = list(lines[definition.first - 1 : definition.last])
    if body is not None:
        end = body.start_point
        kept = [*lines[definition.first - 1 : end.row], lines[end.row][: end.column]]
    return b"\n".join(kept).decode(errors="replace").rstrip()


def _body(root: "Node", definition: Definition, syntax: Syntax) -> "Node | None":
    """Return the body of the outermost function or class within the lines of a definition."""
    types = syntax.functions | syntax.classes | syntax.function_values | syntax.class_values
    inside = (node for node in _within(root, definition.first - 1, definition.last - 1) if node.type in types)
    for node in inside:
        body = node.child_by_field_name("body")
        body = body or next((each for each in node.children if each.type in syntax.bodies), None)
        if body is not None:
            return body
    return None


def _within(node: "Node", first: int, last: int) -> "Iterator[Node]":
    """Yield the nodes entirely within these rows, outer before inner."""
    for child in node.named_children:
        if child.end_point.row < first or child.start_point.row > last:
            continue
        if child.start_point.row >= first and child.end_point.row <= last:
            yield child
        yield from _within(child, first, last)
