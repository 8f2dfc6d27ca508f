"""FeatureBench, whose labels are files."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.feature_bench.rule import count_against, judge
from assay.harness.domain import Rule

BENCHMARK = Benchmark(name=Rule.FEATURE_BENCH, judge=judge, label_rule=count_against, has_own_image=True)
