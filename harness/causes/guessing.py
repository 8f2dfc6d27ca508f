"""Guesses which hunks of a patch are needed, by words alone. They save evaluations and decide nothing. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from assay.harness import languages
from assay.harness.causes.parts import Kept, PatchParts
from assay.harness.domain import Instance
from assay.harness.languages.base import Lines
from assay.harness.patches.diff import MalformedPatchError, read_diff

RARE = 2  # hunks at most that have a word which ties a hunk to the tests
MOST = 4  # hunks that the first guess begins with
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_IMPORT = re.compile(r"\s*(?:from\s+\S+\s+import|import|use|using|#\s*include|(?:const|let|var)\s.*\brequire)\b")
_VERSION = re.compile(r"version", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Guess:
    """Hunks, those most likely needed first, and parts of them that may do, small ones first."""

    order: tuple[Kept, ...]
    parts: tuple[tuple[Kept, ...], ...]


@dataclass(frozen=True, slots=True)
class _Hunk:
    atoms: Kept
    path: str
    words: frozenset[str]
    """Words of its changed lines, and of the line that names what is around them."""
    defined: frozenset[str]
    imported: frozenset[str]
    is_idle: bool
    """Changes nothing that a test is likely to notice."""


def guess_hunks(parts: PatchParts, units: Sequence[Kept], instance: Instance) -> Guess:
    """Order hunks by the rare words that they share with the tests, each followed by hunks that define its words."""
    gold = _read_changed(instance.gold_patch)
    hunks = [_describe(parts, unit, instance) for unit in units]
    shares = [_is_golden(parts, unit, gold) for unit in units]
    sources = [
        hunk
        for hunk, is_golden in zip(hunks, shares, strict=True)
        if not hunk.is_idle and (is_golden or not any(shares))
    ]
    wanted = {*_WORD.findall("\n".join(_read_changed(instance.test_patch)))}
    wanted |= {*_WORD.findall("\n".join(instance.fail_to_pass))}
    found = Counter(word for hunk in sources for word in hunk.words & wanted)
    scores = {hunk.atoms: sum(1 / found[word] ** 2 for word in hunk.words & wanted) for hunk in sources}
    tied = {hunk.atoms for hunk in sources if any(found[word] <= RARE for word in hunk.words & wanted)}
    ranked = sorted(sources, key=lambda hunk: -scores[hunk.atoms])
    order = [*dict.fromkeys(each for hunk in ranked for each in _add_defining(hunk, sources))]
    first = {each for hunk in ranked[:MOST] if hunk.atoms in tied for each in _add_defining(hunk, sources)}
    small = tuple(each for each in order if each in first)
    guesses = [tuple(order)] if order else []
    if small and 2 * len(small) <= len(order):
        guesses.insert(0, small)
    return Guess((*order, *(unit for unit in units if unit not in scores)), tuple(guesses))


def guess_lines(parts: PatchParts, units: Sequence[Kept], instance: Instance) -> Guess:
    """Put blank lines and comments last, which are probably not needed."""
    lines = _find_lines(instance)
    idle = [unit for unit in units if all(_is_quiet(line.text, lines) for line in parts.list_lines(unit))]
    rest = tuple(unit for unit in units if unit not in idle)
    return Guess((*rest, *idle), (rest,) if rest else ())


def _add_defining(hunk: _Hunk, hunks: Sequence[_Hunk]) -> Iterator[Kept]:
    """Yield a hunk and, from near to far, the hunks that define its words."""
    found, waiting = {hunk.atoms}, [hunk]
    yield hunk.atoms
    while waiting:
        user = waiting.pop(0)
        for other in hunks:
            names = other.defined | (other.imported if other.path == user.path else frozenset())
            if other.atoms not in found and names & user.words:
                found.add(other.atoms)
                waiting.append(other)
                yield other.atoms


def _describe(parts: PatchParts, atoms: Kept, instance: Instance) -> _Hunk:
    language, lines = languages.find_or_none(instance.language), _find_lines(instance)
    path, changed = parts.get_path(atoms), parts.list_lines(atoms)
    loud = [line.text for line in changed if not _is_quiet(line.text, lines)]
    new = [line.text for line in changed if line.mark == "+"]
    imports = [text for text in new if _IMPORT.match(text)]
    is_source = language is None or (
        PurePosixPath(path).suffix in language.SUFFIXES and not language.is_test_file(path)
    )
    return _Hunk(
        atoms,
        path,
        words=frozenset(_WORD.findall("\n".join((*loud, parts.get_section(atoms))))),
        defined=frozenset(name for text in new for each in lines.definitions for name in re.findall(each, text)),
        imported=frozenset(_WORD.findall("\n".join(imports))),
        is_idle=not is_source or (bool(changed) and all(_VERSION.search(text) for text in loud)),
    )


def _read_changed(patch: str) -> frozenset[str]:
    """Return the changed lines of a patch without the space around; none of one that cannot be read."""
    try:
        changes = read_diff(patch)
    except MalformedPatchError:
        return frozenset()
    lines = (line for change in changes for hunk in change.hunks for line in hunk.lines if line.mark in "+-")
    return frozenset(text for line in lines if (text := line.text.strip()))


def _is_golden(parts: PatchParts, atoms: Kept, gold: frozenset[str]) -> bool:
    """Return whether most lines of a hunk are changed by the gold patch, too."""
    texts = [text for line in parts.list_lines(atoms) if (text := line.text.strip())]
    return sum(text in gold for text in texts) * 2 > len(texts)


def _find_lines(instance: Instance) -> Lines:
    language = languages.find_or_none(instance.language)
    return language.LINES if language else Lines()


def _is_quiet(text: str, lines: Lines) -> bool:
    """Return whether a line is blank or a comment, as far as a line shows that."""
    return not text.strip() or text.strip().startswith(lines.comments)
