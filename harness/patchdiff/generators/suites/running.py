"""One run of some test files on some sides."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.harness.domain import PASSING, Status
from assay.harness.grading.checks import doubt_about
from assay.harness.grading.results import steady
from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.sides import ForgedSideError, Side


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """The result of a run of test files on one side."""

    statuses: Mapping[str, Status]
    """By test; empty if nothing could be read, or the time was not enough."""
    timed_out: bool
    limit: float
    """Seconds that it was given."""
    seconds: float

    def passes(self, test: str) -> bool:
        """Return whether a test ran and passed."""
        return self.statuses.get(test) in PASSING


def run(
    context: Context, files: Sequence[str], sides: Sequence[Side], seconds: float, first: bool = False
) -> list[SuiteRun]:
    """Run test files on several sides at once.

    Args:
        context: the comparison.
        files: paths in the tree.
        sides: whose trees.
        seconds: what each side is given, if the plan does not allow less.
        first: take the result of an earlier comparison on an equal side; what confirms runs each time.

    Raises:
        EngineError: the engine failed. SideError: a tree could not be made.
    """
    plan = context.plan_tests(context.sides.instance, files)
    limit = min(plan.limits.seconds, seconds)
    plan = plan.model_copy(update={"limits": plan.limits.model_copy(update={"seconds": limit})})

    def one(side: Side) -> SuiteRun:
        began = time.monotonic()
        if first:
            evidence, took = context.sides.first_look(side, plan)
        else:
            evidence, took = context.sides.test(side, plan).evidence, time.monotonic() - began
        if evidence.timed_out:
            return SuiteRun({}, True, limit, took)
        if doubt := doubt_about(context.sides.instance, evidence):
            # files in which gold, too, loses what was laid beside the tests give no result, and nobody forged any
            if side is Side.CANDIDATE and ((gold := one(Side.GOLD)).statuses or gold.timed_out):
                raise ForgedSideError(side, doubt)
            return SuiteRun({}, False, limit, took)
        found = steady(context.sides.instance, evidence.report.tests)
        return SuiteRun(dict(found), False, limit, took)

    return context.sides.at_once(sides, one)


def runs_everything(context: Context, some: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether the command is the same whatever files are named: a recipe that always runs the whole suite."""
    instance = context.sides.instance
    return context.plan_tests(instance, some).command == context.plan_tests(instance, others).command
