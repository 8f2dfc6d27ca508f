"""Look at the trees before probing: their changed files, the targets, and the test files, nearest first."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from assay.harness import languages
from assay.harness.domain import Instance
from assay.harness.languages.differences import WHOLE_MODULE, Span
from assay.harness.patchdiff.asking import find_promised
from assay.harness.patchdiff.nearness import ChangeSummary, find_quoted, find_words, select_named, sort_nearest
from assay.harness.patchdiff.sides import OUT, Side, SideJob, Sides, read_files
from assay.harness.patchdiff.targets import MOST, SIDES, Target, find_loose, find_spans, find_targets, find_users
from assay.harness.patches.diff import find_touched_paths

SECONDS = 60.0
GREP_SECONDS = 20
LISTING = "files"
MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class Survey:
    """The targets of a comparison, and the tree's test files, the nearest first."""

    targets: tuple[Target, ...]
    test_files: tuple[str, ...]
    texts: Mapping[Side, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """The touched source files of base, gold and candidate, by path."""
    words: tuple[str, ...] = ()
    """Texts of the changed lines: what the code asks for may be what a test never gives it."""
    differing_spans: Mapping[str, Sequence[Span]] | None = None
    promised: frozenset[str] = frozenset()
    """Exceptions that the issue's tests or the targets' documentation ask for, without their modules."""
    ran: dict[str, dict[str, list[int]]] = field(default_factory=dict, repr=False)
    """The functions that test files run with gold, as far as a ``ReachMap`` has seen them."""


def survey(sides: Sides) -> Survey:
    """Look at the three different trees, each in a container; raises EngineError and SideError."""
    instance = sides.instance
    language = languages.find(instance.language)
    changed = {path for side in SIDES if sides.patch(side) for path in find_touched_paths(sides.patch(side))}
    tests = find_touched_paths(instance.test_patch) if instance.test_patch else ()
    sources = sorted(path for path in changed if not language.is_test_file(path))
    files = dict(zip(SIDES, sides.map_sides(SIDES, lambda side: read_files(sides, side, sources)), strict=True))
    texts = {side: {path: raw.decode(errors="replace") for path, raw in found.items()} for side, found in files.items()}
    found = find_targets(instance.language, texts)
    names, in_code = find_loose(texts, found), _diffs(texts, tuple(language.SUFFIXES))
    functions = [each.name for each in found if each.name != WHOLE_MODULE]
    words = find_words(functions, *in_code, *(sides.patch(side) for side in SIDES))
    asked = [*words, *(word for each in names for word in (each.module, *sorted(each.names)))]
    listing, mentions = _tree(sides, asked)
    in_sources = {path: said for path, said in mentions.items() if not language.is_test_file(path)}
    return Survey(
        targets=(*found, *find_users(names, in_sources, MOST - len(found))),
        texts=texts,
        test_files=tuple(_test_files(instance, tests, listing, ChangeSummary(sources, words, mentions))),
        words=find_quoted(*in_code),
        promised=find_promised(instance.test_patch or "", texts[Side.GOLD].values(), found),
        differing_spans=find_spans(instance.language, changed - {*tests}, texts),
    )


def _test_files(instance: Instance, touched: Sequence[str], listing: Sequence[str], change: ChangeSummary) -> list[str]:
    """Return the test files of a tree, the instance's own first, then the nearest to the change."""
    language = languages.find(instance.language)
    own, tests = ([path for path in paths if language.test_targets([path])] for paths in (touched, listing))
    own, tests = select_named(own, own), select_named(own, tests)
    return sort_nearest([*tests, *own], own, change)


def _diffs(texts: Mapping[Side, Mapping[str, str]], suffixes: tuple[str, ...]) -> list[str]:
    """Return the changed lines of the code: between gold and the candidate, then of each."""
    paths = sorted({path for each in texts.values() for path in each if path.endswith(suffixes)})
    lines = {(side, path): texts[side].get(path, "").splitlines() for side in SIDES for path in paths}
    pairs = (Side.GOLD, Side.CANDIDATE), (Side.BASE, Side.GOLD), (Side.BASE, Side.CANDIDATE)
    return [
        "\n".join(line for path in paths for line in unified_diff(lines[a, path], lines[b, path], n=0, lineterm=""))
        for a, b in pairs
    ]


def _tree(sides: Sides, words: Sequence[str]) -> tuple[list[str], dict[str, set[str]]]:
    """Return the files in gold's tree that git knows, and the words that each source mentions, tests included."""
    wanted = " ".join(f"-e {shlex.quote(word)}" for word in words)
    among = " ".join(shlex.quote(f"*{suffix}") for suffix in sorted(languages.find(sides.instance.language).SUFFIXES))
    script = f"""\
mkdir -p {OUT}
git -c safe.directory='*' ls-files -z > {OUT}/{LISTING}
timeout {GREP_SECONDS} git -c safe.directory='*' grep -IowF {wanted} -- {among} | LC_ALL=C sort -u > {OUT}/{MENTIONS}
"""
    left = sides.run(Side.GOLD, SideJob(script, seconds=SECONDS))
    listing, lines = (left.get(name, b"").decode(errors="replace") for name in (LISTING, MENTIONS))
    mentions: dict[str, set[str]] = {}
    for line in lines.splitlines():  # path:word, once each
        path, _, word = line.rpartition(":")
        mentions.setdefault(path, set()).add(word)
    return listing.split("\0"), mentions
