"""What becomes of a suite's results; the sides are acted, since only what they answer matters here."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from assay.harness.domain import (
    Apply,
    ApplyStatus,
    Channel,
    Evidence,
    Instance,
    PatchDiffFinding,
    Status,
    TestPlan,
    TestReport,
)
from assay.harness.errors import EngineError, EngineUnavailable, RunStopped
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.patchdiff.contract import Context, Contribution, Settings
from assay.harness.patchdiff.generators.suites.generate import GENERATOR
from assay.harness.patchdiff.sides import KeptWork, Side
from assay.harness.patchdiff.survey import Survey

pytestmark = pytest.mark.slow

PASSED, FAILED = Status.PASSED, Status.FAILED
Results = Mapping[str, Status] | None
"""What one file's tests do; None: the file takes all others along."""
LATE: Results = {"the file": Status.ERROR}
"""The file does not end."""
Act = Callable[[Side, str, int], Results]
"""Results by side, file and the number of the run."""


class AloneSides:
    """What a suite asks of sides beside the results of tests."""

    kept: Path | None = None
    """Folder of what is kept."""

    def find_kept_work(self, *work: object) -> KeptWork:
        return KeptWork(self.kept and self.kept / f"{work}.json")

    def map_sides(self, sides: Sequence[Side], work: Callable[[Side], Any]) -> list[Any]:
        with ThreadPoolExecutor(len(sides)) as pool:
            return list(pool.map(work, sides))

    def test(self, side: Side, plan: TestPlan) -> Evaluation:
        raise NotImplementedError


class ActedSides(AloneSides):
    """Sides whose tests are acted."""

    def __init__(self, instance: Instance, act: Act) -> None:
        self.instance = instance
        self._act = act
        self._runs = count()
        self._lock = Lock()
        self.ran: list[tuple[Side, int]] = []
        """The side and the number of files of each run."""

    def test(self, side: Side, plan: TestPlan) -> Evaluation:
        number = next(self._runs)
        shown = [self._act(side, path, number) for path in plan.command.split()]
        with self._lock:
            self.ran.append((side, len(shown)))
        tests = {} if None in shown else {name: status for each in shown for name, status in (each or {}).items()}
        report = TestReport(channel=Channel.REPORT, tests=tests)
        late = any(each is LATE for each in shown)
        applied = Apply(status=ApplyStatus.APPLIED)
        return Evaluation(Evidence(instance_id="x", apply=applied, report=report, timed_out=late))


