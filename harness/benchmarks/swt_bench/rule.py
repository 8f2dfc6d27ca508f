"""SWT-bench's rule: a patch of tests has to fail on the base tree and to pass on the tree with the gold patch. Pure.

As in the benchmark's own evaluator, what counts is what the test patch adds to the tests that are there without it.
Two things are Assay's: the run on the gold tree has to be beyond doubt, and a test that passes where the gold patch's
files have only gained a blank line shows no behaviour.
"""

from collections.abc import Mapping, Set
from typing import NamedTuple

from assay.harness.domain import Evidence, Instance, Outcome, Status, TestedTree
from assay.harness.names import count
from assay.harness.rulings.doubts import Ruling, find_doubt, judge_without_tests
from assay.harness.rulings.normalise import normalise_results

Tests = Mapping[str, Status]
TREES = (TestedTree.BASE, TestedTree.GOLD, TestedTree.BASE_ALONE, TestedTree.GOLD_ALONE, TestedTree.LOOKALIKE)


class EffectOnTests(NamedTuple):
    """Tests by what the gold patch does to them; a test that neither passed nor failed has not passed."""

    fixed: Set[str]
    broken: Set[str]
    failing: Set[str]
    """They fail with the gold patch, and did not pass before."""


def changes(base: Tests, gold: Tests) -> EffectOnTests:
    passed, passes, fails = (
        {t for t, status in tests.items() if status is wanted}
        for tests, wanted in ((base, Status.PASSED), (gold, Status.PASSED), (gold, Status.FAILED))
    )
    return EffectOnTests(fixed=passes - passed, broken=passed - passes, failing=fails - passed)


def judge(instance: Instance, evidence: Evidence) -> Ruling:
    """Judge a patch of tests.

    ``unfixed`` are tests that the gold patch fixes without the test patch and not with it; ``broken`` are tests that
    fail on the gold tree because of the test patch.
    """
    early = judge_without_tests(evidence)
    if early is not None:
        return Ruling(*early, measures=evidence.measures)
    results = {tree: normalise_results(instance, run.report.tests) for tree, run in evidence.trees.items()}
    base, gold, base_alone, gold_alone, lookalike = (results.get(tree, {}) for tree in TREES)
    now, alone = changes(base, gold), changes(base_alone, gold_alone)
    unfixed = tuple(sorted(alone.fixed - now.fixed))
    broken = tuple(sorted((now.broken - alone.broken) | (now.failing - alone.failing)))
    added = now.fixed - alone.fixed
    shown = {test for test in added if lookalike.get(test) is not Status.PASSED}
    outcome, reason = _conclude(added, shown, unfixed, broken)
    if outcome is Outcome.RESOLVED:
        expecting = instance.model_copy(update={"fail_to_pass": tuple(sorted(shown))})
        outcome, reason = find_doubt(expecting, evidence) or (outcome, reason)
    return Ruling(outcome, reason, unfixed, broken, evidence.measures)


def _conclude(
    added: Set[str], shown: Set[str], unfixed: tuple[str, ...], broken: tuple[str, ...]
) -> tuple[Outcome, str]:
    if broken or unfixed:
        lost = f"; {count(len(unfixed), 'test')} lost that the gold patch fixes" if unfixed else ""
        return Outcome.UNRESOLVED, f"{count(len(broken), 'test')} failing on the gold tree{lost}"
    if not added:
        return Outcome.UNRESOLVED, "no test fails on the base tree and passes on the gold tree"
    if not shown:
        reason = "what fails on the base tree passes there too once the files of the gold patch only look changed"
        return Outcome.UNRESOLVED, reason
    return Outcome.RESOLVED, f"{count(len(shown), 'test')} failing on the base tree and passing on the gold tree"
