"""Names of tests without the durations that some runners add, as SWE-rebench compares them. Pure."""

import re
from collections.abc import Callable

from assay.harness.domain import Instance

_TIME = r"\s*\d+(?:\.\d+)?\s*(?:ms|s)\s*"
_TIMINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (rf"\s*\[{_TIME}\]\s*$", r"\s+in\s+\d+(?:\.\d+)?\s+(?:msec|sec)\b", rf"\s*\({_TIME}\)\s*$")
)
"""Durations in names that the benchmark's evaluator leaves out, in its order; other names may differ by a duration."""


def remove_duration(name: str) -> str:
    for timing in _TIMINGS:
        name = timing.sub("", name)
    return name.strip()


def make_label_test(instance: Instance) -> Callable[[str], bool]:
    labels = {remove_duration(name) for name in (*instance.fail_to_pass, *instance.pass_to_pass, *instance.quarantined)}
    return lambda name: remove_duration(name) in labels
