"""Each benchmark's definition of "resolved" over test results, one function each, listed in ``RULES``. Pure.

A rule returns the tests that count against the patch: (unfixed, broken). ``docs/rules.md`` compares the rules.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from assay.harness.domain import FAILING, PASSING, Instance, Rule, Stages, Status
from assay.harness.grading.stages import killers
from assay.harness.reports import lookup, stands_for
from assay.harness.reports.base import SEPARATOR, worst

PRINTED = frozenset({Status.PASSED, Status.FAILED, Status.ERROR})
"""Statuses that R2E's log parser knows; other tests are not in its map."""

NOT_FAILING = PASSING | {Status.SKIPPED}

Tests = Mapping[str, Status]
Against = tuple[tuple[str, ...], tuple[str, ...]]

_TIME = r"\s*\d+(?:\.\d+)?\s*(?:ms|s)\s*"
_TIMINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (rf"\s*\[{_TIME}\]\s*$", r"\s+in\s+\d+(?:\.\d+)?\s+(?:msec|sec)\b", rf"\s*\({_TIME}\)\s*$")
)
"""Durations in names that the benchmark's evaluator leaves out, in its order; other names may differ by a duration."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def swe_bench(instance: Instance, tests: Tests) -> Against:
    """SWE-bench's pass_and_fail rule, and SWE-smith's.

    A fail-to-pass test must pass (an expected failure counts, a skip does not); a pass-to-pass test may also be
    skipped. A missing test counts as failed. So does a label that was cut, and stands for a skipped test and one that
    passes.

    An expected failure of a fail-to-pass test counts only if the test patch can have declared it, because code under
    test can call ``pytest.xfail`` itself.
    """
    found = {t: lookup(t, tests) for t in instance.pass_to_pass}
    broken = tuple(t for t, statuses in found.items() if not statuses <= PASSING and statuses != {Status.SKIPPED})
    return _unfixed(instance, tests), broken


def swe_bench_fail_only(instance: Instance, tests: Tests) -> Against:
    """SWE-bench's fail_only rule, for logs that name failures only: a test not reported as failed has passed."""
    unfixed = tuple(t for t in instance.fail_to_pass if lookup(t, tests) & FAILING)
    return unfixed, _failing(instance.pass_to_pass, tests)


def multi_swe_bench(instance: Instance, tests: Tests) -> Against:
    """Multi-SWE-bench's rule: this run takes the place of the row's fix stage.

    Every listed test must stay in its set of the row. Its result with the test patch comes from the row, so it must
    pass now. No other test may fail now that passed before (``stages.killers``).
    """
    stages = (instance.stages or Stages()).model_copy(update={"fix": dict(tests)})
    unfixed, broken = (_not_passed(names, tests) for names in (instance.fail_to_pass, instance.pass_to_pass))
    known = {*unfixed, *broken, *instance.quarantined}
    return unfixed, (*broken, *(t for t in killers(stages) if t not in known))


def swe_polybench(instance: Instance, tests: Tests) -> Against:
    """SWE-PolyBench's rule: all fail-to-pass tests have passed, and no pass-to-pass test has failed.

    So a pass-to-pass test may be missing. An expected failure is neither.
    """
    return _not_passed(instance.fail_to_pass, tests), _failing(instance.pass_to_pass, tests)


def swe_bench_live(instance: Instance, tests: Tests) -> Against:
    """SWE-bench-Live's rule: no expected test has failed, and every fail-to-pass test has passed.

    So a pass-to-pass test may be missing or skipped. An expected failure is a failure.
    """
    broken = tuple(t for t in instance.pass_to_pass if lookup(t, tests) & {*FAILING, Status.XFAIL})
    return _not_passed(instance.fail_to_pass, tests), broken


def swe_rebench(instance: Instance, tests: Tests) -> Against:
    """SWE-rebench's rule: the passed tests are exactly the expected ones; timings in names are ignored.

    A passed test that is not expected is a mismatch, and is listed among the broken ones. What a shortened label stands
    for is expected. Tests that the benchmark's log parsers overlook are not among the tests (``reports.overlooked``).
    """
    now = worst((_untimed(name), status) for name, status in tests.items())
    labels = (*instance.fail_to_pass, *instance.pass_to_pass, *instance.quarantined)
    shortened = {label: set(stands_for(label, tests)) for label in labels if _untimed(label) not in now}
    now |= worst((_untimed(label), tests[name]) for label, names in shortened.items() for name in names)
    passed = {name for name, status in now.items() if status is Status.PASSED}
    unfixed, broken = (
        tuple(t for t in names if _untimed(t) not in passed) for names in (instance.fail_to_pass, instance.pass_to_pass)
    )
    known = {_untimed(name) for name in (*labels, *set[str]().union(*shortened.values()))}
    return unfixed, (*broken, *(t for t in tests if _untimed(t) in passed - known))


