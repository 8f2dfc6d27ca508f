"""Finding lines in a file that a model quoted, more or less exactly.

The ladder of CodeMonkeys (Ehrlich et al., 2025): the very lines; else the same lines but for white space; else lines
that are like them, at least half of the lines by a Levenshtein ratio of at least 0.8. All rungs work on whole lines.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

LIKE = 0.8
"""Ratio from which on two lines are alike."""
SHARE = 0.5
"""Share of the quoted lines that must be like the file's."""
TAB = " " * 4
"""What a tab stands for where nothing tells."""


class Match(StrEnum):
    """On which rung of the ladder lines were found, best first."""

    EXACT = "exact"
    WHITESPACE = "whitespace"
    """But for white space; blank lines count for nothing."""
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class MatchedLines:
    """Where quoted lines were found: lines ``first`` to ``last`` (exclusive) of the searched ones, from 0.

    ``pairs`` holds index of a quoted line and index of the line that it was found as; ``score`` counts lines that
    match, ``likeness`` adds up their ratios.
    """

    first: int
    last: int
    pairs: tuple[tuple[int, int], ...]
    score: int
    likeness: float


def search(lines: Sequence[str], quoted: Sequence[str], match: Match) -> list[MatchedLines]:
    """Return all places of quoted lines on one rung of the ladder, in their order; none for blank quotes.

    Args:
        lines: of the file, without line ends.
        quoted: what to find; on the first rung its blank lines count as well.
        match: the rung.
    """
    return RUNGS[match](lines, quoted) if any(line.strip() for line in quoted) else []


def _exact(lines: Sequence[str], quoted: Sequence[str]) -> list[MatchedLines]:
    size = len(quoted)
    starts = (start for start in range(len(lines) - size + 1) if lines[start] == quoted[0])
    found = (start for start in starts if list(lines[start : start + size]) == list(quoted))
    return [
        MatchedLines(start, start + size, tuple((index, start + index) for index in range(size)), size, float(size))
        for start in found
    ]


def _whitespace(lines: Sequence[str], quoted: Sequence[str]) -> list[MatchedLines]:
    found, wanted = _filled(lines), _filled(quoted)
    squeezed = ["".join(lines[index].split()) for index in found]
    sought = ["".join(quoted[index].split()) for index in wanted]
    size = len(wanted)
    starts = [at for at in range(len(found) - size + 1) if squeezed[at : at + size] == sought]
    return [_place(wanted, found[at:], [1.0] * size) for at in starts]


def _fuzzy(lines: Sequence[str], quoted: Sequence[str]) -> list[MatchedLines]:
    """Return windows with enough lines that are alike; of those that overlap, the best."""
    kept: list[MatchedLines] = []
    for place in sorted(_windows(lines, quoted), key=goodness, reverse=True):
        better = (each for each in kept if goodness(each) > goodness(place))
        if not any(each.first < place.last and place.first < each.last for each in better):
            kept.append(place)
    return sorted(kept, key=lambda each: each.first)


RUNGS: Mapping[Match, Callable[[Sequence[str], Sequence[str]], list[MatchedLines]]] = {
    Match.EXACT: _exact,
    Match.WHITESPACE: _whitespace,
    Match.FUZZY: _fuzzy,
}


def goodness(place: MatchedLines) -> tuple[int, float]:
    """Return by what places are compared: lines that match, then how well they do."""
    return place.score, round(place.likeness, 6)


def _filled(lines: Sequence[str]) -> list[int]:
    return [index for index, line in enumerate(lines) if line.strip()]


def _place(wanted: Sequence[int], found: Sequence[int], ratios: Sequence[float]) -> MatchedLines:
    pairs = tuple(zip(wanted, found, strict=False))
    alike = [each for each in ratios if each >= LIKE]
    return MatchedLines(pairs[0][1], pairs[-1][1] + 1, pairs, len(alike), sum(alike))


