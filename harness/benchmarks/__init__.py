"""Benchmarks: one folder each, listed in ``BENCHMARKS``; ``base.Benchmark`` lists what one may define.

A folder's ``rule.py`` and ``measures.py`` decide a verdict, and nothing that runs in a container: where one of them
changes, saved evidence is graded again. All else here decides what runs.
"""

from assay.harness.benchmarks import (
    feature_bench,
    harbor,
    multi_swe_bench,
    nocode_bench,
    r2e,
    swe_bench,
    swe_bench_live,
    swe_bench_pro,
    swe_fficiency,
    swe_polybench,
    swe_rebench,
    swt_bench,
)
from assay.harness.benchmarks.base import Benchmark
from assay.harness.domain import Rule

__all__ = ["BENCHMARKS", "Benchmark", "find_benchmark"]

BENCHMARKS: tuple[Benchmark, ...] = (
    swe_bench.BENCHMARK,
    swe_bench.FAIL_ONLY,
    swe_bench.SWE_SMITH,
    multi_swe_bench.BENCHMARK,
    swe_polybench.BENCHMARK,
    swe_bench_live.BENCHMARK,
    swe_rebench.BENCHMARK,
    r2e.BENCHMARK,
    swe_bench_pro.BENCHMARK,
    nocode_bench.BENCHMARK,
    feature_bench.BENCHMARK,
    harbor.BENCHMARK,
    swt_bench.BENCHMARK,
    swe_fficiency.BENCHMARK,
)
_BY_NAME = {each.name: each for each in BENCHMARKS}


def find_benchmark(name: Rule) -> Benchmark:
    return _BY_NAME[name]
