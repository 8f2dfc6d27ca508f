"""SWE-PolyBench."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.swe_polybench.rule import count_against
from assay.harness.domain import Rule

BENCHMARK = Benchmark(
    name=Rule.SWE_POLYBENCH, label_rule=count_against, labels_may_be_missing=True, submitted_as="swe-polybench"
)
