"""The functions that a comparison aims at: those that a change touches. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from pathlib import PurePosixPath

from assay.harness import languages
from assay.harness.languages.syntax import Definition, definitions, innermost
from assay.harness.patchdiff.sides import Side

MOST = 10
"""Targets of one comparison, as in the PatchDiff paper (arXiv 2503.15223)."""
USERS = 3
"""Other files that use what one file holds at its top level, at most."""
WHOLE_MODULE = "<module>"
SIDES = (Side.BASE, Side.GOLD, Side.CANDIDATE)
_IDLE = re.compile(r"\s*(?:import\b|from\b|use\b|#|//|[)\]}]|$)|[\w\s,()]+$")
"""A line at a file's top level that does nothing by itself: an import or a part of one, a comment."""
_DEFINES = re.compile(r"(?:(?:export|const|let|var|static|final|pub)\s+)*(\w+)\s*(?::[^=]*)?=[^=]")


Place = tuple[int, int]
_ALL: tuple[Place, ...] = ((1, 10**9),)
_FOLDERS_OWN = frozenset({"__init__", "index", "mod", "lib"})
"""Files that go by the name of their folder."""
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
"""Stands for bytes that are no text."""


@dataclass(frozen=True, slots=True)
class Target:
    """A function in which gold and the candidate differ, or a file that differs outside of any.

    ``places`` has its first and last line, from 1, on each side that has it. A name that is defined more
    than once (again, or as a property's getter and setter) has as many places.
    """

    path: str
    name: str
    places: Mapping[Side, tuple[Place, ...]]

    @property
    def label(self) -> str:
        """Name for people: ``path::Class.method``."""
        return f"{self.path}::{self.name}"


Texts = Mapping[Side, Mapping[str, str]]
"""The touched files of each side, by path; a side that lacks a file has no entry."""


def targets(language: str, texts: Texts) -> tuple[Target, ...]:
    """Return what gold or the candidate changes, at most ``MOST``.

    That is what differs between the two: where both changed the same, neither can behave differently by itself, and
    what calls or is called by something that differs reaches that. If nothing differs it is all that gold changes.
    Test files are left out: they are the same on all sides.
    """
    module = languages.find(language)
    paths = sorted({path for each in texts.values() for path in each if not module.is_test_file(path)})
    here = {path: {side: definitions(language, path, texts[side].get(path, "")) for side in SIDES} for path in paths}
    apart = [(path, name) for path in paths for name in _changed(path, texts, here[path], Side.GOLD, Side.CANDIDATE)]
    found = apart or [
        (path, name) for path in paths for name in _changed(path, texts, here[path], Side.BASE, Side.GOLD)
    ]
    found.sort(key=lambda key: key[1] == WHOLE_MODULE)
    return tuple(Target(path, name, _places(name, here[path])) for path, name in found[:MOST])


def apart(language: str, changed: Collection[str], texts: Texts) -> dict[str, tuple[Place, ...]] | None:
    """Return where gold has the functions in which gold and the candidate differ, by path; None if more may differ.

    A run that enters none of them cannot show a difference. ``changed`` are the paths of all files that either changes.
    """
    found: dict[str, tuple[Place, ...]] = {}
    for path in sorted(changed):
        both = [texts[side].get(path) for side in (Side.GOLD, Side.CANDIDATE)]
        gold, candidate = (UNREADABLE if text is None else text for text in both)
        if UNREADABLE in gold or UNREADABLE in candidate:
            return None
        if gold == candidate:
            continue
        lines = gold.splitlines(), candidate.splitlines()
        functions = [
            [each for each in definitions(language, path, text) if each.kind == "function"]
            for text in (gold, candidate)
        ]
        for at, number in _changes(*lines):
            around = next((each for each in functions[at] if each.first <= number <= each.last), None)
            places = [(each.first, each.last) for each in functions[0] if around and each.name == around.name]
            if lines[at][number - 1].strip() and not places:
                return None
            found[path] = tuple(dict.fromkeys((*found.get(path, ()), *places)))
    return found


@dataclass(frozen=True, slots=True)
class Loose:
    """Names that a file defines at its top level, on changed lines, and that no function of the file uses."""

    path: str
    names: frozenset[str]

    @property
    def module(self) -> str:
        """The name by which other files import the file."""
        path = PurePosixPath(self.path)
        return path.parent.name if path.stem in _FOLDERS_OWN else path.stem


