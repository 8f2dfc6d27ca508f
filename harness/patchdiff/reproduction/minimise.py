"""What a divergence comes down to: its test file made smaller as long as both sides still differ, then really run.

Delta debugging (ddmin; Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE 2002) over the
statements of a test and the changes of its inputs. The files of several divergences are tried in one container of each
side at a time.
"""

import shlex
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, TypeVar

from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.probing import PYTHON, Program, Suspect, run_lines
from assay.harness.patchdiff.reproduction.reproduce import Difference, Draft, MakeDrafts, Reduction, Shown
from assay.harness.patchdiff.sides import OUT, Job, Side

MOST_TRIED = 24
"""Files written in search of one divergence's smallest."""
SECONDS = 60.0
"""For the files of one round."""
LIMIT = 20.0
"""Seconds for one file, the import of the project included."""
BOTH = (Side.GOLD, Side.CANDIDATE)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReproductionTrial:
    """A test file to be tried: where it lies, its text, and the end of the name of its one test, if it has more."""

    path: str
    text: str
    row: str = ""


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """What a test file saw on one side."""

    shown: tuple[Shown, ...] = ()
    items: int = 0
    passed: bool = False
    differs: bool = False
    """Whether it failed since it saw something else than was expected."""
    rows: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """What a test file saw with gold and with the candidate."""

    gold: TrialOutcome = TrialOutcome()
    candidate: TrialOutcome = TrialOutcome()

    @property
    def first(self) -> int:
        """The number of the first look that differs; -1 if none does."""
        both = zip(self.gold.shown, self.candidate.shown, strict=False)
        return next((number for number, (one, other) in enumerate(both) if one != other), -1)

    @property
    def nature(self) -> tuple[str, ...]:
        """Kind and type of what differs; empty where nothing does, or gold does not get through its one test."""
        at = self.first
        is_sound = at >= 0 and self.gold.passed and self.gold.items == 1
        return (*self.gold.shown[at][:2], *self.candidate.shown[at][:2]) if is_sound else ()

    @property
    def told(self) -> Difference:
        """What differs, up to the first look that does."""
        at = self.first
        return Difference(self.gold.shown[: at + 1], self.candidate.shown[at]) if at >= 0 else Difference()


Search = Generator[list[ReproductionTrial], list[Pair], "ReproductionTrial | None"]
"""Asks for trials of files, is sent what they saw, and returns the file that it has come down to."""


def reproduced(context: Context, suspects: Sequence[Suspect], make_drafts: MakeDrafts) -> dict[str, str]:
    """Return test files that pass with gold and fail with the candidate, by the probes that they show.

    Args:
        context: the comparison.
        suspects: probes on which the two differ.
        make_drafts: of a test file.

    Raises:
        EngineError: the engine failed. SideError: a tree could not be made.
    """
    sources = _sources(context, sorted({file for each in suspects if (file := _test_file(each))}))

    def goes_on() -> bool:
        return context.seconds_left > 0

    searches = {
        each.probe: search(make_drafts(each.line, sources), f"test_assay_divergence_{number}.py", goes_on)
        for number, each in enumerate(suspects, 1)
    }
    files = side_by_side(searches, lambda trials: _try(context, trials))
    alike = {trial.text: trial for trial in reversed(files.values())}
    held = {trial.text for trial in _held(context, list(alike.values()))}
    return {probe: trial.text for probe, trial in files.items() if trial.text in held}


def _test_file(suspect: Suspect) -> str:
    path, colons, _ = str((suspect.line.get("literal") or {}).get("test", "")).partition("::")
    return path if colons else ""


def search(drafts: Sequence[Draft], name: str, goes_on: Callable[[], bool]) -> Search:
    """Look for the smallest file of the first draft that shows a difference.

    Args:
        drafts: the shortest first.
        name: of the file.
        goes_on: asked before each round of making it smaller.
    """
    pairs = yield [_trial(draft, name, Reduction()) for draft in drafts]
    telling = [(draft, pair) for draft, pair in zip(drafts, pairs, strict=True) if pair.nature]
    if not telling:
        return None
    draft, pair = telling[0]
    reduction = Reduction(rows=pair.gold.rows)
    if draft.row:
        (pair,) = yield [_trial(draft, name, reduction)]
        if not pair.nature:
            return None  # a row that is told elsewhere than in the test
    reduction, pair = yield from _smaller(draft, name, reduction, pair, goes_on)
    return _trial(draft, name, reduction, pair)


def _trial(draft: Draft, name: str, reduction: Reduction, pair: Pair | None = None) -> ReproductionTrial:
    """Return a draft's file, which compares with what gold saw in a pair, if one is given."""
    path = (PurePosixPath(draft.folder) / name).as_posix()
    told = pair.told if pair else Difference()
    return ReproductionTrial(path, draft.write(reduction, told), "" if reduction.rows else draft.row)


def _smaller(
    draft: Draft, name: str, reduction: Reduction, pair: Pair, goes_on: Callable[[], bool]
) -> Generator[list[ReproductionTrial], list[Pair], tuple[Reduction, Pair]]:
    """Leave out parts while a difference of the same nature stays: ddmin, all chunks of one size at a time."""
    nature, parts, chunks, tried = pair.nature, list(draft.parts), 1, 0
    while parts and tried < MOST_TRIED and goes_on():
        removals = _chunks(parts, chunks)[: MOST_TRIED - tried]
        answers = yield from _tried(draft, name, reduction, removals)
        good = [(removal, each) for removal, each in zip(removals, answers, strict=True) if each.nature == nature]
        tried += len(removals)
        if len(good) > 1:
            together = [part for removal, _ in good for part in removal]
            (all_in_one,) = yield from _tried(draft, name, reduction, [together])
            tried += 1
            good = [(together, all_in_one)] if all_in_one.nature == nature else good
        if good:
            removal, pair = good[0]
            reduction = _without(draft, reduction, removal)
            parts = [part for part in parts if part not in reduction.without]
            chunks = max(1, min(chunks, len(parts)))
        elif chunks >= len(parts):
            break
        else:
            chunks = min(len(parts), chunks * 2)
    return reduction, pair


