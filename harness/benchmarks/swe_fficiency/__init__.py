"""SWE-fficiency, SWE-Perf and GSO, which ask for a speed-up of workloads."""

from assay.harness.benchmarks.base import Benchmark
from assay.harness.benchmarks.swe_fficiency.evaluate import evaluate_speed
from assay.harness.benchmarks.swe_fficiency.rule import judge, judge_beside_gold
from assay.harness.domain import Rule

NOT_RANKED = "its patches are judged by their speed"
BENCHMARK = Benchmark(name=Rule.SWE_FFICIENCY, own_judge=judge, evaluate=evaluate_speed, not_ranked=NOT_RANKED)
SWE_PERF = Benchmark(name=Rule.SWE_PERF, own_judge=judge, evaluate=evaluate_speed, not_ranked=NOT_RANKED)
GSO = Benchmark(name=Rule.GSO, own_judge=judge_beside_gold, evaluate=evaluate_speed, not_ranked=NOT_RANKED)
