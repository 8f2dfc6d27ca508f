"""FeatureBench, whose labels are files."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.feature_bench.rule import count_against, judge
from assay.harness.domain import Rule

BENCHMARK = Benchmark(name=Rule.FEATURE_BENCH, label_rule=count_against, own_judge=judge, has_own_image=True)
