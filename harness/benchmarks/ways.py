"""How the patch of a task is evaluated: in one run of its tests, or as its rule asks for."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from assay.harness.benchmarks.swe_fficiency.evaluate import evaluate_speed
from assay.harness.benchmarks.swt_bench.evaluate import evaluate_tests, gated_tests
from assay.harness.domain import Rule
from assay.harness.engines.base import Engine
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate, gated
from assay.harness.evaluation.fail_fast import evaluate_fast
from assay.harness.patches.gate import GatedPatch


class Way(NamedTuple):
    """The steps of an evaluation that differ from rule to rule."""

    gated: Callable[[Task], GatedPatch | Evaluation]
    """Returns the patch whose image is needed, or the evaluation of one that needs no container to be judged."""
    evaluate: Callable[[Task, str, Engine, Mapping[str, str] | None], Evaluation]
    aims: bool = True
    """Whether the plan also runs the test files that only labels name."""


ONE_RUN, FAST = Way(gated, evaluate), Way(gated, evaluate_fast)
WAYS = {
    Rule.SWT_BENCH: Way(gated_tests, evaluate_tests, aims=False),
    Rule.SWE_FFICIENCY: Way(gated, evaluate_speed),
}
"""Ways of the rules that need more than one run."""


def way_of(task: Task) -> Way:
    """Return how a task is evaluated."""
    return WAYS.get(task.instance.rule) or (FAST if task.fail_fast else ONE_RUN)
