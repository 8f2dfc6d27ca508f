"""Multi-SWE-bench."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.multi_swe_bench.rule import count_against
from assay.harness.domain import Rule

BENCHMARK = Benchmark(name=Rule.MULTI_SWE_BENCH, label_rule=count_against, staged=True, submitted_as="multi-swe-bench")
