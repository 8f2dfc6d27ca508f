"""The developers' own suite: every test file that gold passes, not only the files of the change.

Step 1 of PatchDiff (arXiv 2503.15223); it rejects 7.8 % of the patches that pass their instance's tests. It needs a
recipe that can run single test files; a recipe that always runs everything gives one run of everything.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf

from assay.harness.domain import FAILING, PASSING, Divergence, GeneratorResult
from assay.harness.errors import AssayError, EngineUnavailable, RunStopped
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.generators.suites.reach_map import ReachMap, idle_tests
from assay.harness.patchdiff.generators.suites.repeating import NAME, does_not_end, repeat
from assay.harness.patchdiff.generators.suites.running import SuiteRun, is_style, run, run_gold, runs_everything
from assay.harness.patchdiff.sides import ForgedSideError, Side

FIRST_FILES = 8
"""Files of the first run; each further run takes up to twice as many. A small budget still sees the nearest."""
FIRST_SECONDS = 20.0
"""The least time limit until a file has been compared, whatever is left of the turn, and of a file's run with gold."""
SHARE = 0.5
"""Share of the rest of the turn for one run, so that one file that hangs does not take all of it."""
PARTS = 4  # parts that a run without any result is divided into
MARGIN = 0.7  # share of a run's time limit that is filled with files, by the time that files took so far
BESIDE = 5.0  # seconds that a run takes beside its time limit, to start its container and to end it
MOST_NAMED = 3


@dataclass(slots=True)
class _Tally:
    scope: Sequence[str]
    """Files to compare: all for the first candidate, for later ones the files in which the first was compared."""
    total: int
    reach: ReachMap
    size: int = FIRST_FILES
    """The most files of the next run."""
    ran: int = 0
    compared: int = 0
    """Tests that passed or failed with the patch; the failing ones were run with gold."""
    files: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    """Files that need not run, since gold and the candidate do not differ in what they run."""
    begun: int = 0
    """Files of all runs; a file that has run with others and then alone counts twice."""
    seconds: float = 0.0
    """Duration of the runs with the patch. Late ones count, so that the next run is smaller."""
    late: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: bool = False

    @property
    def rest(self) -> list[str]:
        done = {*self.files, *self.passed_over, *self.late, *self.unread}
        return [file for file in self.scope if file not in done]

    def skip_idle(self) -> None:
        self.passed_over += [file for file in self.rest if not self.reach.may_differ(file)]

    def note(self) -> str:
        notes, left_out = list(self.notes), self.total - len(self.scope)
        if self.rest and not self.failed:
            notes.append(f"the budget was spent after {len(self.scope) - len(self.rest)} of {self.total} test files")
        if left_out:
            notes.append(f"{left_out} test files are left out, as they were for the first patch")
        if self.passed_over:
            notes.append(f"{len(self.passed_over)} test files run nothing in which the patches differ")
        if self.late:
            notes.append(f"{len(self.late)} test files hit the time limit: {_list_files(self.late)}")
        if self.unread:
            notes.append(f"{len(self.unread)} test files give no result, nor with gold: {_list_files(self.unread)}")
        return "; ".join(dict.fromkeys(notes))


def _generate(context: Context) -> Contribution:
    """Run the test files with the patch, nearest first, as far as the turn goes, and failing ones with gold.

    A suite that cannot be divided waits until all others have had their turn.
    """
    files, reach = context.survey.test_files, ReachMap(context)
    tally = _Tally(reach.scope(files), len(files), reach)
    if runs_everything(context, files[:1], files[1:]):
        tally.size = len(files)
        return Contribution(GeneratorResult(name=NAME), more=partial(_last_turn, tally))
    return _turn(tally, context)


def _last_turn(tally: _Tally, context: Context) -> Contribution:
    """Run the rest. Later candidates are compared in the same files, unless this comparison was cut short."""
    found = _turn(tally, context)
    if not found.error:
        tally.reach.close([*tally.files, *tally.passed_over])
    return found