def loose(texts: Texts, found: Iterable[Target]) -> list[Loose]:
    """Return the names behind targets that are whole files: their users are in other files."""
    named = []
    for path in (each.path for each in found if each.name == WHOLE_MODULE):
        base, gold, candidate = (texts[side].get(path, "").splitlines() for side in SIDES)
        before, after = (gold, candidate) if gold != candidate else (base, gold)
        names = {_defined_at((before, after)[at], number) for at, number in _changes(before, after)}
        named.append(Loose(path, frozenset(names - {""})))
    return [each for each in named if each.names]


def users(names: Sequence[Loose], mentions: Mapping[str, Collection[str]], room: int) -> tuple[Target, ...]:
    """Return the files that use such names as targets of their own, those in the nearest folders first.

    Args:
        names: as ``loose`` finds them.
        mentions: which of the names, and of the names' modules, stand in a source file, by its path.
        room: for so many targets.
    """
    using = {
        path: max(_shared_folders(path, each.path) for each in named)
        for path, words in mentions.items()
        if (named := [each for each in names if path != each.path and each.module in words and each.names & {*words}])
    }
    nearest = sorted(using, key=lambda path: (-using[path], path))
    return tuple(Target(path, WHOLE_MODULE, dict.fromkeys(SIDES, _ALL)) for path in nearest[: min(room, USERS)])


def _shared_folders(path: str, other: str) -> int:
    pairs = zip(PurePosixPath(path).parts[:-1], PurePosixPath(other).parts[:-1], strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _changed(
    path: str, texts: Texts, here: Mapping[Side, Sequence[Definition]], before: Side, after: Side
) -> list[str]:
    """Return the names of a file's functions that differ between two sides, or use what differs at its top level.

    The file as a whole stands in where no function can be named.
    """
    lines = {side: texts[side].get(path, "").splitlines() for side in (before, after)}
    names: dict[str, None] = {}
    for at, number in _changes(lines[before], lines[after]):
        side = (before, after)[at]
        names.update(dict.fromkeys(_names_at(here[side], lines[side], number)))
    if texts[before].get(path) != texts[after].get(path) and not names:
        return [WHOLE_MODULE]
    return list(names)


def _names_at(found: Sequence[Definition], lines: Sequence[str], number: int) -> list[str]:
    """Return what stands for one line: the function around it, or those that use what the line defines."""
    text = lines[number - 1]
    name = _name_at(found, number)
    if name != WHOLE_MODULE or _IDLE.match(text):
        return [name] if text.strip() and name != WHOLE_MODULE else []
    defined = _defined_at(lines, number)
    if not defined:
        return [WHOLE_MODULE]
    uses = re.compile(rf"\b{re.escape(defined)}\b")
    functions = [each for each in found if each.kind == "function"]
    users = [each.name for each in functions if any(map(uses.search, lines[each.first - 1 : each.last]))]
    return list(dict.fromkeys(users)) or [WHOLE_MODULE]


def _defined_at(lines: Sequence[str], number: int) -> str:
    """Return the name that the top-level statement around a line defines, by how such statements look; "" if none."""
    for line in reversed(lines[:number]):
        if line[:1].strip() and line[0] not in ")]}":
            match = _DEFINES.match(line)
            return match[1] if match else ""
    return ""


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield 0 and the number of each line of ``before`` that is gone or changed, 1 and that of each new one."""
    for tag, start, end, from_, to in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from ((0, number) for number in range(start + 1, end + 1))
            yield from ((1, number) for number in range(from_ + 1, to + 1))


def _name_at(found: Sequence[Definition], line: int) -> str:
    functions = [each for each in found if each.kind == "function"]
    around = innermost(functions, line) or innermost(found, line)
    return around.name if around else WHOLE_MODULE


def _places(name: str, here: Mapping[Side, Sequence[Definition]]) -> dict[Side, tuple[Place, ...]]:
    if name == WHOLE_MODULE:
        return dict.fromkeys(here, _ALL)
    places = {
        side: tuple((each.first, each.last) for each in found if each.name == name) for side, found in here.items()
    }
    return {side: place for side, place in places.items() if place}
