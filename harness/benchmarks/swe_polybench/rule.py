"""SWE-PolyBench's rule. Pure."""

from assay.harness.domain import Instance
from assay.harness.rulings.labels import Against, Tests, find_failing, find_not_passed


def count_against(instance: Instance, tests: Tests) -> Against:
    """SWE-PolyBench's rule: all fail-to-pass tests have passed, and no pass-to-pass test has failed.

    So a pass-to-pass test may be missing. An expected failure is neither.
    """
    return find_not_passed(instance.fail_to_pass, tests), find_failing(instance.pass_to_pass, tests)