def _turn(tally: _Tally, context: Context) -> Contribution:
    """Run the next test files. An engine's failure leaves what was found before."""
    error, forged = "", False
    try:
        _run_next(context, tally)
    except (EngineUnavailable, RunStopped):
        raise
    except AssayError as problem:
        error, forged = f"{NAME}: {problem}", isinstance(problem, ForgedSideError)
        tally.failed = True
        tally.notes.append(f"failed after {len(tally.files)} of {tally.total} test files: {problem}")
    result = GeneratorResult(
        name=NAME,
        probes=tally.ran,
        reached=tally.compared,
        divergences=len(tally.divergences),
        test_files=len(tally.files) + len(tally.passed_over),
        of_test_files=tally.total,
        note=tally.note(),
    )
    more = None if error else partial(_last_turn, tally)
    return Contribution(result, tuple(tally.divergences), error=error, forged=forged, more=more)


def _run_next(context: Context, tally: _Tally) -> None:
    tally.skip_idle()
    with ThreadPoolExecutor(1) as beside:
        while tally.rest and (size := min(tally.size, _most_files(context, tally))):
            ahead = tally.rest[: size * 3] if context.seconds_left > 2 * FIRST_SECONDS else []
            learning = beside.submit(tally.reach.learn, context.part(SHARE), ahead)
            _compare(context, tally.rest[:size], tally)
            learning.result()
            tally.size = size * 2
            tally.skip_idle()


def _limit(context: Context, tally: _Tally) -> float:
    return max((context.seconds_left - BESIDE) * SHARE, 0.0 if tally.files else _least(context))


def _least(context: Context) -> float:
    return max(0.0, min(FIRST_SECONDS, replace(context, turn=inf).seconds_left - BESIDE))


def _most_files(context: Context, tally: _Tally) -> int:
    """Return how many files fit a run's time limit, by the time that files took so far."""
    limit = _limit(context, tally)
    if not limit or not tally.begun:
        return tally.size if limit else 0
    return int(limit * MARGIN / (tally.seconds / tally.begun))


def _compare(context: Context, files: Sequence[str], tally: _Tally) -> None:
    context.note(f"{len(tally.files)} of {tally.total} test files compared, {len(files)} at work")
    (ran,) = run(context, files, [Side.CANDIDATE], _limit(context, tally))
    tally.seconds += ran.seconds
    tally.begun += len(files)
    if not ran.statuses:
        _compare_apart(context, files, ran, tally)
        return
    tally.files += files
    tally.ran += len(ran.statuses)
    tally.compared += sum(status in PASSING or status in FAILING for status in ran.statuses.values())
    failing = {name for name, status in ran.statuses.items() if status in FAILING and not is_style(name)}
    if suspects := sorted(failing - idle_tests(context)):
        _repeat(context, files, suspects, tally)


def _compare_apart(context: Context, files: Sequence[str], ran: SuiteRun, tally: _Tally) -> None:
    """Compare the parts of a run without any result: one unreadable file takes all others along."""
    size = ceil(len(files) / PARTS)
    if len(files) < 2 or runs_everything(context, files, files[:size]):
        _compare_unreadable(context, files, ran, tally)
        return
    for start in range(0, len(files), size):
        if _limit(context, tally):
            _compare(context, files[start : start + size], tally)


def _compare_unreadable(context: Context, files: Sequence[str], ran: SuiteRun, tally: _Tally) -> None:
    """Run a file that gives nothing with the patch with gold, or all files if they cannot be divided."""
    limit = max(_least(context), _limit(context, tally))
    if not limit:
        return
    gold = run_gold(context, files, limit)
    if gold.timed_out or (ran.timed_out and not does_not_end(ran, gold)):
        tally.late.extend(files)
        return
    if not gold.statuses:
        tally.unread.extend(files)
        return
    tally.files += files
    suspects = [name for name in sorted(gold.statuses) if gold.passes(name) and not is_style(name)]
    tally.compared += len(suspects)
    _repeat(context, files, suspects, tally)


def _repeat(context: Context, files: Sequence[str], suspects: Sequence[str], tally: _Tally) -> None:
    divergences, notes = repeat(context, files, suspects)
    tally.divergences += divergences
    tally.notes += notes


def _list_files(files: Sequence[str]) -> str:
    more = f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else ""
    return ", ".join(files[:MOST_NAMED]) + more


GENERATOR = Generator(_generate, aims=False)
