"""NoCode-bench."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.domain import Rule
from assay.harness.rulings.labels import all_passed

BENCHMARK = Benchmark(name=Rule.NOCODE_BENCH, label_rule=all_passed, allows_fuzz=True)
