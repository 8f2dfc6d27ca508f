"""One run of some test files on some sides."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.harness.domain import PASSING, Evidence, Status, TestPlan
from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.sides import ForgedSideError, Side
from assay.harness.rulings.doubts import find_distrust
from assay.harness.rulings.normalise import normalise_results

_STYLE = re.compile(
    "test_code_quality|test_coding_style|test_codestyle|test_style[.]py|code_style|flake8|pyflakes|pycodestyle|pydocstyle"
    "|pylint_self|pep8|pep257|::black|::ruff|::isort|::mypy|test_mypy|test_lint|eslint|prettier|gofmt|golint|rustfmt|clippy"
    "|checkstyle|spotless|rubocop|php_cs|phpcs",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """The result of a run of test files on one side."""

    statuses: Mapping[str, Status]
    """Status by test; empty if nothing could be read, or the time was not enough."""
    timed_out: bool
    limit: float
    seconds: float

    def passes(self, test: str) -> bool:
        return self.statuses.get(test) in PASSING


def run(context: Context, files: Sequence[str], sides: Sequence[Side], seconds: float) -> list[SuiteRun]:
    """Run test files on several sides at once, within the plan's limit or ``seconds``; raises as ``Sides.run``."""
    plan = context.plan(files, seconds)

    def one(side: Side) -> SuiteRun:
        began = time.monotonic()
        evidence = context.sides.test(side, plan).evidence
        ran = _read(context, plan, evidence, time.monotonic() - began)
        is_trusted = side is not Side.CANDIDATE or ran.statuses or ran.timed_out
        doubt = "" if is_trusted else find_distrust(evidence)
        # files in which gold, too, loses what was laid beside the tests give no result, and nobody forged any
        if doubt and ((gold := run_gold(context, files, seconds)).statuses or gold.timed_out):
            raise ForgedSideError(side, doubt)
        return ran

    return context.sides.map_sides(sides, one)


def run_gold(context: Context, files: Sequence[str], seconds: float) -> SuiteRun:
    return run(context, files, [Side.GOLD], seconds)[0]


def _read(context: Context, plan: TestPlan, evidence: Evidence, took: float) -> SuiteRun:
    instance, limit = context.sides.instance, plan.limits.seconds
    nothing = evidence.timed_out or find_distrust(evidence)
    found = {} if nothing else dict(normalise_results(instance, evidence.report.tests))
    return SuiteRun(found, evidence.timed_out, limit, took)


def runs_everything(context: Context, some: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether the recipe's command ignores the files that it is given, and runs the whole suite."""
    return context.plan(some).command == context.plan(others).command


def is_style(test: str) -> bool:
    """Return whether a test checks how code is written and not its behaviour."""
    return bool(_STYLE.search(test))
