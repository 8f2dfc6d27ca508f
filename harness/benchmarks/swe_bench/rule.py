"""SWE-bench's two rules. Pure."""

import re
from functools import partial

from assay.harness.domain import PASSING, Evidence, Instance, Outcome, Status
from assay.harness.patches.diff import read_diff
from assay.harness.reports import lookup
from assay.harness.rulings.doubts import Ruling
from assay.harness.rulings.labels import Against, Tests, find_failing, judge_labels

_WORD = re.compile(r"\w+")
_FUNCTION = re.compile(r"\s*(?:async )?def (\w+)")
_EXPECTED = re.compile("xfail|expectedfailure", re.IGNORECASE)


def find_expected_failures(test_patch: str) -> frozenset[str]:
    """Find the functions that a test patch shows with a mark of an expected failure, above or inside of them."""
    found = set[str]()
    for hunk in (hunk for change in read_diff(test_patch) for hunk in change.hunks):
        name = decorators = ""
        for line in (hunk.section, *hunk.new()):
            if line.lstrip().startswith("@") or (decorators and not _FUNCTION.match(line)):
                name, decorators = "", decorators + line
                continue
            if function := _FUNCTION.match(line):
                name = function[1]
            if name and _EXPECTED.search(line + decorators):
                found.add(name)
            decorators = ""
    return frozenset(found)


def pass_and_fail(instance: Instance, tests: Tests) -> Against:
    """SWE-bench's pass_and_fail rule, and SWE-smith's.

    A fail-to-pass test must pass (an expected failure counts, a skip does not); a pass-to-pass test may also be
    skipped. A missing test counts as failed. So does a cut label that stands for a skipped test and one that passes.

    An expected failure of a fail-to-pass test counts only if the test patch declares it for that test, because code
    under test can call ``pytest.xfail`` itself.
    """
    declared = find_expected_failures(instance.test_patch) if Status.XFAIL in tests.values() else frozenset()
    fixed = {t: {Status.PASSED} if declared.isdisjoint(_WORD.findall(t)) else PASSING for t in instance.fail_to_pass}
    unfixed = tuple(t for t in instance.fail_to_pass if not lookup(t, tests) <= fixed[t])
    found = {t: lookup(t, tests) for t in instance.pass_to_pass}
    return unfixed, tuple(t for t, status in found.items() if not status <= PASSING and status != {Status.SKIPPED})


def judge(instance: Instance, evidence: Evidence) -> Ruling:
    """Judge by ``pass_and_fail``; a row of tests to keep and none to fix is resolved if all are kept."""
    if instance.fail_to_pass or instance.quarantined or not instance.pass_to_pass:
        return judge_labels(instance, evidence, pass_and_fail)
    found = judge_labels(instance, evidence, pass_and_fail, conclude=_conclude_kept)
    if found.outcome is not Outcome.RESOLVED:
        return found
    if evidence.strict:
        return Ruling(Outcome.NOT_RUN, "the row names no fail-to-pass test, which is not enough for a strict run")
    return found._replace(flags=(*found.flags, "no_fail_to_pass"))


def _conclude_kept(instance: Instance, _: tuple[str, ...], broken: tuple[str, ...]) -> tuple[Outcome, str]:
    if broken or not instance.pass_to_pass:
        return Outcome.UNRESOLVED, f"{len(broken)} of {len(instance.pass_to_pass)} broken, and no test shows a fix"
    return Outcome.RESOLVED, "all expected tests pass, and none of them shows a fix"


def fail_only(instance: Instance, tests: Tests) -> Against:
    """SWE-bench's fail_only rule, for logs that name failures only: a test not reported as failed has passed."""
    return find_failing(instance.fail_to_pass, tests), find_failing(instance.pass_to_pass, tests)


judge_fail_only = partial(judge_labels, rule=fail_only, silence_passes=True)
