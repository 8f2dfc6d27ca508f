"""SWE-rebench's rule. Pure."""

from assay.harness.benchmarks.swe_rebench.durations import remove_duration
from assay.harness.domain import Instance, Status
from assay.harness.reports import find_candidates
from assay.harness.reports.base import worst
from assay.harness.rulings.labels import Against, Tests


def count_against(instance: Instance, tests: Tests) -> Against:
    """SWE-rebench's rule: the passed tests are exactly the expected ones; timings in names are ignored.

    A passed test that is not expected is a mismatch, and is listed among the broken ones. What a shortened label stands
    for is expected. Tests that the benchmark's log parsers overlook are not among the tests (``find_overlooked``).
    """
    now = worst((remove_duration(name), status) for name, status in tests.items())
    labels = (*instance.fail_to_pass, *instance.pass_to_pass, *instance.quarantined)
    shortened = {label: set(find_candidates(label, tests)) for label in labels if remove_duration(label) not in now}
    now |= worst((remove_duration(label), tests[name]) for label, names in shortened.items() for name in names)
    passed = {name for name, status in now.items() if status is Status.PASSED}
    unfixed, broken = (
        tuple(t for t in names if remove_duration(t) not in passed)
        for names in (instance.fail_to_pass, instance.pass_to_pass)
    )
    known = {remove_duration(name) for name in (*labels, *set[str]().union(*shortened.values()))}
    return unfixed, (*broken, *(t for t in tests if remove_duration(t) in passed - known))
