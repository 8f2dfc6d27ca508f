"""SWE-bench-Live."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.swe_bench_live.rule import count_against
from assay.harness.domain import Rule

BENCHMARK = Benchmark(
    name=Rule.SWE_BENCH_LIVE,
    label_rule=count_against,
    allows_fuzz=True,
    labels_may_be_missing=True,
    submitted_as="swe-bench-live",
)
