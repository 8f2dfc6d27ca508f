"""The functions that a comparison aims at: what a change touches. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import commonpath, dirname

from assay.harness import languages
from assay.harness.languages import differences
from assay.harness.languages.differences import (
    WHOLE_MODULE,
    Span,
    find_changed_lines,
    find_changed_names,
    find_defined_name,
)
from assay.harness.languages.syntax import Definition, definitions
from assay.harness.patchdiff.sides import Side

MOST = 10  # targets of one comparison, as in the PatchDiff paper (arXiv 2503.15223)
USERS = 3  # targets, at most, that are files which use what a changed file holds at its top level
SIDES = (Side.BASE, Side.GOLD, Side.CANDIDATE)
_ALL: tuple[Span, ...] = ((1, 10**9),)
_FOLDERS_OWN = frozenset({"__init__", "index", "mod", "lib"})  # files that go by the name of their folder
UNREADABLE = "\N{REPLACEMENT CHARACTER}"  # stands for bytes that are no text


@dataclass(frozen=True, slots=True)
class Target:
    """A function in which gold and the candidate differ, or a file that differs outside of any.

    ``places`` has its first and last line, from 1, on each side that has it. A name that is defined more than once
    (again, or as a property's getter and setter) has several places.
    """

    path: str
    name: str
    places: Mapping[Side, tuple[Span, ...]]

    @property
    def label(self) -> str:
        return f"{self.path}::{self.name}"


Texts = Mapping[Side, Mapping[str, str]]
"""The touched files of each side, by path; a side that lacks a file has no entry."""


def find_targets(language: str, texts: Texts) -> tuple[Target, ...]:
    """Return up to ``MOST`` functions that differ between gold and the candidate; if none does, gold's changed ones.

    Where both changed the same, neither can behave differently by itself, and callers or callees of something that
    differs reach that. Test files are left out: they are the same on all sides.
    """
    module = languages.find(language)
    paths = sorted({path for each in texts.values() for path in each if not module.is_test_file(path)})
    apart = [(path, name) for path in paths for name in _find_changed(language, path, texts, Side.GOLD, Side.CANDIDATE)]
    found = apart or [
        (path, name) for path in paths for name in _find_changed(language, path, texts, Side.BASE, Side.GOLD)
    ]
    found.sort(key=lambda key: key[1] == WHOLE_MODULE)
    touched = {path for path, _ in found[:MOST]}
    here = {path: {side: definitions(language, path, texts[side].get(path, "")) for side in SIDES} for path in touched}
    return tuple(Target(path, name, _places(name, here[path])) for path, name in found[:MOST])


def _find_changed(language: str, path: str, texts: Texts, before: Side, after: Side) -> list[str]:
    return find_changed_names(language, path, texts[before].get(path), texts[after].get(path))


def _places(name: str, here: Mapping[Side, Sequence[Definition]]) -> dict[Side, tuple[Span, ...]]:
    if name == WHOLE_MODULE:
        return dict.fromkeys(here, _ALL)
    spans = {side: tuple((one.first, one.last) for one in found if one.name == name) for side, found in here.items()}
    return {side: span for side, span in spans.items() if span}


def find_spans(language: str, changed: Collection[str], texts: Texts) -> dict[str, tuple[Span, ...]] | None:
    """Return the line spans, per file, of gold's functions that differ from the candidate. None: unknown.

    A run that enters none of them cannot show a difference. ``changed`` are the paths of all files that either changes.
    """
    found = {}
    for path in sorted(changed):
        gold, candidate = (texts[side].get(path, UNREADABLE) for side in (Side.GOLD, Side.CANDIDATE))
        spans = None if UNREADABLE in gold + candidate else differences.differing_spans(language, path, gold, candidate)
        if spans is None:
            return None
        found[path] = spans
    return {path: spans for path, spans in found.items() if spans}


@dataclass(frozen=True, slots=True)
class Loose:
    """Names that a file defines at its top level, on changed lines, and that no function of the file uses."""

    path: str
    names: frozenset[str]

    @property
    def module(self) -> str:
        path = PurePosixPath(self.path)
        return path.parent.name if path.stem in _FOLDERS_OWN else path.stem


def find_loose(texts: Texts, found: Iterable[Target]) -> list[Loose]:
    """Return the names behind targets that are whole files: their users are in other files."""
    named = []
    for path in (each.path for each in found if each.name == WHOLE_MODULE):
        base, gold, candidate = (texts[side].get(path, "").splitlines() for side in SIDES)
        before, after = (gold, candidate) if gold != candidate else (base, gold)
        names = {find_defined_name((before, after)[at], number) for at, number in find_changed_lines(before, after)}
        named.append(Loose(path, frozenset(names - {""})))
    return [each for each in named if each.names]


def find_users(names: Sequence[Loose], mentions: Mapping[str, Collection[str]], room: int) -> tuple[Target, ...]:
    """Return the files that use such names as targets of their own, those in the nearest folders first.

    Args:
        names: the result of ``find_loose``.
        mentions: by source file, the names and the names' modules that it mentions.
        room: the greatest number of targets.
    """
    using = {
        path: max(len(PurePosixPath(commonpath([dirname(path), dirname(each.path)])).parts) for each in named)
        for path, words in mentions.items()
        if (named := [each for each in names if path != each.path and each.module in words and each.names & {*words}])
    }
    nearest = sorted(using, key=lambda path: (-using[path], path))
    return tuple(Target(path, WHOLE_MODULE, dict.fromkeys(SIDES, _ALL)) for path in nearest[: min(room, USERS)])