def label_test(instance: Instance) -> Callable[[str], bool] | None:
    """Return whether a label has a name, under a rule by which each other test counts once; None under others."""
    if instance.rule is not Rule.SWE_REBENCH:
        return None
    labels = {_untimed(name) for name in (*instance.fail_to_pass, *instance.pass_to_pass, *instance.quarantined)}
    return lambda name: _untimed(name) in labels


def all_passed(instance: Instance, tests: Tests) -> Against:
    """The rule of SWE-bench Pro, NoCode-bench and Harbor: every expected test has passed, and nothing else counts.

    A task of Harbor has one test, its reward.
    """
    return _not_passed(instance.fail_to_pass, tests), _not_passed(instance.pass_to_pass, tests)


def feature_bench(instance: Instance, tests: Tests) -> Against:
    """FeatureBench's rule, whose labels are files: pytest ends each with status 0, so it ran tests, and none failed.

    All tests of a pass-to-pass file may be skipped, but not the file as a whole, of which pytest then collects nothing.
    A test of a fail-to-pass file has to pass.
    """
    collected = {name.partition(SEPARATOR)[0] for name in tests if SEPARATOR in name}
    kept = {file: lookup(file, tests) for file in instance.pass_to_pass}
    broken = (file for file, found in kept.items() if not (found <= NOT_FAILING and file in collected))
    return _not_passed(instance.fail_to_pass, tests), tuple(broken)


def r2e(instance: Instance, tests: Tests) -> Against:
    """R2E-Gym's rule: the map of all results equals the expected one.

    Its maps name tests by class and function without the file, and have no skipped tests. Unfixed are tests that should
    pass and do not; broken are all other differences.
    """
    stages = instance.stages or Stages()
    now = {t: status for t, status in worst((_r2e_name(t), s) for t, s in tests.items()).items() if status in PRINTED}
    wanted = {_r2e_cut(test): status for test, status in stages.fix.items()}
    differing = [test for test in {**wanted, **now} if wanted.get(test) is not now.get(test)]
    unfixed = tuple(test for test in differing if wanted.get(test) is Status.PASSED)
    return unfixed, tuple(test for test in differing if wanted.get(test) is not Status.PASSED)


RULES: dict[Rule, Callable[[Instance, Tests], Against]] = {
    Rule.SWE_BENCH: swe_bench,
    Rule.SWE_BENCH_FAIL_ONLY: swe_bench_fail_only,
    Rule.MULTI_SWE_BENCH: multi_swe_bench,
    Rule.SWE_POLYBENCH: swe_polybench,
    Rule.SWE_BENCH_LIVE: swe_bench_live,
    Rule.SWE_REBENCH: swe_rebench,
    Rule.SWE_SMITH: swe_bench,
    Rule.R2E: r2e,
    Rule.SWE_BENCH_PRO: all_passed,
    Rule.NOCODE_BENCH: all_passed,
    Rule.FEATURE_BENCH: feature_bench,
    Rule.HARBOR: all_passed,
}


def _unfixed(instance: Instance, tests: Tests) -> tuple[str, ...]:
    """Return the fail-to-pass tests that have not passed."""
    added = instance.test_patch.lower()
    fixed = PASSING if "xfail" in added or "expectedfailure" in added else {Status.PASSED}
    return tuple(t for t in instance.fail_to_pass if not lookup(t, tests) <= fixed)


def _not_passed(names: Iterable[str], tests: Tests) -> tuple[str, ...]:
    return tuple(name for name in names if lookup(name, tests) != {Status.PASSED})


def _failing(names: Iterable[str], tests: Tests) -> tuple[str, ...]:
    return tuple(name for name in names if lookup(name, tests) & FAILING)


def _untimed(name: str) -> str:
    """Return a test's name without the durations that some runners add."""
    for timing in _TIMINGS:
        name = timing.sub("", name)
    return name.strip()


def _r2e_name(test: str) -> str:
    return _r2e_cut(".".join(test.split("::")[1:]) or test)


def _r2e_cut(name: str) -> str:
    return _COLOUR.sub("", name).split(" - ")[0]
