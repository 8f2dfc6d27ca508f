"""FeatureBench's measure beside the verdict: the share of the tests that pass in the files to be fixed. Pure."""

from collections.abc import Mapping

from assay.harness.domain import FAILING, GRADED, INFRASTRUCTURE, PASSING, Evidence, Instance, Outcome
from assay.harness.reports.base import SEPARATOR
from assay.harness.rulings.doubts import find_distrust

PASS_RATE = "pass_rate"


def measure(instance: Instance, evidence: Evidence, outcome: Outcome) -> Mapping[str, float]:
    """Return the benchmark's %passed of one patch, 0 to 1; nothing after a failure of the infrastructure.

    Tests that are skipped do not count. The share is 0 where no test of the files ran, or results cannot be trusted.
    """
    if outcome in INFRASTRUCTURE:
        return {}
    trusted = outcome in GRADED and not find_distrust(evidence)
    inside = tuple(f"{file}{SEPARATOR}" for file in instance.fail_to_pass)
    found = [status for name, status in evidence.report.tests.items() if trusted and name.startswith(inside)]
    passed, failed = (sum(status in group for status in found) for group in (PASSING, FAILING))
    return {PASS_RATE: round(passed / (passed + failed), 4) if passed else 0.0}
