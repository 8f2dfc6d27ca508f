"""Graph of a repository: directories, files, classes, functions; contains, calls, inherits. Pure.

RepoUnderstander's knowledge graph (Ma et al., arXiv 2406.01422), in every language. Containment is certain; a call or
base class is only a name and is linked to the definitions of that name: those in the same file, else all in the same
language, and none if too many share the name.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from assay.harness.languages.syntax import Definition, Parsed, list_definitions, parse

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

_LAST_NAME = re.compile(r"([^\W\d][\w$]*[?!]?)\s*$")
_ARGUMENTS = re.compile(r"[\[<(].*", re.DOTALL)
_TYPE_ARGUMENTS = re.compile(r"<[^()]*>$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A called or inherited name and its line, counted from 1."""

    relation: Literal["calls", "inherits"]
    name: str
    line: int


def mentions(parsed: Parsed) -> tuple[Mention, ...]:
    """Return the names that a file's code calls and inherits from, in text order; broken code is skipped."""
    if not parsed.language.SYNTAX.mentions:
        return ()
    from tree_sitter import QueryCursor

    captured = QueryCursor(_query(parsed.language.SYNTAX.mentions, parsed.grammar)).captures(parsed.root)
    found = [
        (node.start_byte, Mention("calls" if capture == "calls" else "inherits", name, node.end_point.row + 1))
        for capture, nodes in captured.items()
        for node in nodes
        if (name := _name((node.text or b"").decode(errors="replace"), capture))
    ]
    return tuple(mention for _, mention in sorted(found, key=lambda each: (each[0], each[1].name)))


@lru_cache(maxsize=64)
def _query(mentions: str, grammar: "Grammar") -> "Query":
    from tree_sitter import Query

    return Query(grammar, mentions)


def _name(written: str, capture: str) -> str:
    """Return the last name of an expression, ``send`` of ``self.client().send``; empty if it ends in no name."""
    if capture == "inherits":  # type arguments name no base, nor do keyword arguments such as a metaclass
        written = "" if "=" in written else _ARGUMENTS.sub("", written)
    match = _LAST_NAME.search(_TYPE_ARGUMENTS.sub("", written))
    return match[1] if match else ""


VertexKind = Literal["directory", "file", "class", "function"]
Relation = Literal["contains", "calls", "inherits"]
ROOT = ""  # identifier of the root directory
MOST_NAMESAKES = 5  # largest number of definitions to which one name is linked

FORWARD: dict[Relation, str] = {"contains": "contains", "calls": "calls", "inherits": "inherits from"}
BACKWARD: dict[Relation, str] = {"contains": "is in", "calls": "is called by", "inherits": "is the base of"}


@dataclass(frozen=True, slots=True)
class Vertex:
    """A directory, a file, or a class or function in one."""

    id: str
    """Path; for a definition also ``::`` and the qualified name, and ``@line`` if that is not unique."""
    kind: VertexKind
    path: str
    name: str = ""
    first: int = 0
    """Line, from 1; 0 for directories."""
    last: int = 0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A related vertex, and the relation, as in ``a calls b``."""

    relation: str
    id: str


class CodeGraph:
    """Vertices by their identifiers, directories and files first, and their directed relations, each once."""

    def __init__(self, vertices: Mapping[str, Vertex], edges: Iterable[tuple[str, Relation, str]]) -> None:
        self.vertices = dict(vertices)
        self._edges = tuple(dict.fromkeys(edges))
        self._neighbours: dict[str, dict[Neighbour, None]] = defaultdict(dict)
        for source, relation, target in self._edges:
            self._neighbours[source][Neighbour(FORWARD[relation], target)] = None
            self._neighbours[target][Neighbour(BACKWARD[relation], source)] = None

    def neighbours(self, vertex: str) -> tuple[Neighbour, ...]:
        return tuple(self._neighbours.get(vertex, ()))

    def edges(self, relation: Relation) -> list[tuple[str, str]]:
        return [(source, target) for source, kind, target in self._edges if kind == relation]


def build(texts: Mapping[str, str], language: str) -> CodeGraph:
    """Return the graph of a repository's source files, each in its own language; other files are left out."""
    files = [
        _File.read(path, text, parsed)
        for path, text in sorted(texts.items())
        if (parsed := parse(language, path, text)) is not None
    ]
    vertices = _folders(file.path for file in files)
    for file in files:
        vertices.update({each.id: each for each in file.vertices})
    names = _Names(files)
    edges: list[tuple[str, Relation, str]] = [
        (_above(each.path), "contains", each.id) for each in vertices.values() if not each.name and each.id != ROOT
    ]
    for file in files:
        edges += file.inside()
        edges += names.edges(file)
    return CodeGraph(vertices, edges)


