"""Instances as tasks of writing tests: any that has a gold patch is one of SWT-bench's."""

from assay.harness.benchmarks import find_benchmark, swt_bench
from assay.harness.domain import Instance, PublishedImage, RowScript
from assay.harness.errors import DataError

RULE = swt_bench.BENCHMARK.name


def make_test_task(instance: Instance) -> Instance:
    """Return an instance for which a prediction is a patch of tests; raises DataError.

    It has no labels, since those name the tests of its own test patch, and no published image, since the row's script
    runs these tests alone.
    """
    if find_benchmark(instance.rule).has_own_image:
        problem = f"is {instance.rule}, whose instances are tested in their own images; {RULE} uses none"
        raise DataError(problem, instance=instance.id, field="rule")
    if not instance.gold_patch.strip():
        problem = f"is empty, and the rule {RULE} runs tests with it and without it"
        raise DataError(problem, instance=instance.id, field="patch")
    changes = {"rule": RULE, "fail_to_pass": (), "pass_to_pass": (), "quarantined": (), "stages": None}
    if isinstance(instance.environment, PublishedImage | RowScript):
        changes["environment"] = None
    return instance.model_copy(update=changes)
