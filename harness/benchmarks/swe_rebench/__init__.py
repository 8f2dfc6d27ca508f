"""SWE-rebench."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.swe_rebench.durations import make_label_test
from assay.harness.benchmarks.swe_rebench.rule import count_against
from assay.harness.domain import Rule

BENCHMARK = Benchmark(name=Rule.SWE_REBENCH, label_rule=count_against, allows_fuzz=True, label_test=make_label_test)