def _folders(paths: Iterable[str]) -> dict[str, Vertex]:
    found = {ROOT: Vertex(ROOT, "directory", ROOT)}
    for path in paths:
        for folder in reversed([*PurePosixPath(path).parents][:-1]):
            found.setdefault(str(folder), Vertex(str(folder), "directory", str(folder)))
    return found


def _above(path: str) -> str:
    folder = str(PurePosixPath(path).parent)
    return ROOT if folder == "." else folder


@dataclass(frozen=True, slots=True)
class _File:
    """A parsed file: vertices of the file and its definitions, outer before inner, and the names it mentions."""

    path: str
    language: str
    vertices: tuple[Vertex, ...]
    mentions: tuple[Mention, ...]

    @classmethod
    def read(cls, path: str, text: str, parsed: Parsed) -> "_File":
        whole = Vertex(path, "file", path, "", 1, text.count("\n") + 1)
        inner = _vertices(path, list_definitions(parsed))
        return cls(path, parsed.language.NAME, (whole, *inner), mentions(parsed))

    def inside(self) -> list[tuple[str, Relation, str]]:
        """Return ``contains`` edges: by lines, and by name for methods written outside their class, as in Go."""
        edges: list[tuple[str, Relation, str]] = []
        owners = {each.name: each for each in self.vertices if each.kind == "class"}
        around: list[Vertex] = []
        for each in self.vertices:
            while around and not (around[-1].first <= each.first and each.last <= around[-1].last):
                around.pop()
            if around:
                owner = owners.get(each.name.rpartition(".")[0]) if around[-1].kind == "file" else None
                edges.append(((owner or around[-1]).id, "contains", each.id))
            around.append(each)
        return edges

    def around(self, line: int) -> Vertex:
        found = [each for each in self.vertices if each.first <= line <= each.last]
        return min(reversed(found or [self.vertices[0]]), key=lambda each: each.last - each.first)


def _vertices(path: str, found: Sequence[Definition]) -> tuple[Vertex, ...]:
    taken: set[str] = set()
    vertices = []
    for each in found:
        plain = f"{path}::{each.name}"
        name = f"{plain}@{each.first}" if plain in taken else plain
        taken.add(plain)
        vertices.append(Vertex(name, each.kind, path, each.name, each.first, each.last))
    return tuple({vertex.id: vertex for vertex in vertices}.values())


class _Names:
    def __init__(self, files: Sequence[_File]) -> None:
        self._all: dict[tuple[str, str], list[Vertex]] = defaultdict(list)
        for file in files:
            for each in file.vertices[1:]:
                self._all[file.language, each.name.rpartition(".")[2]].append(each)

    def edges(self, file: _File) -> list[tuple[str, Relation, str]]:
        return [
            (source.id, mention.relation, target.id)
            for mention in file.mentions
            for source in (file.around(mention.line),)
            for target in self._meant(file, mention)
            if target.id != source.id
        ]

    def _meant(self, file: _File, mention: Mention) -> list[Vertex]:
        found = self._all.get((file.language, mention.name), [])
        if mention.relation == "inherits":
            found = [each for each in found if each.kind == "class"]
        near = [each for each in found if each.path == file.path] or found
        return near if len(near) <= MOST_NAMESAKES else []
