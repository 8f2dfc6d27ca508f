"""SWE-bench with its two rules, and SWE-smith, which is judged alike."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.swe_bench.rule import fail_only, judge, judge_fail_only, pass_and_fail
from assay.harness.domain import Rule

BENCHMARK = Benchmark(
    name=Rule.SWE_BENCH, label_rule=pass_and_fail, own_judge=judge, allows_fuzz=True, submitted_as="swebench"
)
FAIL_ONLY = Benchmark(
    name=Rule.SWE_BENCH_FAIL_ONLY,
    label_rule=fail_only,
    own_judge=judge_fail_only,
    allows_fuzz=True,
    labels_may_be_missing=True,
    can_stop_early=False,
    submitted_as="swebench",
)
SWE_SMITH = Benchmark(name=Rule.SWE_SMITH, label_rule=pass_and_fail, allows_fuzz=True)
