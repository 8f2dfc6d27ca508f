"""SWE-fficiency's rule, by hand."""

from collections.abc import Callable
from math import log
from random import Random

import pytest
from scipy.stats import wilcoxon

from assay.harness.benchmarks.swe_fficiency.rule import ratio
from assay.harness.domain import Outcome, Rule, Status, TestedTree, Verdict, WorkloadRun
from assay.harness.grading.grade import grade
from assay.harness.statistics import Interval
from judged import make_evidence
from toy import make_instance

STEADY = (1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0)
NOISY = (1.0, 2.0, 0.5, 1.6, 0.7, 1.9, 0.6)


def runs(
    seconds: float, outside: float = 0.5, shape: tuple[float, ...] = STEADY, **change: str
) -> tuple[WorkloadRun, ...]:
    results = {"returned": "a", **change}
    return tuple(WorkloadRun(seconds=seconds * each, outside=outside, results=results) for each in shape)


@pytest.fixture
def judge() -> Callable[..., Verdict]:
    def run(
        candidate: tuple[WorkloadRun, ...],
        status: Status = Status.PASSED,
        rule: Rule = Rule.SWE_FFICIENCY,
        **others: tuple[WorkloadRun, ...],
    ) -> Verdict:
        instance = make_instance(rule=rule, fail_to_pass=(), pass_to_pass=("t",), workload="...")
        trees = {"base": runs(2), "gold": runs(1), "base-again": runs(2), **others, "candidate": candidate}
        workload = {TestedTree(name.replace("_", "-")): each for name, each in trees.items()}
        return grade(instance, make_evidence({"t": status}, workload=workload))

    return run


def test_a_faster_workload_is_resolved_with_its_measures(judge: Callable[..., Verdict]) -> None:
    verdict = judge(runs(1.25))
    assert verdict.outcome is Outcome.RESOLVED, verdict.reason
    assert verdict.measures["speed_up"] == pytest.approx(1.6)
    assert verdict.measures["gold_speed_up"] == pytest.approx(2)
    assert verdict.measures["speed_up_ratio"] == pytest.approx(0.8)
    assert 1 < verdict.measures["speed_up_low"] <= 1.6 <= verdict.measures["speed_up_high"]


@pytest.mark.parametrize(
    ("candidate", "gold", "outcome"),
    [
        (1.0, 1.0, Outcome.RESOLVED),
        (1.04, 1.0, Outcome.RESOLVED),
        (1.06, 1.0, Outcome.UNRESOLVED),  # 0.94 of the gold patch's speed-up
        (1.8, 1.75, Outcome.UNRESOLVED),  # 1.1 times as fast as base
        (0.5, 1.0, Outcome.RESOLVED),
    ],
)
def test_gso_asks_for_nearly_the_speed_of_the_gold_patch(
    judge: Callable[..., Verdict], candidate: float, gold: float, outcome: Outcome
) -> None:
    verdict = judge(runs(candidate), rule=Rule.GSO, gold=runs(gold))
    assert verdict.outcome is outcome, verdict.reason
    assert judge(runs(candidate), rule=Rule.SWE_PERF, gold=runs(gold)).outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (runs(2), "shows no speed-up"),
        (runs(2.5), "shows no speed-up"),
        (runs(1.9, shape=NOISY), "shows no speed-up"),
        (runs(0.1, returned="b"), "computes something else: returned"),
        (runs(0.5, outside=1.5), "the workload saves 1.5 s, and 1 s more are spent around it"),
        ((WorkloadRun(problem="exit status 1: ValueError"),), "does not run with the patch: exit status 1"),
    ],
)
def test_a_patch_that_shows_no_honest_speed_up_is_not_resolved(
    judge: Callable[..., Verdict], candidate: tuple[WorkloadRun, ...], reason: str
) -> None:
    verdict = judge(candidate)
    assert (verdict.outcome, reason in verdict.reason) == (Outcome.UNRESOLVED, True), verdict.reason
    assert not ("something else" in reason and verdict.measures)


def test_a_speed_up_within_what_base_differs_from_itself_is_none(judge: Callable[..., Verdict]) -> None:
    shaky = (1.06, 0.94, 1.05, 0.95, 1.04, 0.96, 1.0)
    base = {"base": runs(2, shape=shaky), "base_again": runs(2, shape=tuple(2 - each for each in shaky))}
    verdict = judge(runs(1.96, shape=(1,) * 7), **base)
    assert (verdict.outcome, "shows no speed-up" in verdict.reason) == (Outcome.UNRESOLVED, True), verdict.reason
    assert verdict.measures["speed_up_low"] > 1
    assert judge(runs(1.6), **base).outcome is Outcome.RESOLVED


def test_a_broken_test_counts_before_any_time(judge: Callable[..., Verdict]) -> None:
    verdict = judge(runs(0.1), Status.FAILED)
    assert (verdict.outcome, verdict.broken, verdict.measures) == (Outcome.UNRESOLVED, ("t",), {})


def test_forged_marks_are_tampering(judge: Callable[..., Verdict]) -> None:
    assert judge((WorkloadRun(problem="marks", forged=True),)).outcome is Outcome.TAMPERED


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"base": runs(2, shape=NOISY)}, "the base tree is"),
        ({"base": runs(2), "base_again": runs(3)}, "the base tree is"),
        ({"gold": runs(2)}, "the gold patch is"),
        ({"gold": (WorkloadRun(problem="exit status 1"),)}, "cannot be timed on the gold tree: exit status 1"),
    ],
)
def test_a_measurement_of_no_use_is_not_the_patchs_failure(
    judge: Callable[..., Verdict], others: dict[str, tuple[WorkloadRun, ...]], reason: str
) -> None:
    verdict = judge(runs(1), **others)
    assert (verdict.outcome, reason in verdict.reason) == (Outcome.INFRA_ERROR, True), verdict.reason
    assert verdict.measures == {}
    assert verdict.reward is None


def test_a_workload_whose_result_varies_is_flagged(judge: Callable[..., Verdict]) -> None:
    verdict = judge(runs(1), base=runs(2, returned="x"))
    assert verdict.outcome is Outcome.RESOLVED
    assert "workload_result_not_compared" in verdict.flags
    assert "workload_result_not_compared" not in judge(runs(1)).flags


def test_the_interval_of_equal_series_is_one() -> None:
    assert ratio(STEADY, STEADY) == Interval(estimate=1, low=1, high=1)


def test_a_slow_minute_of_the_machine_leaves_the_ratio_as_it_is() -> None:
    minutes = (1, 1, 3, 3, 3, 1, 1)
    twice = ratio([2 * each for each in minutes], minutes)
    assert (twice.low, twice.estimate, twice.high) == pytest.approx((2, 2, 2))


@pytest.mark.parametrize("rounds", [6, 7, 20, 35])
def test_the_interval_is_what_scipys_signed_rank_test_does_not_reject(rounds: int) -> None:
    draw = Random(rounds)
    for _ in range(20):
        ratios = [draw.lognormvariate(0.1, 0.2) for _ in range(rounds)]
        found = ratio(ratios, [1.0] * rounds)
        for bound, outward in ((found.low, -1e-9), (found.high, 1e-9)):
            beyond, within = (
                wilcoxon([log(each / bound) - step for each in ratios], mode="exact").pvalue
                for step in (outward, -outward)
            )
            assert beyond <= 0.05 < within
