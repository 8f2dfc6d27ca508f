"""FeatureBench's rule, whose labels are files. Pure."""

from collections.abc import Mapping

from assay.harness.domain import FAILING, GRADED, INFRASTRUCTURE, PASSING, Evidence, Instance, Outcome, Status
from assay.harness.reports import lookup
from assay.harness.reports.base import SEPARATOR
from assay.harness.rulings.doubts import Ruling, find_distrust
from assay.harness.rulings.labels import Against, Tests, find_not_passed, judge_labels

NOT_FAILING = PASSING | {Status.SKIPPED}


def count_against(instance: Instance, tests: Tests) -> Against:
    """Count by pytest's status for each file: 0 if it ran tests, and none failed.

    All tests of a pass-to-pass file may be skipped, but not the file as a whole: pytest then collects nothing of it. A
    test of a fail-to-pass file has to pass.
    """
    collected = {name.partition(SEPARATOR)[0] for name in tests if SEPARATOR in name}
    kept = {file: lookup(file, tests) for file in instance.pass_to_pass}
    broken = (file for file, found in kept.items() if not (found <= NOT_FAILING and file in collected))
    return find_not_passed(instance.fail_to_pass, tests), tuple(broken)


def judge(instance: Instance, evidence: Evidence) -> Ruling:
    found = judge_labels(instance, evidence, count_against)
    return found._replace(measures=measure(instance, evidence, found.outcome))


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