def _tried(
    draft: Draft, name: str, reduction: Reduction, removals: Sequence[Sequence[str]]
) -> Generator[list[ReproductionTrial], list[Pair], list[Pair]]:
    return (yield [_trial(draft, name, _without(draft, reduction, removal)) for removal in removals])


def _without(draft: Draft, reduction: Reduction, parts: Iterable[str]) -> Reduction:
    gone = {inner for part in parts for inner in (part, *draft.inside(part))}
    return replace(reduction, without=reduction.without | gone)


def _chunks(parts: Sequence[str], count: int) -> list[Sequence[str]]:
    """Return about equal runs of the parts."""
    ends = [len(parts) * number // count for number in range(count + 1)]
    return [parts[start:end] for start, end in pairwise(ends) if start < end]


def side_by_side(
    searches: Mapping[str, Search], run: Callable[[Sequence[ReproductionTrial]], list[Pair]]
) -> dict[str, ReproductionTrial]:
    """Let searches go on together, one round of trials at a time; return what those that found something came to."""
    found: dict[str, ReproductionTrial] = {}
    asked: dict[str, list[ReproductionTrial]] = {}

    def advance(key: str, answer: list[Pair] | None = None) -> None:
        try:
            asked[key] = next(searches[key]) if answer is None else searches[key].send(answer)
        except StopIteration as end:
            if end.value is not None and end.value.text:
                found[key] = end.value

    for key in searches:
        advance(key)
    while asked:
        present = dict(asked)
        asked.clear()
        pairs = iter(run([trial for trials in present.values() for trial in trials]))
        for key, trials in present.items():
            advance(key, [next(pairs) for _ in trials])
    return found


def _try(context: Context, trials: Sequence[ReproductionTrial]) -> list[Pair]:
    """Run files on both sides, once; one that has no text shows nothing."""
    sides = dict(zip(BOTH, _on_both(lambda side: _seen(context, side, trials, [0])[0]), strict=True))
    return [Pair(*(sides[side].get(number, TrialOutcome()) for side in BOTH)) for number in range(len(trials))]


def _on_both(work: Callable[[Side], T]) -> list[T]:
    with ThreadPoolExecutor(len(BOTH)) as pool:
        return list(pool.map(work, BOTH))


def _seen(
    context: Context, side: Side, trials: Sequence[ReproductionTrial], seeds: Sequence[int]
) -> list[dict[int, TrialOutcome]]:
    """Return what files saw on a side in each round, by their numbers."""
    told = [
        {"name": str(number), "path": each.path, "text": each.text, "only": each.row}
        for number, each in enumerate(trials)
        if each.text
    ]
    if not told:
        return [{} for _ in seeds]
    program = Program("standalone", "standalone", {"trials": told, "limit": LIMIT}, SECONDS)
    rounds = run_lines(context, program, side, seeds)
    return [{int(line["trial"]): read_seen(line) for line in lines if "trial" in line} for lines in rounds]


def read_seen(line: Mapping[str, Any]) -> TrialOutcome:
    """Return what a line of ``standalone.py`` says."""
    shown = tuple((str(kind), str(type_), str(text)) for kind, type_, text in line["shown"])
    rows = {str(name): int(number) for name, number in line["rows"].items()}
    return TrialOutcome(shown, int(line["items"]), bool(line["passed"]), bool(line["differs"]), rows)


def _sources(context: Context, paths: Sequence[str]) -> dict[str, str]:
    """Return the texts of gold's test files."""
    if not paths:
        return {}
    program = Program("standalone", "standalone", {"read": list(paths), "limit": LIMIT}, SECONDS)
    (lines,) = run_lines(context, program, Side.GOLD, [0])
    return {str(line["file"]): str(line["source"]) for line in lines if "file" in line}


def _held(context: Context, trials: Sequence[ReproductionTrial]) -> list[ReproductionTrial]:
    """Return the files that always pass with gold and always fail with the candidate."""
    if not trials:
        return []
    seeds = range(context.settings.confirmations)
    gold, candidate = _on_both(lambda side: _seen(context, side, trials, seeds))
    by_hand = _on_both(lambda side: _run_by_hand(context, side, trials))
    return [
        trial
        for number, trial in enumerate(trials)
        if all(number in each and each[number].passed and each[number].items == 1 for each in gold)
        and all(number in each and each[number].differs for each in candidate)
        and [statuses.get(number) for statuses in by_hand] == [0, 1]
    ]


def _run_by_hand(context: Context, side: Side, trials: Sequence[ReproductionTrial]) -> dict[int, int]:
    """Run files as a person would, with the project's own settings; return pytest's exit status of each."""
    runs = [
        f"timeout -k 5 {int(LIMIT)} {PYTHON} -m pytest {shlex.quote(each.path)} < /dev/null > /dev/null 2>&1;"
        f" echo $? > {OUT}/{number}.txt"
        for number, each in enumerate(trials)
    ]
    files = {each.path: each.text.encode() for each in trials}
    job = Job("\n".join([f"mkdir -p {OUT}", *runs, ""]), files, seconds=LIMIT * len(trials) + 30)
    left = context.sides.run(side, job)
    texts = {number: left.get(f"{number}.txt", b"").decode().strip() for number in range(len(trials))}
    return {number: int(text) for number, text in texts.items() if text.isdigit()}
