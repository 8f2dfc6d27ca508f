"""Repeat tests that fail with the patch: find their files, and keep what passes with gold and fails here every time."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from math import inf
from pathlib import PurePosixPath

from assay.harness.domain import Divergence, PatchDiffFinding, ProbeObservation, Status
from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.decide import Sighting, make_divergence, observe_test
from assay.harness.patchdiff.generators.suites.reach_map import IDLE, idle_tests
from assay.harness.patchdiff.generators.suites.running import SuiteRun, run, run_gold, runs_everything
from assay.harness.patchdiff.sides import Side

NAME = "suites"
MOST_LISTED = 50  # listed failing tests of one run: a patch may break all
SLOWER = 5.0
"""A run that takes this many times as long as gold's does not end: that is a failure, and no want of time."""
ENDS = 30.0  # the least time limit of a run, in seconds, if there are that many left
LATE = "failing tests could not be repeated in time"


def repeat(context: Context, files: Sequence[str], suspects: Sequence[str]) -> tuple[list[Divergence], list[str]]:
    """Repeat suspected tests on both sides; drop what gold does not pass, and what is flaky on a side.

    The suspects failed in a run of the files. Tests that gold does not pass are kept. Raises as ``Sides.run``.

    Returns:
        The failures that held in every round, and notes for the report.
    """
    whole, gold = _run_with_gold(context, files, suspects)
    if gold.timed_out:
        return [], [LATE]
    passing = [name for name in suspects if gold.passes(name)]
    idle = idle_tests(context).union(name for name in gold.statuses if not gold.passes(name))
    context.sides.find_kept_work(IDLE).write(sorted(idle))
    if not passing:
        return [], []
    listed = passing[:MOST_LISTED]
    notes = [f"{len(passing)} tests fail; the first {MOST_LISTED} are listed"] if len(passing) > MOST_LISTED else []
    files = narrow(whole, listed, lambda some: _failing(context, whole, some, listed))
    kept, candidate, rounds = _rounds(context, files, listed, gold)
    if candidate is None:
        return [], [*notes, LATE]
    if len(kept) < len(listed):
        notes.append(f"{len(listed) - len(kept)} failing tests are flaky")
    if not kept:
        return [], notes
    if rounds < context.settings.confirmations:
        notes.append(f"the budget allowed {rounds} of {context.settings.confirmations} confirmations")
    (base,) = run(context, files, [Side.BASE], context.confirming.seconds_left)
    return [_regression(name, base, candidate, rounds) for name in kept], notes


def _run_with_gold(context: Context, files: Sequence[str], suspects: Sequence[str]) -> tuple[Sequence[str], SuiteRun]:
    """Run the files that the suspects' names point to with gold; all files if gold misses a suspect in those."""
    left = context.confirming.part(0.5).seconds_left
    likely = files_named(files, suspects)
    gold = run_gold(context, likely, left)
    if len(likely) < len(files) and not all(name in gold.statuses for name in suspects):
        return files, run_gold(context, files, left)
    return likely, gold


def _failing(context: Context, whole: Sequence[str], files: Sequence[str], tests: Sequence[str]) -> set[str]:
    """Return the failing tests in a run of some files of the whole; none where that cannot be known."""
    if not context.seconds_left or runs_everything(context, whole, files):
        return set()
    context.note(f"looking for {len(tests)} failing tests in {len(files)} files")
    (candidate,) = run(context, files, [Side.CANDIDATE], context.seconds_left / 2)
    return {name for name in tests if name in candidate.statuses and not candidate.passes(name)}


def narrow(files: Sequence[str], tests: Iterable[str], failing: Callable[[Sequence[str]], set[str]]) -> Sequence[str]:
    """Return the files that it takes for tests to fail, by halving; ``failing`` runs files and returns failing tests.

    A test that fails only beside other files keeps those: halves in which it does not fail are not divided.
    """
    found, missing, middle = list[str](), {*tests}, len(files) // 2
    for half in (files[:middle], files[middle:]) if middle else ():
        here = missing & failing(half) if missing else set[str]()
        found += narrow(half, here, failing) if here else ()
        missing -= here
    return files if missing else found


def _rounds(
    context: Context, files: Sequence[str], tests: Sequence[str], gold: SuiteRun
) -> tuple[Sequence[str], SuiteRun | None, int]:
    """Run files on both sides again and again.

    Returns:
        The tests that failed in every round, the last run with the patch, None if the time was not enough, and the
        number of rounds.
    """
    wanted, rounds, candidate = context.confirming.rounds(gold.seconds), 0, gold
    while tests and rounds < wanted:
        context.note(f"repeating {len(tests)} failing tests of {len(files)} files, round {rounds + 1} of {wanted}")
        ends = max(ENDS, 2 * SLOWER * gold.seconds)  # what takes longer will not end any more
        limit = min(context.confirming.seconds_left, ends)
        gold, candidate = run(context, files, (Side.GOLD, Side.CANDIDATE), limit)
        if gold.timed_out or (candidate.timed_out and not does_not_end(candidate, gold)):
            return tests, None, rounds
        tests = [name for name in tests if gold.passes(name) and not candidate.passes(name)]
        rounds += 1
    return tests, candidate, rounds


def does_not_end(candidate: SuiteRun, gold: SuiteRun) -> bool:
    """Return whether a run hit its time limit after so much longer than gold's run that it would not have ended."""
    return candidate.timed_out and gold.seconds * SLOWER < candidate.limit


def _regression(test: str, base: SuiteRun, candidate: SuiteRun, rounds: int) -> Divergence:
    before, gold, after = _observe(base, test), Sighting(observe_test(Status.PASSED), test), _observe(candidate, test)
    found = make_divergence(NAME, test, before, gold, after, rounds)
    return found.model_copy(update={"finding": PatchDiffFinding.REGRESSION})


def _observe(ran: SuiteRun, name: str) -> ProbeObservation:
    return ProbeObservation(kind="timeout") if ran.timed_out else observe_test(ran.statuses.get(name))


def files_named(files: Sequence[str], tests: Collection[str]) -> Sequence[str]:
    """Return the files that the names of tests point to; all of them if no name points to any.

    A name points to a file by its path (``tests/test_a.py::test``) or by its dotted module (``test (a.tests.Case)``).
    Another name points to none: unittest prints the first line of a description.
    """
    found: set[str] = set()
    for test in tests:
        shared = {path: _count_shared(path, test) for path in files}
        longest = max(shared.values(), default=0)
        found |= {path for path, length in shared.items() if longest and length == longest}
    return tuple(path for path in files if path in found) or files


def _count_shared(path: str, test: str) -> float:
    """Count the last parts of a path that a test's name has as its module; inf if it begins with the path."""
    parts = PurePosixPath(path).with_suffix("").parts
    ends = (rf"(?<![\w.]){re.escape('.'.join(parts[start:]))}(?:\.|::)\w" for start in range(len(parts)))
    counts = (len(parts) - start for start, end in enumerate(ends) if re.search(end, test))
    return inf if test.startswith(path) else next(counts, 0)
