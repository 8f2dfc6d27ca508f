"""Places in code as models name them, and the lines that they mean.

The grammar is Agentless' (Xia et al., 2024): a line with a path, then lines ``class: X``, ``function: X.m``,
``variable: v`` or ``line: 12``; here for files of every language.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from assay.agents.contract import ROOT
from assay.agents.solvers.agentless.variables import variable_lines
from assay.agents.solvers.shared.edit_grammars import clean_path
from assay.agents.solvers.shared.edits import Interval, merged
from assay.harness.languages import LANGUAGES
from assay.harness.languages.syntax import Definition, definitions

LocationKind = Literal["class", "function", "variable", "line"]

WINDOW = 10
"""Lines of context before and after a place."""
SUFFIXES = frozenset(suffix for language in LANGUAGES.values() for suffix in language.SUFFIXES)
"""Of source files in all languages, with the dot."""
PLACE = re.compile(
    r"\s*[-*]?\s*`?(?P<kind>class|function|method|variable|lines?)\s*:\s*(?P<name>.+?)`?\s*$", re.IGNORECASE
)
LINES = re.compile(r"(?P<first>\d+)(?:\s*(?:-|to|\u2013)\s*(?P<last>\d+))?")


@dataclass(frozen=True, slots=True)
class Location:
    """A class, function or variable by its name, dotted, or a range of lines, counted from 1, both within."""

    kind: LocationKind
    name: str = ""
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        """Return the location as the grammar writes it."""
        span = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.kind}: {self.name or span}"


def parse_locations(text: str, paths: Collection[str], root: str = ROOT) -> dict[str, list[Location]]:
    """Read what places a model names, by file, in its order; files that there are not are left out.

    A file that is named without places has an empty list. A function that is named without its class belongs to the
    class that was named last in the same file, if that has such a one: ``intervals`` decides.

    Args:
        text: what the model said, with or without fences.
        paths: of the files that there are.
        root: of the repository, which models put before paths.
    """
    found: dict[str, list[Location]] = {}
    path, last_class = "", ""
    for line in text.splitlines():
        place = PLACE.match(line)
        if place is None:
            named = known_path(line, paths, root)
            if named is not None:
                path, last_class = named, ""
                if path:
                    found.setdefault(path, [])
        elif path:
            found[path] += [each for each in _located(place, last_class) if each not in found[path]]
            last_class = place["name"] if place["kind"].lower() == "class" else last_class
    return found


def _located(place: re.Match[str], last_class: str) -> Iterator[Location]:
    kind, name = place["kind"].lower(), place["name"].strip("`'\" ")
    if kind.startswith("line"):
        for each in LINES.finditer(name):
            first, last = int(each["first"]), int(each["last"] or each["first"])
            yield Location("line", "", min(first, last), max(first, last))
    elif kind == "class":
        yield Location("class", name)
    elif kind == "variable":
        yield Location("variable", name)
    else:
        bare = name.partition("(")[0].strip()
        yield Location("function", bare if "." in bare or not last_class else f"{last_class}.{bare}")


def known_path(line: str, paths: Collection[str], root: str = ROOT) -> str | None:
    """Return the file that a line of an answer names.

    Returns:
        its path; the only path that ends so, if the line names none that there is; empty if it names a file that there
        is not; None if the line names no file.
    """
    bare = clean_path(re.sub(r"^\s*(?:[-*#]+|\d+[.)])\s+", "", line), root).rstrip(":")
    bare = clean_path(bare, root)
    if bare in paths:
        return bare
    if " " in bare or PurePosixPath(bare).suffix not in SUFFIXES:
        return None
    ending = [path for path in paths if path.endswith(f"/{bare}") or bare.endswith(f"/{path}")]
    return ending[0] if len(ending) == 1 else ""


def parse_paths(text: str, paths: Collection[str], root: str = ROOT) -> list[str]:
    """Return the files that a model names, one a line, in its order, each once; others are left out."""
    named = (known_path(line, paths, root) for line in text.splitlines())
    return list(dict.fromkeys(path for path in named if path))


def intervals(
    locations: Sequence[Location], language: str, path: str, text: str, window: int = WINDOW
) -> list[Interval]:
    """Return the lines that locations of a file mean, with context, in order and without overlap.

    A name that occurs more than once means all of its places; a name that does not occur means none.

    Args:
        locations: of this file.
        language: name of the project's language.
        path: of the file.
        text: its content.
        window: lines of context before and after each place.

    Raises:
        UserError: there is no language of that name. PluginError: its grammar is not installed.
    """
    known = definitions(language, path, text)
    spans = [span for each in locations for span in _spans(each, known, (language, path, text))]
    return merged([(first - window, last + window) for first, last in spans], len(text.splitlines()))


def _spans(location: Location, known: Sequence[Definition], source: tuple[str, str, str]) -> list[Interval]:
    if location.kind == "line":
        return [(location.first, location.last)]
    written = variable_lines(location.name, known, *source) if location.kind == "variable" else []
    if written:
        return written
    return [(each.first, each.last) for each in resolve(location.name, known, location.kind.replace("variable", ""))]


def resolve(name: str, known: Sequence[Definition], kind: str = "") -> list[Definition]:
    """Return the definitions that a name may mean: those of that very name, else those it is the end of.

    A qualified name that is not there means its last part, as models often get the class wrong.

    Args:
        name: dotted or with ``::`` or ``#``.
        known: the file's definitions.
        kind: ``function`` or ``class`` to prefer; empty for both.
    """
    name = re.sub(r"::|#", ".", name).strip()
    of_kind = [each for each in known if not kind or each.kind == kind]
    for wanted in (name, name.rpartition(".")[2]):
        exact = [each for each in of_kind if each.name == wanted]
        ending = [each for each in of_kind if each.name.endswith(f".{wanted}")]
        if exact or ending:
            return exact or ending
    return resolve(name, known) if kind else []


def shown(text: str, spans: Sequence[Interval], numbered: bool = False) -> str:
    """Return the lines of intervals, with ``...`` where lines are left out; the whole text if there is no interval.

    Args:
        text: of the file.
        spans: in order and without overlap, counted from 1.
        numbered: put the number before each line.
    """
    lines = text.splitlines()
    parts: list[str] = []
    done = 0
    for first, last in spans or [(1, len(lines))]:
        parts += ["..."] if first > done + 1 else []
        parts += [
            f"{number}|{lines[number - 1]}" if numbered else lines[number - 1] for number in range(first, last + 1)
        ]
        done = last
    return "\n".join([*parts, *(["..."] if done < len(lines) else [])])


def told(locations: Mapping[str, Sequence[Location]]) -> str:
    """Return locations by file in the grammar in which they are read."""
    return "\n\n".join("\n".join([path, *map(str, places)]) for path, places in locations.items())
