"""SWT-bench's rule, by hand: each row is a test's status in base, gold, base alone, gold alone and the look-alike."""

from collections.abc import Callable, Mapping

import pytest

from assay.harness.benchmarks.swt_bench.rule import TREES
from assay.harness.domain import Channel, Outcome, Rule, Status, TestedTree, TestReport, Tripwire, Verdict
from assay.harness.grading.grade import grade
from judged import E, F, M, P, S, X, make_evidence
from toy import make_instance

NEW = (F, P, M, M, F)
"""An honest new test."""
OLD = (P, P, P, P, P)
Rows = Mapping[str, tuple[Status, ...]]


@pytest.fixture
def judge() -> Callable[..., Verdict]:
    instance = make_instance(rule=Rule.SWT_BENCH, fail_to_pass=(), pass_to_pass=())

    def run(tests: Rows, **changes: object) -> Verdict:
        rows = {tree: {name: row[place] for name, row in tests.items()} for place, tree in enumerate(TREES)}
        trees = {tree: make_evidence({n: s for n, s in row.items() if s is not M}) for tree, row in rows.items()}
        whole = trees[TestedTree.GOLD].model_copy(update={"trees": trees, **changes})
        return grade(instance, whole)

    return run


@pytest.mark.parametrize(
    ("tests", "resolved"),
    [
        ({"new": NEW}, True),
        ({"new": NEW, "old": OLD}, True),
        ({"new": (E, P, M, M, E)}, True),
        ({"new": (M, P, M, M, M)}, True),  # its module cannot be imported on the base tree
        ({"new": OLD}, False),
        ({"new": (F, F, M, M, F)}, False),
        ({"new": (P, F, M, M, P)}, False),
        ({"new": (F, X, M, M, F)}, False),
        ({"new": NEW, "bad": (F, F, M, M, F)}, False),
        ({"new": NEW, "bad": (P, S, M, M, P)}, False),
        ({"new": NEW, "odd": (E, E, M, M, E)}, True),  # the benchmark's evaluator counts no error on the gold tree
        ({"new": NEW, "old": (F, F, F, F, F)}, True),
        ({"new": NEW, "old": (P, F, P, F, P)}, True),
        ({"old": (F, P, F, P, F)}, False),
        ({"new": NEW, "lost": (M, M, F, P, M)}, False),
        ({"new": (F, P, M, M, P)}, False),
        ({"new": (F, P, M, M, P), "other": NEW}, True),
        ({}, False),
    ],
)
def test_a_test_has_to_fail_on_base_and_pass_on_gold(
    judge: Callable[..., Verdict], tests: Rows, resolved: bool
) -> None:
    assert judge(tests).resolved is resolved


def test_the_verdict_names_the_tests_and_says_why(judge: Callable[..., Verdict]) -> None:
    good = judge({"new": NEW}, measures={"change_coverage": 0.5})
    assert (good.rule, good.reason) == (Rule.SWT_BENCH, "1 test failing on the base tree and passing on the gold tree")
    assert good.measures == {"change_coverage": 0.5}
    bad = judge({"new": NEW, "bad": (F, F, M, M, F), "lost": (M, M, F, P, M)})
    assert (bad.broken, bad.unfixed) == (("bad",), ("lost",))
    assert "1 test failing on the gold tree; 1 test lost" in bad.reason
    assert "only look changed" in judge({"new": (F, P, M, M, P)}).reason


def test_a_doubtful_run_on_the_gold_tree_is_never_resolved(judge: Callable[..., Verdict]) -> None:
    wrong = {"tripwire": Tripwire(expected=F, reported=P, printed=P)}
    assert judge({"new": NEW}, tripwires=wrong).outcome is Outcome.TAMPERED
    assert judge({"new": NEW, "old": (F, F, F, F, F)}, exit_code=0).outcome is Outcome.TAMPERED
    assert judge({"new": NEW}, exit_code=3).outcome is Outcome.NOT_RUN
    assert judge({"new": NEW}, timed_out=True).outcome is Outcome.TIMED_OUT
    forged = TestReport(channel=Channel.REPORT, tests={"new": P}, disagreements=("new",))
    assert judge({"new": NEW}, report=forged).outcome is Outcome.TAMPERED