@dataclass
class Suite:
    """Runs the generator; ``ran`` and ``notes`` are of the last time."""

    instance: Instance
    kept: Path | None = None
    ran: list[tuple[Side, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __call__(
        self,
        files: Sequence[str],
        act: Act,
        *,
        all_: bool = False,
        apart: Any = None,
        first_turn: float = inf,
        turns: int = 2,
        **settings: Any,
    ) -> Contribution:
        def plan(_instance: Instance, chosen: Sequence[str]) -> TestPlan:
            return TestPlan(command=" ".join(files if all_ else chosen))

        sides: Any = ActedSides(self.instance, act)
        self.ran, self.notes, sides.kept = sides.ran, [], self.kept
        wanted = Settings(("suites",), **{"confirmations": 4, **settings})
        survey = Survey((), tuple(files), differing_spans=apart)
        context = Context(sides, survey, wanted, plan, note=self.notes.append)
        found = GENERATOR.generate(replace(context, turn=context.now + first_turn))
        return found.more(context) if found.more and turns > 1 else found


@pytest.fixture
def suites(instance: Instance) -> Suite:
    return Suite(instance)


FILES = [f"tests/test_{number}.py" for number in range(40)]


def one_each(path: str, status: Status = PASSED) -> Results:
    return {f"{path}::test": status}


def spoil(file: str, result: Results | Status = FAILED, then: Act = lambda _side, path, _run: one_each(path)) -> Act:
    """Give a file's test another result with the patch alone; the others do what ``then`` says."""

    def act(side: Side, path: str, run: int) -> Results:
        if (side, path) != (Side.CANDIDATE, file):
            return then(side, path, run)
        return one_each(path, result) if isinstance(result, Status) else result

    return act


PASS = spoil("")


def test_test_that_passes_with_gold_and_always_fails_here_is_a_regression(suites: Suite) -> None:
    found = suites(FILES, spoil(FILES[30]))
    (divergence,) = found.divergences
    assert (divergence.finding, divergence.probe) == (PatchDiffFinding.REGRESSION, f"{FILES[30]}::test")
    assert (divergence.base.text, divergence.gold.text, divergence.candidate.text) == ("passed", "passed", "failed")
    assert divergence.confirmed == 4
    assert (found.result.probes, found.result.reached) == (40, 40)
    assert found.result.note == ""


def test_nothing_runs_where_gold_and_the_candidate_are_alike(suites: Suite) -> None:
    found = suites(FILES, PASS, apart={})
    assert (suites.ran, found.result.reached, found.result.test_files) == ([], 0, 40)
    assert found.result.note == "40 test files run nothing in which the patches differ"


@pytest.mark.parametrize("doubted", [{Side.CANDIDATE}, set(Side)], ids=["forged", "doubtful with gold too"])
def test_results_that_are_doubtful_with_the_patch_alone_are_forged(instance: Instance, doubted: set[Side]) -> None:
    report = TestReport(channel=Channel.REPORT, tests={"t::x": PASSED}, disagreements=("t::x",))
    evidence = Evidence(instance_id="x", apply=Apply(status=ApplyStatus.APPLIED), exit_code=0, report=report)

    class Forging(AloneSides):
        def __init__(self) -> None:
            self.instance = instance

        def test(self, side: Side, plan: TestPlan) -> Evaluation:
            honest = evidence.model_copy(update={"report": TestReport(channel=Channel.REPORT, tests={"t::x": PASSED})})
            return Evaluation(evidence if side in doubted else honest)

    sides: Any = Forging()
    context = Context(
        sides, Survey((), tuple(FILES[:1])), Settings(("suites",)), lambda _i, _f: TestPlan(command="true")
    )
    more = GENERATOR.generate(context).more
    assert more
    found = more(context)
    if Side.GOLD in doubted:
        assert not found.forged
        assert not found.error
        assert "1 test files give no result, nor with gold" in found.result.note
        return
    assert found.forged
    assert "tree cannot be trusted: report and output disagree" in found.error


@pytest.mark.parametrize("wavering", [Side.GOLD, Side.CANDIDATE])
def test_flaky_test_is_no_regression(suites: Suite, wavering: Side) -> None:
    def act(side: Side, path: str, run: int) -> Results:
        usual = side is not Side.CANDIDATE
        return one_each(path, PASSED if usual is not (side is wavering and run >= 5) else FAILED)

    assert suites(FILES[:1], act).divergences == ()


def test_failure_with_gold_too_or_of_style_is_no_regression(suites: Suite) -> None:
    def act(side: Side, path: str, _run: int) -> Results:
        style = FAILED if side is Side.CANDIDATE else PASSED
        return {f"{path}::test": FAILED, f"{path}::flake8": style}

    assert suites(FILES[:2], act).divergences == ()


def test_test_that_failed_with_gold_once_is_no_suspect_of_later_candidates(suites: Suite, tmp_path: Path) -> None:
    suites.kept = tmp_path
    broken = set[str]()

    def act(side: Side, path: str, _number: int) -> Results:
        is_broken = path == FILES[3] or (side is Side.CANDIDATE and path in broken)
        return one_each(path, FAILED if is_broken else PASSED)

    suites(FILES, act)
    assert Side.GOLD in {side for side, _ in suites.ran}, "a failing test is looked at with gold"
    suites(FILES, act)
    assert {side for side, _ in suites.ran} == {Side.CANDIDATE}
    broken.add(FILES[2])
    assert {each.probe.partition("::")[0] for each in suites(FILES, act).divergences} == {FILES[2]}


def test_test_that_the_patch_alone_skips_or_fails_stays_a_suspect(suites: Suite, tmp_path: Path) -> None:
    suites.kept = tmp_path

    for status in (Status.SKIPPED, FAILED, FAILED):
        found = suites(FILES, spoil(FILES[3], status)).divergences
        assert [each.probe.partition("::")[0] for each in found] == [FILES[3]] * (status is FAILED)


def test_comparison_that_is_cut_short_leaves_out_no_files_of_later_candidates(suites: Suite, tmp_path: Path) -> None:
    suites.kept = tmp_path

    def act(_side: Side, path: str, _number: int) -> Results:
        time.sleep(0.1)
        if path == FILES[20]:
            raise EngineError("no such container")
        return one_each(path)

    assert suites(FILES, act, first_turn=6.0, turns=1).result.test_files == 8
    assert suites(FILES[8:], act).error
    assert suites(FILES, PASS).result.test_files == 40


def test_files_beside_a_late_one_run_in_the_next_turn_where_the_first_has_no_time(suites: Suite) -> None:
    def act(side: Side, path: str, number: int) -> Results:
        time.sleep(1.0 if (path, number) == (FILES[8], 1) else 0.05)
        return spoil(FILES[8], LATE, spoil(FILES[9]))(side, path, number)

    found = suites(FILES[:12], act, first_turn=6.2)
    assert f"{FILES[9]}::test" in {each.probe for each in found.divergences}
    assert "budget" not in found.result.note


def test_one_file_that_nobody_can_read_takes_no_other_along(suites: Suite) -> None:
    failing = spoil(FILES[6])
    found = suites(FILES[:16], lambda side, path, run: None if path == FILES[5] else failing(side, path, run))
    assert [each.probe for each in found.divergences] == [f"{FILES[6]}::test"]
    assert found.result.probes == 15
    assert f"1 test files give no result, nor with gold: {FILES[5]}" in found.result.note


@pytest.mark.parametrize(("result", "kind"), [(None, "missing"), (LATE, "timeout")], ids=["unreadable", "endless"])
def test_file_without_a_result_with_the_patch_only_is_a_regression(suites: Suite, result: Results, kind: str) -> None:
    (divergence,) = suites(FILES[:8], spoil(FILES[3], result)).divergences
    assert (divergence.probe, divergence.candidate.kind) == (f"{FILES[3]}::test", kind)


def test_spent_budget_is_noted(suites: Suite) -> None:
    found = suites(FILES, PASS, budget=0.0)
    assert found.result.note == "the budget was spent after 0 of 40 test files"


def test_tests_that_are_skipped_are_not_compared(suites: Suite) -> None:
    found = suites(FILES[:3], spoil(FILES[0], Status.SKIPPED))
    assert (found.result.probes, found.result.reached) == (3, 2)


def test_late_file_is_named_apart_from_files_the_budget_left_out(suites: Suite) -> None:
    found = suites(FILES[:20], lambda _side, path, _run: LATE if path == FILES[18] else one_each(path))
    assert found.divergences == ()
    assert found.result.note == f"1 test files hit the time limit: {FILES[18]}"
    assert found.result.probes == 19


@pytest.mark.parametrize(
    "name",
    ["test_x ({module}.Case)", "{module}.Case.test_x", "a test that names no file"],
    ids=["runner", "dots", "none"],
)
def test_only_the_failing_file_is_repeated_however_tests_are_named(suites: Suite, name: str) -> None:
    guilty = FILES[27]
    failing = name.format(module=guilty.removesuffix(".py").removeprefix("tests/"))

    def act(side: Side, path: str, _run: int) -> Results:
        if path != guilty:
            return {f"other {path}": PASSED}
        return {failing: FAILED if side is Side.CANDIDATE else PASSED}

    (divergence,) = suites(FILES, act).divergences
    assert divergence.probe == failing
    assert suites.ran.count((Side.GOLD, 1)) >= 4
    assert [files for side, files in suites.ran if side is Side.BASE] == [1]
    assert sum(files for _, files in suites.ran) < 40 + 4 * 24, "repeating 24 files would take many more"


def test_failing_test_without_a_file_in_its_name_is_found_beside_one_with(suites: Suite) -> None:
    def act(side: Side, path: str, _run: int) -> Results:
        status = FAILED if side is Side.CANDIDATE else PASSED
        return (
            {f"{path}::test": status} if path == FILES[2] else {f"in {path[6:-3]}": status} if path == FILES[6] else {}
        )

    found = suites(FILES[:16], act)
    assert {each.probe for each in found.divergences} == {f"{FILES[2]}::test", "in test_6"}
    assert suites.ran.count((Side.CANDIDATE, 2)) >= 4, "both files, and no other, are repeated"


def test_test_that_fails_only_beside_others_is_repeated_with_them(suites: Suite) -> None:
    present: set[int] = set()

    def act(side: Side, path: str, run: int) -> Results:
        if path == FILES[0]:
            present.add(run)
        fails = side is Side.CANDIDATE and path == FILES[6] and run in present
        return {f"in {path[6:-3]}": FAILED if fails else PASSED}

    (divergence,) = suites(FILES[:12], act).divergences
    assert divergence.probe == "in test_6"


def test_recipe_that_runs_everything_does_so_once(suites: Suite) -> None:
    def act(side: Side, path: str, _run: int) -> Results:
        return {f"in {path[6:-3]}": FAILED if side is Side.CANDIDATE and path == FILES[9] else PASSED}

    found = suites(FILES, act, all_=True)
    assert [each.probe for each in found.divergences] == ["in test_9"]
    assert (found.result.probes, found.result.note) == (40, "")
    assert len(suites.ran) == 1 + 1 + 2 * 4 + 1, "the patch, gold, four rounds of both, base"


def test_findings_before_an_engine_failure_are_kept(suites: Suite) -> None:
    def act(side: Side, path: str, run: int) -> Results:
        if path == FILES[20]:
            raise EngineError("no such container")
        return spoil(FILES[2])(side, path, run)

    found = suites(FILES, act)
    assert [each.probe for each in found.divergences] == [f"{FILES[2]}::test"]
    assert found.error == "suites: no such container"
    assert found.result.note == "failed after 8 of 40 test files: no such container"


@pytest.mark.parametrize("error", [RunStopped("told to stop"), EngineUnavailable("gone")])
def test_unavailable_engine_or_stop_is_raised_by_the_suite(suites: Suite, error: Exception) -> None:
    def act(_side: Side, _path: str, _run: int) -> Results:
        raise error

    with pytest.raises(type(error)):
        suites(FILES, act)


def test_progress_is_noted(suites: Suite) -> None:
    suites(FILES, spoil(FILES[3]))
    assert suites.notes[0] == "0 of 40 test files compared, 8 at work"
    assert "repeating 1 failing tests of 1 files, round 4 of 4" in suites.notes
    assert suites.notes[-1] == "24 of 40 test files compared, 16 at work"
