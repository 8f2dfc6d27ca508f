"""R2E-Gym."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.r2e.rule import count_against, judge, make_label_test
from assay.harness.domain import Rule

BENCHMARK = Benchmark(
    name=Rule.R2E,
    label_rule=count_against,
    label_test=make_label_test,
    own_judge=judge,
    staged=True,
    can_stop_early=False,
)
