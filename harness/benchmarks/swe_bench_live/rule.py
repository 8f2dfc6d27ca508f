"""SWE-bench-Live's rule. Pure."""

from assay.harness.domain import FAILING, Instance, Status
from assay.harness.reports import lookup
from assay.harness.rulings.labels import Against, Tests, find_not_passed


def count_against(instance: Instance, tests: Tests) -> Against:
    """SWE-bench-Live's rule: no expected test has failed, and every fail-to-pass test has passed.

    So a pass-to-pass test may be missing or skipped. An expected failure is a failure.
    """
    broken = tuple(t for t in instance.pass_to_pass if lookup(t, tests) & {*FAILING, Status.XFAIL})
    return find_not_passed(instance.fail_to_pass, tests), broken
