"""SWT-bench, which judges patches of tests, on several trees."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.swt_bench.evaluate import evaluate_tests, gate_tests, plan_test_patch
from assay.harness.benchmarks.swt_bench.rule import judge
from assay.harness.domain import Rule

BENCHMARK = Benchmark(
    name=Rule.SWT_BENCH,
    own_judge=judge,
    plan=plan_test_patch,
    gate=gate_tests,
    evaluate=evaluate_tests,
    patches_are_tests=True,
    not_ranked="its patches are tests",
)
