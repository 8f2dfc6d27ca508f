"""Names of rules. They decide nothing, so a new one leaves saved verdicts valid (``runs/keys.py``)."""

from enum import StrEnum


class Rule(StrEnum):
    """The benchmark whose definition of "resolved" an instance is graded by."""

    SWE_BENCH = "swe-bench"
    SWE_BENCH_FAIL_ONLY = "swe-bench-fail-only"
    MULTI_SWE_BENCH = "multi-swe-bench"
    SWE_POLYBENCH = "swe-polybench"
    SWE_BENCH_LIVE = "swe-bench-live"
    SWE_REBENCH = "swe-rebench"
    SWE_SMITH = "swe-smith"
    R2E = "r2e"
    SWE_BENCH_PRO = "swe-bench-pro"
    NOCODE_BENCH = "nocode-bench"
    FEATURE_BENCH = "feature-bench"
    HARBOR = "harbor"
    DEEP_SWE = "deep-swe"
    COMMIT0 = "commit0"
    """Asks for a whole library."""
    SWT_BENCH = "swt-bench"
    """Judges a patch of tests, not a fix."""
    SWE_FFICIENCY = "swe-fficiency"
    """Asks for a speed-up of a workload."""
    SWE_PERF = "swe-perf"
    """Asks for a speed-up of tests."""
    GSO = "gso"
    """Asks for nearly the gold patch's speed-up of several programs."""
