"""AdaStop's test: hand-made cases, its error where systems are equal, and its published example."""

import csv
import os
from pathlib import Path
from random import Random

import pytest

from assay.harness.errors import UserError
from assay.harness.metrics.sequential import RunPlan, plan_runs

LOW, HIGH = [1.0, 2.0, 3.0, 4.0], [11.0, 12.0, 13.0, 14.0]


def decide(plan: RunPlan) -> dict[tuple[str, str], tuple[str, int]]:
    return {(each.first, each.second): (each.decision, each.look) for each in plan.pairs}


def test_systems_far_apart_are_distinguished_at_the_first_look_and_need_no_more_runs() -> None:
    # 2 of the 70 ways to part eight scores differ as much: 0.029, within the 0.05 of the only look
    plan = plan_runs({"a": HIGH, "b": LOW}, group=4, looks=1)
    assert decide(plan) == {("a", "b"): ("larger", 1)}
    assert (plan.runs, plan.next_runs, plan.most_runs) == ({"a": 4, "b": 4}, {}, {})
    assert plan_runs({"a": LOW, "b": HIGH}, group=4, looks=1).pairs[0].decision == "smaller"


def test_a_level_that_the_number_of_orders_cannot_reach_decides_nothing_yet() -> None:
    plan = plan_runs({"a": HIGH, "b": LOW}, group=4, looks=5)  # 0.029 of the orders, and 0.01 may be spent
    assert decide(plan) == {("a", "b"): ("undecided", 0)}
    assert (plan.looked, plan.next_runs, plan.most_runs) == (1, {"a": 4, "b": 4}, {"a": 16, "b": 16})
    plan = plan_runs({"a": [*HIGH, 12.5], "b": LOW}, group=4, looks=5)
    assert (plan.next_runs, plan.most_runs) == ({"a": 3, "b": 4}, {"a": 15, "b": 16})
    assert decide(plan_runs({"a": HIGH * 2, "b": LOW * 2}, group=4, looks=5)) == {("a", "b"): ("larger", 2)}


def test_only_undecided_systems_are_looked_at_again() -> None:
    scores = {"a": HIGH, "b": LOW * 3, "c": [each + 0.5 for each in LOW] * 3}
    plan = plan_runs(scores, group=4, looks=3, alpha=0.3)
    assert decide(plan)["a", "b"] == ("larger", 1)
    assert decide(plan)["a", "c"] == ("larger", 1)
    assert decide(plan)["b", "c"] == ("equal", 0)
    assert plan.runs == {"a": 4, "b": 12, "c": 12}


def test_scores_in_another_order_of_addition_are_equal() -> None:
    plan = plan_runs({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1]}, group=3, looks=1, alpha=0.5)
    assert (plan.pairs[0].decision, plan.pairs[0].difference) == ("equal", 0.0)


def test_the_estimate_of_runs_is_that_of_the_normal_approximation() -> None:
    (pair,) = plan_runs({"a": [1.0, 3.0], "b": [0.0, 2.0]}, group=2, looks=2).pairs
    assert pair.runs_needed == 32  # (2 + 2) * (1.960 + 0.842)² / 1²
    assert plan_runs({"a": LOW, "b": LOW}, group=4).pairs[0].runs_needed is None
    assert plan_runs({"a": [1.0], "b": [2.0]}).pairs[0].runs_needed is None


def test_equal_systems_are_called_different_no_more_often_than_alpha_says() -> None:
    wrong, trials = 0, 120
    for seed in range(trials):
        draw = Random(seed)
        scores = {name: [draw.gauss() for _ in range(12)] for name in "ab"}
        wrong += plan_runs(scores, group=4, looks=3, alpha=0.2, paths=200, seed=seed).pairs[0].look > 0
    assert 11 <= wrong <= 35  # 24 expected; twice that, were the bound one-sided


def test_one_system_is_no_comparison() -> None:
    with pytest.raises(UserError, match="two or more systems are compared, not a"):
        plan_runs({"a": LOW})


@pytest.mark.skipif("ASSAY_ADASTOP" not in os.environ, reason="ASSAY_ADASTOP names no folder with walker1.csv to 5")
@pytest.mark.parametrize(("alpha", "last"), [(0.1, ("smaller", 5)), (0.05, ("equal", 0))])
def test_the_published_example_is_decided_as_published_at_twice_its_level(alpha: float, last: tuple[str, int]) -> None:
    """The published program bounds one side only, so its level is half of its chance of an error."""
    scores: dict[str, list[float]] = {}
    for number in range(1, 6):
        with (Path(os.environ["ASSAY_ADASTOP"]) / f"walker{number}.csv").open() as file:
            for row in csv.DictReader(file):
                for name in filter(None, row):
                    scores.setdefault(name, []).append(float(row[name]))
    plan = plan_runs(scores, group=5, looks=5, alpha=alpha)
    assert plan.runs == {"PPO": 10, "DDPG": 25, "SAC": 10, "TRPO": 25}
    assert decide(plan) == {
        ("PPO", "DDPG"): ("larger", 2),
        ("PPO", "SAC"): ("smaller", 2),
        ("PPO", "TRPO"): ("larger", 2),
        ("DDPG", "SAC"): ("smaller", 1),
        ("DDPG", "TRPO"): last,
        ("SAC", "TRPO"): ("larger", 1),
    }
