"""How a task is evaluated: as its benchmark asks for, by default in one run of its tests."""

from assay.harness.benchmarks import find_benchmark
from assay.harness.benchmarks.base import Evaluate
from assay.harness.benchmarks.fail_fast import evaluate_fast
from assay.harness.evaluation.evaluate import Task, evaluate


def find_evaluation(task: Task) -> Evaluate:
    return find_benchmark(task.instance.rule).evaluate or (evaluate_fast if task.fail_fast else evaluate)
