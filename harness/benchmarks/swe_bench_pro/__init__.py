"""SWE-bench Pro."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.domain import Rule
from assay.harness.rulings.labels import all_passed

BENCHMARK = Benchmark(name=Rule.SWE_BENCH_PRO, label_rule=all_passed)
