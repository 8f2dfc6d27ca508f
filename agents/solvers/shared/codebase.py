"""The text files of a repository and what they define, in every language. Pure; files are parsed when it is needed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath

from assay.agents.solvers.shared.signatures import heads
from assay.harness import languages
from assay.harness.languages.syntax import Definition, Kind, definitions, innermost, language_of


@dataclass(frozen=True, slots=True)
class Snippet:
    """Some lines of a file; they count from 1, and the last one belongs to it."""

    path: str
    first: int
    last: int
    owner: str
    """Qualified name of the definition it is or lies in; empty outside of all."""
    code: str


class Codebase:
    """The text files of a repository, by what they define.

    Attributes:
        paths: of the files: code first, its tests after it, and other texts last.
    """

    def __init__(self, texts: Mapping[str, str], language: str) -> None:
        """Take the files, path to text, and the name of the project's language; raises UserError for an unknown one."""
        self._texts = texts
        self._language = languages.find(language)
        self._definitions: dict[str, tuple[Definition, ...]] = {}
        self.paths = tuple(sorted(texts, key=self._order))

    def _order(self, path: str) -> tuple[bool, bool, str]:
        known = language_of(path, self._language.NAME)
        return known is None, (known or self._language).is_test_file(path), path

    def text(self, path: str) -> str:
        """Return the content of a file."""
        return self._texts[path]

    def height(self, path: str) -> int:
        """Return how many lines a file has."""
        text = self._texts[path]
        return text.count("\n") + (not text.endswith("\n") and bool(text))

    def files(self, name: str) -> list[str]:
        """Return the files that a path, or the end of one, may mean; the longest end of an absolute path decides."""
        parts = PurePosixPath(name.strip()).parts
        absolute = parts[:1] == ("/",)
        tails = ["/".join(parts[start:]) for start in range(absolute, len(parts) if absolute else 1)]
        exact = next((tail for tail in tails if tail in self._texts), None)
        if exact is not None:
            return [exact]
        return [path for path in self.paths if tails and tails[0] and f"/{path}".endswith(f"/{tails[0]}")]

    def like(self, name: str, most: int = 6) -> list[str]:
        """Return files whose names are spelled much as that of a path."""
        names: dict[str, list[str]] = {}
        for path in self.paths:
            names.setdefault(PurePosixPath(path).name, []).append(path)
        found = get_close_matches(PurePosixPath(name).name, names, most)
        return [path for each in found for path in names[each]][:most]

    def definitions(self, path: str) -> tuple[Definition, ...]:
        """Return the functions and classes of a file, as ``harness.syntax`` tells them."""
        if path not in self._definitions:
            self._definitions[path] = definitions(self._language.NAME, path, self._texts[path])
        return self._definitions[path]

    def named(self, kind: Kind, name: str, paths: Iterable[str]) -> Iterator[tuple[str, Definition]]:
        """Yield the definitions in some files that a name, or the end of a qualified one, may mean.

        Args:
            kind: of definition.
            name: qualified in the manner of any language: ``Outer.method``, ``Outer::method``, ``Outer#method``.
            paths: where to look.
        """
        wanted = dotted(name)
        last = wanted.rpartition(".")[2]
        for path in paths:
            if last and last in self._texts[path]:
                found = (each for each in self.definitions(path) if each.kind == kind)
                yield from ((path, each) for each in found if f".{each.name}".endswith(f".{wanted}"))

    def occurrences(self, path: str, wanted: str, around: int) -> Iterator[Snippet]:
        """Yield where a text occurs in a file, with lines around it; what the place before shows is not told again."""
        text, start, shown = self._texts[path], 0, 0
        while (start := text.find(wanted, start)) >= 0:
            line = text.count("\n", 0, start) + 1
            if line > shown:
                shown = min(line + wanted.count("\n") + around, self.height(path))
                yield self.place(path, max(line - around, 1), shown, line)
            start += len(wanted)

    def place(self, path: str, first: int, last: int, line: int) -> Snippet:
        """Return some lines of a file; who owns one of them, owns the place."""
        owner = innermost(self.definitions(path), line)
        return Snippet(path, first, last, owner.name if owner else "", self._lines(path, first, last))

    def whole(self, path: str, each: Definition) -> Snippet:
        """Return all of a definition."""
        return Snippet(path, each.first, each.last, each.name, self._lines(path, each.first, each.last))

    def signatures(self, path: str, each: Definition) -> Snippet:
        """Return the heads of a class and of its methods; a class that holds no method is its own signature."""
        members = [other for other in self.definitions(path) if self._is_member(path, other, each)]
        inside = any(each.first <= member.first <= each.last for member in members)
        parts = self._heads(path, [each, *members]) if inside else [self._lines(path, each.first, each.last)]
        beside = [] if inside else self._heads(path, members)
        return Snippet(path, each.first, each.last, each.name, "\n".join(parts + beside))

    def _is_member(self, path: str, other: Definition, owner: Definition) -> bool:
        """Tell whether a method belongs to a class: written in it or, as in Go, outside of all classes."""
        if other.kind != "function" or other.name.rpartition(".")[0] != owner.name:
            return False
        around = [each for each in self.definitions(path) if each.kind == "class" and _surrounds(each, other)]
        return owner in around or not around

    def _heads(self, path: str, wanted: Sequence[Definition]) -> list[str]:
        return heads(self._language.NAME, path, self._texts[path], wanted)

    def _lines(self, path: str, first: int, last: int) -> str:
        return "\n".join(self._texts[path].split("\n")[first - 1 : last])


def dotted(name: str) -> str:
    """Return a qualified name as ``harness.syntax`` spells it, without the parentheses of a call."""
    plain = name.strip().partition("(")[0]
    return plain.replace("::", ".").replace("\\", ".").replace("#", ".").replace("->", ".").strip(".* ")


def is_inside(path: str) -> bool:
    """Tell whether a path, relative to the tree, names a file that may be written: in the tree, and not git's own."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and not {"..", ".git"} & {*parts} and "\0" not in path


def _surrounds(outer: Definition, inner: Definition) -> bool:
    return outer.first <= inner.first and inner.last <= outer.last