def _windows(lines: Sequence[str], quoted: Sequence[str]) -> Iterator[MatchedLines]:
    """Lay the quoted lines over every run of as many lines, none of them blank; yield where enough are alike."""
    found, wanted = _filled(lines), _filled(quoted)
    known: dict[tuple[str, str], float] = {}
    allowed = len(wanted) - math.ceil(SHARE * len(wanted))
    for start in range(len(found) - len(wanted) + 1):
        ratios: list[float] = []
        misses = 0
        for index, at in zip(wanted, found[start : start + len(wanted)], strict=True):
            pair = quoted[index].strip(), lines[at].strip()
            if pair not in known:
                known[pair] = ratio(*pair)
            ratios.append(known[pair])
            misses += known[pair] < LIKE
            if misses > allowed:
                break
        else:
            yield _place(wanted, found[start:], ratios)


def ratio(first: str, second: str) -> float:
    """Return 1 - Levenshtein distance / length of the longer text; 0 for anything below ``LIKE``, which saves work."""
    if first == second:
        return 1.0
    longest = max(len(first), len(second))
    allowed = int((1 - LIKE) * longest + 1e-9)
    if abs(len(first) - len(second)) > allowed or _letters_apart(first, second) > allowed:
        return 0.0
    distance = _distance(first, second)
    return 1 - distance / longest if distance <= allowed else 0.0


@lru_cache(maxsize=16_384)
def _letters(text: str) -> Counter[str]:
    return Counter(text)


def _letters_apart(first: str, second: str) -> int:
    """Return a lower bound of the distance: how many letters of one the other has not."""
    ours, theirs = _letters(first), _letters(second)
    shared = sum(min(count, theirs[letter]) for letter, count in ours.items())
    return max(len(first), len(second)) - shared


def _distance(first: str, second: str) -> int:
    """Return the Levenshtein distance: insertions, deletions and substitutions, each of cost 1.

    The columns of the table are kept as bits of two numbers, where it grows and where it shrinks from row to row
    (Myers, 1999; Hyyroe, 2001).
    """
    places: dict[str, int] = {}
    for index, letter in enumerate(first):
        places[letter] = places.get(letter, 0) | 1 << index
    mask, last = (1 << len(first)) - 1, 1 << len(first) >> 1
    grows, shrinks, distance = mask, 0, len(first)
    for letter in second:
        same = places.get(letter, 0) | shrinks
        across = (((same & grows) + grows) ^ grows) | same
        more, less = (shrinks | ~(across | grows)) & mask, grows & across
        distance += bool(more & last) - bool(less & last)
        more, less = (more << 1 | 1) & mask, less << 1 & mask
        grows, shrinks = (less | ~(same | more)) & mask, more & same
    return distance


def reindented(new: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines indented as the file does it, as far as lines that were found tell how.

    Args:
        new: lines in the model's indentation.
        pairs: a quoted line and the file's line that it was found as.
    """
    known = {_indent(quoted): _indent(found) for quoted, found in reversed(pairs)}
    return [_moved(line, known) if line.strip() else "" for line in new]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _moved(line: str, known: Mapping[str, str]) -> str:
    """Give a line the file's indentation: the known one, or that of the nearest known one, further in or out."""
    own, said = _indent(line), line.lstrip()
    step, ours = _steps(known)
    shallower = [each for each in known if own.startswith(each)]
    if shallower:
        nearest = max(shallower, key=len)
        return known[nearest] + _counted(own[len(nearest) :], step, ours) + said
    nearest = min(known, key=len, default="")
    surplus = len(_counted(nearest[len(own) :], step, ours))
    return known.get(nearest, "")[: max(0, len(known.get(nearest, "")) - surplus)] + said


def _steps(known: Mapping[str, str]) -> tuple[str, str]:
    """Return one step of indentation of the model, and the file's; equal ones if nothing tells."""
    by_depth = sorted(known.items(), key=lambda each: len(each[0]))
    for (quoted, found), (deeper, found_deeper) in pairwise(by_depth):
        if deeper.startswith(quoted) and found_deeper.startswith(found) and len(found_deeper) > len(found):
            return deeper[len(quoted) :], found_deeper[len(found) :]
    has_tabs = any("\t" in found for found in known.values()), any("\t" in quoted for quoted in known)
    if has_tabs[0] == has_tabs[1]:
        return "", ""
    return (TAB, "\t") if has_tabs[0] else ("\t", TAB)


def _counted(indent: str, step: str, ours: str) -> str:
    """Return an indentation in the file's steps, if it is made of the model's."""
    times = len(indent) // len(step) if step else 0
    return ours * times if step and step * times == indent else indent
