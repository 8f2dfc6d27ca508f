"""FeatureBench's rule, whose labels are files. Pure."""

from assay.harness.benchmarks.feature_bench.measures import measure
from assay.harness.domain import PASSING, Evidence, Instance, Status
from assay.harness.reports import lookup
from assay.harness.reports.base import SEPARATOR
from assay.harness.rulings.doubts import Ruling
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
