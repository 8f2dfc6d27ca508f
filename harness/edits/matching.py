"""Find lines that a model quoted in a file, exactly or nearly.

Three kinds of match after CodeMonkeys (Ehrlich et al., 2025), strictest first: equal lines; lines equal except for
white space; similar lines, at least half of them with a Levenshtein ratio of at least 0.8. All work on whole lines.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

LIKE = 0.8  # smallest ratio of two similar lines
SHARE = 0.5  # smallest share of quoted lines that must be similar
TAB = " " * 4  # width of a tab where the lines do not show it


class Match(StrEnum):
    """Kind of match, strictest first."""

    EXACT = "exact"
    WHITESPACE = "whitespace"
    """Equal except for white space; blank lines are ignored."""
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class MatchedLines:
    """A place of quoted lines: lines ``first`` to ``last`` (exclusive) of the searched ones, counted from 0.

    ``pairs`` holds the index of each quoted line and of the line that it matched; ``score`` is the number of similar
    lines, ``likeness`` the sum of their ratios.
    """

    first: int
    last: int
    pairs: tuple[tuple[int, int], ...]
    score: int
    likeness: float


def search(lines: Sequence[str], quoted: Sequence[str], match: Match) -> list[MatchedLines]:
    """Return all places of quoted lines by one kind of match, in order; none for blank quotes.

    An exact match includes the blank lines of the quote.
    """
    return FINDERS[match](lines, quoted) if any(line.strip() for line in quoted) else []


def _exact(lines: Sequence[str], quoted: Sequence[str]) -> list[MatchedLines]:
    size = len(quoted)
    starts = (start for start in range(len(lines) - size + 1) if lines[start] == quoted[0])
    found = (start for start in starts if list(lines[start : start + size]) == list(quoted))
    return [
        MatchedLines(start, start + size, tuple((index, start + index) for index in range(size)), size, float(size))
        for start in found
    ]


def _whitespace(lines: Sequence[str], quoted: Sequence[str]) -> list[MatchedLines]:
    found, wanted = _list_filled(lines), _list_filled(quoted)
    squeezed = ["".join(lines[index].split()) for index in found]
    sought = ["".join(quoted[index].split()) for index in wanted]
    size = len(wanted)
    starts = [at for at in range(len(found) - size + 1) if squeezed[at : at + size] == sought]
    return [_place(wanted, found[at:], [1.0] * size) for at in starts]


def _fuzzy(lines: Sequence[str], quoted: Sequence[str]) -> list[MatchedLines]:
    """Return windows with enough similar lines; of overlapping ones the best."""
    kept: list[MatchedLines] = []
    for place in sorted(_windows(lines, quoted), key=goodness, reverse=True):
        better = (each for each in kept if goodness(each) > goodness(place))
        if not any(each.first < place.last and place.first < each.last for each in better):
            kept.append(place)
    return sorted(kept, key=lambda each: each.first)


FINDERS: Mapping[Match, Callable[[Sequence[str], Sequence[str]], list[MatchedLines]]] = {
    Match.EXACT: _exact,
    Match.WHITESPACE: _whitespace,
    Match.FUZZY: _fuzzy,
}


def goodness(place: MatchedLines) -> tuple[int, float]:
    """Return the sort key of places: number of similar lines, then the sum of their ratios."""
    return place.score, round(place.likeness, 6)


def _list_filled(lines: Sequence[str]) -> list[int]:
    return [index for index, line in enumerate(lines) if line.strip()]


def _place(wanted: Sequence[int], found: Sequence[int], ratios: Sequence[float]) -> MatchedLines:
    pairs = tuple(zip(wanted, found, strict=False))
    alike = [each for each in ratios if each >= LIKE]
    return MatchedLines(pairs[0][1], pairs[-1][1] + 1, pairs, len(alike), sum(alike))


def _windows(lines: Sequence[str], quoted: Sequence[str]) -> Iterator[MatchedLines]:
    """Compare the quoted lines with every run of as many non-blank lines; yield those with enough similar lines."""
    found, wanted = _list_filled(lines), _list_filled(quoted)
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
    """Return 1 - Levenshtein distance / length of the longer text; 0 for any ratio below ``LIKE``."""
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
    """Return a lower bound of the distance: the number of letters of one text that the other lacks."""
    ours, theirs = _letters(first), _letters(second)
    shared = sum(min(count, theirs[letter]) for letter, count in ours.items())
    return max(len(first), len(second)) - shared


def _distance(first: str, second: str) -> int:
    """Return the Levenshtein distance: insertions, deletions and substitutions, each of cost 1.

    Bit-parallel: two integers hold where a column of the table grows and shrinks from row to row (Myers, 1999; Hyyroe,
    2001).
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


def reindent(new: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines in the file's indentation; ``pairs`` are a quoted line and the file's line that it matched."""
    known = {_indent(quoted): _indent(found) for quoted, found in reversed(pairs)}
    return [_move_line(line, known) if line.strip() else "" for line in new]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _move_line(line: str, known: Mapping[str, str]) -> str:
    """Return a line with the file's indentation: the known one, or one derived from the nearest known one."""
    own, said = _indent(line), line.lstrip()
    step, ours = _steps(known)
    shallower = [each for each in known if own.startswith(each)]
    if shallower:
        nearest = max(shallower, key=len)
        return known[nearest] + _count_steps(own[len(nearest) :], step, ours) + said
    nearest = min(known, key=len, default="")
    surplus = len(_count_steps(nearest[len(own) :], step, ours))
    return known.get(nearest, "")[: max(0, len(known.get(nearest, "")) - surplus)] + said


def _steps(known: Mapping[str, str]) -> tuple[str, str]:
    """Return one step of indentation of the model and of the file; empty ones if unknown."""
    by_depth = sorted(known.items(), key=lambda each: len(each[0]))
    for (quoted, found), (deeper, found_deeper) in pairwise(by_depth):
        if deeper.startswith(quoted) and found_deeper.startswith(found) and len(found_deeper) > len(found):
            return deeper[len(quoted) :], found_deeper[len(found) :]
    has_tabs = any("\t" in found for found in known.values()), any("\t" in quoted for quoted in known)
    if has_tabs[0] == has_tabs[1]:
        return "", ""
    return (TAB, "\t") if has_tabs[0] else ("\t", TAB)


def _count_steps(indent: str, step: str, ours: str) -> str:
    """Return an indentation in the file's steps, if it consists of the model's steps."""
    times = len(indent) // len(step) if step else 0
    return ours * times if step and step * times == indent else indent
