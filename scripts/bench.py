"""Prints the seconds of each step of an evaluation, and what a reward from Python costs beside its tests.

Medians over some runs of one instance's gold patch, in fresh containers of an image that is present; in the end, what
counter-tests cost. Arguments, all optional: instance id, data set, folders of mirrors.
"""

import os
import statistics
import sys
import time
from collections.abc import Sequence

from assay import Evaluation, Evaluator, Instance, Prediction, Verdict
from assay.choices import CounterChoice
from assay.harness.domain import Timings

INSTANCE = "pallets__flask-2.3.2"
RUNS = 20
STEPS = ("create", "deliver", "start", "apply", "test", "collect", "remove", "total")


class Timed(Evaluator):
    """An evaluator that keeps the timings of every evaluation."""

    def __init__(self, dataset: str, mirrors: Sequence[str], counter: str = CounterChoice.NONE) -> None:
        super().__init__(dataset, mirrors=mirrors, counter=counter)
        self.timings: list[Timings] = []

    def judge(self, instance: Instance | str, patch: str | Prediction) -> tuple[Verdict, Evaluation]:
        """Evaluate, and keep the timings; raises SystemExit for a patch that is not resolved."""
        verdict, evaluation = super().judge(instance, patch)
        if not verdict.resolved:
            raise SystemExit(f"{verdict.instance_id}: {verdict.outcome}: {verdict.reason}")
        self.timings.append(evaluation.evidence.timings)
        return verdict, evaluation


def main() -> None:
    """Evaluate the gold patch of one instance ``RUNS`` times one by one, then as often with two jobs."""
    arguments = dict(enumerate(sys.argv))
    with Timed(arguments.get(2, "releases"), mirrors=sys.argv[3:]) as evaluator:
        (instance,) = (each for each in evaluator.instances if each.id == arguments.get(1, INSTANCE))
        pair = (instance, instance.gold_patch)
        evaluator.evaluate(*pair)
        evaluator.timings.clear()
        walls = [_seconds(evaluator, *pair) for _ in range(RUNS)]
        one_by_one = list(evaluator.timings)
        print(f"{instance.id}, {RUNS} runs after one to warm up, seconds\n")
        _print_steps(one_by_one)
        beside = [wall - timing.test for wall, timing in zip(walls, one_by_one, strict=True)]
        print("\nfrom Python, beside the tests")
        _print_row("evaluate", beside)

        evaluator.timings.clear()
        began = time.monotonic()
        list(evaluator.evaluate_many([pair] * RUNS, jobs=2))
        wall, tests = time.monotonic() - began, sum(timing.test for timing in evaluator.timings)
        print(f"{'2 jobs':<10}{(wall - tests / 2) / RUNS:>9.3f}  each: {wall:.1f} in all, tests {tests:.1f} in 2 jobs")
    _print_counters(pair, arguments.get(2, "releases"), sys.argv[3:])
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _print_counters(pair: tuple[Instance, str], dataset: str, mirrors: Sequence[str]) -> None:
    """Print the seconds of evaluations with counter-tests; the first with a pair makes them."""
    print("\ncounter-tests, whole evaluations and their tests")
    for choice in (CounterChoice.PAIR, CounterChoice.NONE, CounterChoice.BESIDE):
        with Timed(dataset, mirrors, choice) as evaluator:
            evaluator.evaluate(*pair)
            evaluator.timings.clear()
            walls = [_seconds(evaluator, *pair) for _ in range(RUNS)]
            _print_row(choice, walls)
            _print_row("  test", [timing.test for timing in evaluator.timings])


def _seconds(evaluator: Timed, instance: Instance, patch: str) -> float:
    began = time.monotonic()
    evaluator.evaluate(instance, patch)
    return time.monotonic() - began


def _print_steps(timings: list[Timings]) -> None:
    print(f"{'step':<10}{'median':>9}{'least':>9}{'most':>9}")
    for step in STEPS:
        _print_row(step, [getattr(timing, step) for timing in timings])
    _print_row("overhead", [timing.total - timing.test for timing in timings])
    share = statistics.median((timing.total - timing.test) / timing.total for timing in timings)
    print(f"overhead is total minus test, {share:.0%} of total")


def _print_row(name: str, seconds: list[float]) -> None:
    print(f"{name:<10}{statistics.median(seconds):>9.3f}{min(seconds):>9.3f}{max(seconds):>9.3f}")


main()
