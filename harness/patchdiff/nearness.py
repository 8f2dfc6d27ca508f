"""Order test files by how near they are to a change: names, folders, and words shared with it. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import PurePosixPath

from assay.harness.languages.copying import read_text

MOST_WORDS = 80
FEWEST_QUOTED, MOST_QUOTED = 10, 40
_QUOTED = re.compile(r"""(\b[rR]?[bBuUfF]?[rR]?|)(["'])((?:\\.|(?!\2)[^\\\n]){1,40})\2""")
_NUMBER = re.compile(r"(?<![\w.])(?:[3-9]|\d{2,7})(?![\w.])")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_PART = re.compile(r"_+|\W+|(?<=[a-z0-9])(?=[A-Z])")
_SAYS_NOTHING = frozenset({"test", ""})
_TEST_NAME = re.compile(r"(?:^|[_.-])(?:tests?|spec)(?:[_.-]|$)|^Test[A-Z_]|[a-z0-9](?:Tests?|Spec)$")


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """The change that test files are compared with."""

    sources: Sequence[str]
    words: Sequence[str] = ()
    mentions: Mapping[str, Iterable[str]] = field(default_factory=dict)
    """The words that each test file contains, by its path."""


def find_words(names: Iterable[str], *diffs: str) -> list[str]:
    """Return up to ``MOST_WORDS`` words: of names, of the changed lines of diffs, of functions in hunk headers."""
    found = dict.fromkeys(word for name in names for word in _WORD.findall(name))
    for line in "\n".join(diffs).splitlines():
        if line.startswith("@@"):
            found.update(dict.fromkeys(_WORD.findall(line.split("@@", 2)[-1])))
        elif line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- ")):
            found.update(dict.fromkeys(_WORD.findall(line)))
    return list(found)[:MOST_WORDS]


def find_quoted(apart: str, *diffs: str) -> tuple[str, ...]:
    """Return the quoted texts and the numbers on changed lines of unified diffs, each once.

    Escapes are resolved as most languages resolve them. Numbers up to two are tried anyway.

    Args:
        apart: the difference between the two patches; its texts come first.
        diffs: the changes of each, which give about as many texts as ``apart``: a long change does not bury those.
    """
    near, far = _find_quoted([apart]), _find_quoted(diffs)
    others = [text for text in far if text not in near]
    return tuple([*near, *others[: max(FEWEST_QUOTED, len(near))]][:MOST_QUOTED])


def _find_quoted(diffs: Iterable[str]) -> list[str]:
    lines = [line for diff in diffs for line in diff.splitlines() if line.startswith(("+", "-"))]
    found = dict.fromkeys(
        read_text(text, raw="r" in prefix.lower()) for line in lines for prefix, _mark, text in _QUOTED.findall(line)
    )
    numbers = dict.fromkeys(number for line in lines for number in _NUMBER.findall(_QUOTED.sub("", line)))
    return [text for text in [*found, *numbers] if text.strip(" ")]


def select_named(own: Iterable[str], tests: Iterable[str]) -> list[str]:
    """Drop files that a runner would hardly take for tests, such as the small projects that tests work on.

    Only where the name of one of the instance's own test files shows that the project marks tests by their names;
    others may be helpers that are changed along with it.
    """

    def is_marked(path: str) -> bool:
        return bool(_TEST_NAME.search(PurePosixPath(path).stem))

    return [path for path in tests if is_marked(path)] if any(map(is_marked, own)) else list(tests)


def sort_nearest(tests: Iterable[str], first: Iterable[str], change: ChangeSummary) -> list[str]:
    """Order test files by how likely they exercise a change, those in suites without a ``first`` file last.

    Three scores count alike: names and folders shared with the changed files, the change's words in the test file's
    path, and its names in the test file's text. Rare words count more. The ``first`` files, which have the instance's
    own tests, come before all others.
    """
    known = sorted(set(tests))
    rank = {path: number for number, path in enumerate(dict.fromkeys(first))}
    homes = {PurePosixPath(path).parts[:1] for path in rank}
    words = {part for word in (*change.words, *change.sources) for part in _split_name(word)}
    nearness = _add_scores(
        {test: max((_kinship(test, each) for each in change.sources), default=0.0) for test in known},
        _rarity({test: _split_name(test) & words for test in known}),
        _rarity({test: set(change.mentions.get(test, ())) for test in known}),
    )

    def distance(test: str) -> tuple[int, bool, float, str]:
        return rank.get(test, len(rank)), PurePosixPath(test).parts[:1] not in homes, -nearness[test], test

    return sorted(known, key=distance)


def _add_scores(*scores: Mapping[str, float]) -> dict[str, float]:
    highest = [max(each.values(), default=0.0) or 1.0 for each in scores]
    return {path: sum(each[path] / most for each, most in zip(scores, highest, strict=True)) for path in scores[0]}


def _rarity(words: Mapping[str, set[str]]) -> dict[str, float]:
    """Return the summed weight of each file's words: the logarithm of how few files have them."""
    files = Counter(word for each in words.values() for word in each)
    return {path: sum(log((len(words) + 1) / (files[word] + 1)) for word in each) for path, each in words.items()}


def _split_name(name: str) -> set[str]:
    """Return the words of a name, or of a path without its suffix: lower case, without a final s."""
    stem = str(PurePosixPath(name).with_suffix("")) if "/" in name or "." in name else name
    return {part.lower().removesuffix("s") for part in _PART.split(stem)} - _SAYS_NOTHING


def _kinship(test: str, source: str) -> float:
    """Score shared words of the name and shared folders: ``tests/http/test_cookies.py`` is near ``http/cookies.py``."""
    here, there = PurePosixPath(test), PurePosixPath(source)
    words, theirs = _split_name(here.stem), _split_name(there.stem)
    folders, their_folders = set(here.parts[:-1]), set(there.parts[:-1])
    pairs = (words, theirs), (folders, their_folders)
    of_name, of_folders = (len(one & other) / (len(one | other) or 1) for one, other in pairs)
    return 2 * of_name + of_folders
