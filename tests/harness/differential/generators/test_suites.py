"""What becomes of a suite's results; the sides are acted, since only what they answer matters here."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import pytest

from assay.harness.differential.generators.base import Context, Found, Settings
from assay.harness.differential.generators.suites import generate
from assay.harness.differential.sides import Side
from assay.harness.differential.survey import Survey
from assay.harness.domain import Apply, ApplyStatus, Channel, Evidence, Finding, Instance, Status, TestPlan, TestReport
from assay.harness.evaluate import Evaluation

PASSED, FAILED = Status.PASSED, Status.FAILED
Results = Mapping[str, Status] | None
"""What one file's tests do; None: the file takes all others along."""


class ActedSides:
    """Sides whose tests do what a function says: of a side, a file and the number of the run."""

    def __init__(self, instance: Instance, act: Callable[[Side, str, int], Results]) -> None:
        self.instance = instance
        self._act = act
        self._runs = count()

    def test(self, side: Side, plan: TestPlan) -> Evaluation:
        number = next(self._runs)
        told = [self._act(side, path, number) for path in plan.command.split()]
        tests = {} if None in told else {name: status for each in told for name, status in (each or {}).items()}
        report = TestReport(channel=Channel.REPORT, tests=tests)
        return Evaluation(Evidence(instance_id="x", apply=Apply(status=ApplyStatus.APPLIED), report=report))


@pytest.fixture
def suites(instance: Instance) -> Callable[..., Found]:
    def run(files: Sequence[str], act: Callable[[Side, str, int], Results], **settings: Any) -> Found:
        def plan(_instance: Instance, chosen: Sequence[str]) -> TestPlan:
            return TestPlan(command=" ".join(chosen))

        sides: Any = ActedSides(instance, act)
        wanted = Settings(("suites",), **{"confirmations": 4, **settings})
        return generate(Context(sides, Survey((), tuple(files)), wanted, plan))

    return run


FILES = [f"tests/test_{number}.py" for number in range(40)]


def one_each(path: str, status: Status = PASSED) -> Results:
    return {f"{path}::test": status}


def test_a_test_that_gold_passes_and_the_patch_fails_every_time_is_a_regression(suites: Callable[..., Found]) -> None:
    def act(side: Side, path: str, _run: int) -> Results:
        return one_each(path, FAILED if path == FILES[30] and side is Side.CANDIDATE else PASSED)

    found = suites(FILES, act)
    (divergence,) = found.divergences
    assert (divergence.finding, divergence.probe) == (Finding.REGRESSION, f"{FILES[30]}::test")
    assert (divergence.base.text, divergence.gold.text, divergence.candidate.text) == ("passed", "passed", "failed")
    assert divergence.confirmed == 4
    assert found.result.probes == 40
    assert found.result.note == ""


@pytest.mark.parametrize("wavering", [Side.GOLD, Side.CANDIDATE])
def test_what_wavers_is_no_regression(suites: Callable[..., Found], wavering: Side) -> None:
    def act(side: Side, path: str, run: int) -> Results:
        usual = side is not Side.CANDIDATE
        return one_each(path, PASSED if usual is not (side is wavering and run >= 5) else FAILED)

    assert suites(FILES[:1], act).divergences == ()


def test_what_fails_with_gold_too_and_what_only_judges_style_is_no_regression(suites: Callable[..., Found]) -> None:
    def act(side: Side, path: str, _run: int) -> Results:
        style = FAILED if side is Side.CANDIDATE else PASSED
        return {f"{path}::test": FAILED, f"{path}::flake8": style}

    assert suites(FILES[:2], act).divergences == ()


def test_one_file_that_nobody_can_read_takes_no_other_along(suites: Callable[..., Found]) -> None:
    def act(side: Side, path: str, _run: int) -> Results:
        if path == FILES[5]:
            return None
        return one_each(path, FAILED if path == FILES[6] and side is Side.CANDIDATE else PASSED)

    found = suites(FILES[:16], act)
    assert [each.probe for each in found.divergences] == [f"{FILES[6]}::test"]
    assert found.result.probes == 15
    assert "1 test files give no result, with gold neither" in found.result.note


def test_a_file_that_only_the_patch_makes_unreadable_is_a_regression(suites: Callable[..., Found]) -> None:
    def act(side: Side, path: str, _run: int) -> Results:
        return None if path == FILES[3] and side is Side.CANDIDATE else one_each(path)

    (divergence,) = suites(FILES[:8], act).divergences
    assert (divergence.probe, divergence.candidate.kind) == (f"{FILES[3]}::test", "missing")


def test_a_budget_that_is_spent_is_told(suites: Callable[..., Found]) -> None:
    found = suites(FILES, lambda _side, path, _run: one_each(path), budget=0.0)
    assert found.result.note == "the budget was spent after 0 of 40 test files"
