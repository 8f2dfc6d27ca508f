"""SWE-bench's two rules. Pure."""

from functools import partial

from assay.harness.domain import PASSING, Instance, Status
from assay.harness.reports import lookup
from assay.harness.rulings.labels import Against, Tests, find_failing, judge_labels


def pass_and_fail(instance: Instance, tests: Tests) -> Against:
    """SWE-bench's pass_and_fail rule, and SWE-smith's.

    A fail-to-pass test must pass (an expected failure counts, a skip does not); a pass-to-pass test may also be
    skipped. A missing test counts as failed. So does a cut label that stands for a skipped test and one that passes.

    An expected failure of a fail-to-pass test counts only if the test patch can have declared it, because code under
    test can call ``pytest.xfail`` itself.
    """
    added = instance.test_patch.lower()
    fixed = PASSING if "xfail" in added or "expectedfailure" in added else {Status.PASSED}
    unfixed = tuple(t for t in instance.fail_to_pass if not lookup(t, tests) <= fixed)
    found = {t: lookup(t, tests) for t in instance.pass_to_pass}
    return unfixed, tuple(t for t, status in found.items() if not status <= PASSING and status != {Status.SKIPPED})


def fail_only(instance: Instance, tests: Tests) -> Against:
    """SWE-bench's fail_only rule, for logs that name failures only: a test not reported as failed has passed."""
    return find_failing(instance.fail_to_pass, tests), find_failing(instance.pass_to_pass, tests)


judge_fail_only = partial(judge_labels, rule=fail_only, silence_passes=True)
