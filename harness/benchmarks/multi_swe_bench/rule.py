"""Multi-SWE-bench's rule, over three stages: the change of each test, and whether they make a valid instance. Pure.

A test has one result in each stage: at the base commit (``run``), with the test patch (``test``) and with the gold
patch too (``fix``). It is PASS, FAIL, SKIP or NONE, here passed, failed, skipped and missing. The five sets of a row
follow from the three stages:

====== =================== ===========
set    test                fix
====== =================== ===========
fixed  anything but PASS   PASS
p2p    PASS                PASS
f2p    FAIL                PASS
s2p    SKIP                PASS
n2p    NONE                PASS
====== =================== ===========

So fixed is f2p, s2p and n2p together, and a test that does not pass with the gold patch is in no set. The definitions
are those of the benchmark's own report; on its published rows they give exactly the rows' sets.
"""

from collections.abc import Iterator, Mapping

from assay.harness.domain import Instance, Stages, Status
from assay.harness.rulings.labels import Against, Tests, find_not_passed, get_stages

WORDS = {"PASS": Status.PASSED, "FAIL": Status.FAILED, "SKIP": Status.SKIPPED, "NONE": Status.MISSING}
"""The benchmark's word for a status."""

SETS = {"p2p": Status.PASSED, "f2p": Status.FAILED, "s2p": Status.SKIPPED, "n2p": Status.MISSING}
"""Result with the test patch of the tests in each set; with the gold patch all pass."""

RESULTS = {"run": "run_result", "test": "test_patch_result", "fix": "fix_patch_result"}
"""Stage to the column of a row or report with its results."""
PARTS = {"passed": Status.PASSED, "failed": Status.FAILED, "skipped": Status.SKIPPED}
LABELS = tuple(f"{name}_tests" for name in (*SETS, "fixed"))

_SAME = {Status.ERROR: Status.FAILED, Status.XFAIL: Status.SKIPPED}


def count_against(instance: Instance, tests: Tests) -> Against:
    """Count this run as the row's fix stage.

    Every listed test must stay in its set of the row. Its result with the test patch comes from the row, so it must
    pass now. No other test may fail now that passed before (``find_killers``).
    """
    stages = get_stages(instance).model_copy(update={"fix": dict(tests)})
    unfixed, broken = (find_not_passed(names, tests) for names in (instance.fail_to_pass, instance.pass_to_pass))
    known = {*unfixed, *broken, *instance.quarantined}
    return unfixed, (*broken, *(t for t in find_killers(stages) if t not in known))


def simplify(status: Status) -> Status:
    """Count an error as a failure, and an expected failure as a skip."""
    return _SAME.get(status, status)


def get_word(status: Status) -> str:
    return next(name for name, meant in WORDS.items() if meant is simplify(status))


def find_status(stage: Mapping[str, Status], test: str) -> Status:
    return simplify(stage.get(test, Status.MISSING))


def list_tests(stages: Stages) -> dict[str, None]:
    return dict.fromkeys((*stages.run, *stages.test, *stages.fix))


def classify(stages: Stages) -> dict[str, tuple[str, ...]]:
    passed = [test for test in list_tests(stages) if find_status(stages.fix, test) is Status.PASSED]
    return {name: tuple(t for t in passed if find_status(stages.test, t) is before) for name, before in SETS.items()}


def find_fixed(stages: Stages) -> tuple[str, ...]:
    return tuple(
        test
        for test in list_tests(stages)
        if find_status(stages.fix, test) is Status.PASSED and find_status(stages.test, test) is not Status.PASSED
    )


def find_killers(stages: Stages) -> Iterator[str]:
    """Yield the tests that fail now and passed before; each alone makes the fix stage invalid.

    They passed with the test patch, or at the base commit and did not run with the test patch.
    """
    for test, now in stages.fix.items():
        if simplify(now) is Status.FAILED and _had_passed(stages, test):
            yield test


def _had_passed(stages: Stages, test: str) -> bool:
    before = find_status(stages.test, test)
    if before in {Status.MISSING, Status.SKIPPED}:
        before = find_status(stages.run, test)
    return before is Status.PASSED


def explain_invalid(stages: Stages) -> str:
    """Return why the benchmark refuses three stages; empty if it accepts them. Its checks are in its order."""
    if not stages.fix:
        return "the fix stage has no test"
    killer = next(find_killers(stages), None)
    if killer is not None:
        return f"{killer[:80]!r} passed before the gold patch and fails with it"
    if not find_fixed(stages):
        return "the gold patch fixes no test"
    return ""


def labels(stages: Stages) -> dict[str, dict[str, dict[str, str]]]:
    sets = (*classify(stages).values(), find_fixed(stages))
    each = {"run": stages.run, "test": stages.test, "fix": stages.fix}
    return {
        field: {test: {name: get_word(find_status(stage, test)) for name, stage in each.items()} for test in tests}
        for field, tests in zip(LABELS, sets, strict=True)
    }


def results(stage: Mapping[str, Status]) -> dict[str, int | list[str]]:
    lists = {part: [test for test in stage if find_status(stage, test) is status] for part, status in PARTS.items()}
    counts: dict[str, int | list[str]] = {f"{part}_count": len(tests) for part, tests in lists.items()}
    return counts | {f"{part}_tests": tests for part, tests in lists.items()}
