"""SWE-fficiency, which asks for a speed-up of a workload."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.swe_fficiency.evaluate import evaluate_speed
from assay.harness.benchmarks.swe_fficiency.rule import judge
from assay.harness.domain import Rule

BENCHMARK = Benchmark(
    name=Rule.SWE_FFICIENCY,
    own_judge=judge,
    evaluate=evaluate_speed,
    not_ranked="its patches are judged by their speed",
)
