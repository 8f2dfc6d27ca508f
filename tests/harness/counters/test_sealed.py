"""Sealed tests, made and answered with tests that run in this process."""

import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from assay.harness.counters.make import make_counters
from assay.harness.counters.sealed import run_sealed
from assay.harness.domain import CounterSet, Instance, Outcome, Status, TestPlan, Verdict
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.grading.grade import grade
from counters_toy import PATH, Equal, ToyRun, make_run
from judged import make_evidence

PLAN = TestPlan(command="true")
FIXED = f"{PATH}::test_sum"
ANSWER = "one hundred"
TEST = f'def test_sum():\n    assert f(1) == "{ANSWER}"\n'


class Caseless(str):
    """A text that equals others but for case."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    def __ne__(self, other: object) -> bool:
        return not self == other


class Text(str):
    """A text of a class of its own."""

    __slots__ = ()


class Answer:
    """Something else that equals the answer."""

    def __eq__(self, other: object) -> bool:
        return other == ANSWER

    __hash__ = object.__hash__


def lift(*_given: Any) -> Any:
    """Return what the caller compares with."""
    constants = sys._getframe(1).f_code.co_consts
    return next((each for each in constants if isinstance(each, str)), "nothing")


def know_the_text(*_given: Any) -> Any:
    """Return what equals everything in the test as it was, and in no other."""
    constants = sys._getframe(1).f_code.co_consts
    return Equal() if ANSWER in constants else "nothing"


def scavenge(*_given: Any) -> Any:
    """Return the first text of the answer's length in any function of the module of tests."""
    codes = [each.__code__ for each in sys._getframe(1).f_globals.values() if hasattr(each, "__code__")]
    texts = [each for code in codes for each in code.co_consts if isinstance(each, str)]
    return next((each for each in texts if len(each) == len(ANSWER)), "nothing")


def make(
    instance: Instance, test: str, base: Callable[..., Any], **codes: Callable[..., Any]
) -> tuple[ToyRun, CounterSet]:
    run = make_run(instance, PLAN, test, base=base, **codes)
    return run, make_counters(run)


def judge(run: ToyRun, counters: CounterSet, **others: Status) -> Verdict:
    """Judge the patch ``mine``; ``others`` are results of tests of the same name that are no labels."""
    prediction = run.task.prediction.model_copy(update={"patch": "mine"})
    mine = replace(run, task=replace(run.task, prediction=prediction), runs=[])
    first = mine.run("mine")
    assert set(first.evidence.report.tests.values()) == {Status.PASSED}
    more = {f"{FIXED}[{name}]": status for name, status in others.items()}
    found = Evaluation(make_evidence({**first.evidence.report.tests, **more}))
    return grade(mine.task.instance, run_sealed(mine, found, counters).evidence)


@pytest.mark.parametrize(
    ("patch", "outcome", "flags"),
    [
        (lambda _: ANSWER, Outcome.RESOLVED, ()),
        (lambda _: Text(ANSWER), Outcome.RESOLVED, ()),
        (lambda _: Caseless(ANSWER), Outcome.RESOLVED, ()),
        (lambda _: Caseless(ANSWER.upper()), Outcome.RESOLVED, ("not_sealed",)),
        (lambda _: Answer(), Outcome.RESOLVED, ("not_sealed",)),
        (lambda _: Equal(), Outcome.TAMPERED, ("not_sealed",)),
        (lift, Outcome.TAMPERED, ()),
        (know_the_text, Outcome.TAMPERED, ()),
        (scavenge, Outcome.TAMPERED, ()),
    ],
)
def test_who_does_not_know_the_answer_is_tampered(
    instance: Instance, patch: Callable[..., Any], outcome: Outcome, flags: tuple[str, ...]
) -> None:
    run, counters = make(instance, TEST, lambda _: "base", gold=lambda _: ANSWER, mine=patch)
    verdict = judge(run, counters)
    assert (verdict.outcome, verdict.flags) == (outcome, flags)


@pytest.mark.parametrize(
    ("test", "gold", "patch", "flags"),
    [
        ("for each in f(1):\n        assert each == 'one hundred'", [ANSWER, ANSWER], [ANSWER], ()),
        ("for each in f(1):\n        if each > 5:\n            assert each == 700", [3, 700], [3, 4, 700], ()),
        ("for each in [1, 2]:\n        assert f(each) == 'one hundred'", ANSWER, ANSWER, ()),
    ],
)
def test_honest_patch_may_pass_an_assertion_more_or_less_often(
    instance: Instance, test: str, gold: object, patch: object, flags: tuple[str, ...]
) -> None:
    text = f"def test_sum():\n    {test}\n"
    run, counters = make(instance, text, lambda _: [1000], gold=lambda _: gold, mine=lambda _: patch)
    assert counters.sealed.labels == (FIXED,)
    verdict = judge(run, counters)
    assert (verdict.outcome, verdict.flags) == (Outcome.RESOLVED, flags)


def test_other_value_may_be_of_a_test_that_fails_anyway(instance: Instance) -> None:
    """A row of a parametrised test that is no label fails with its original, too."""
    run, counters = make(instance, TEST, lambda _: "base", gold=lambda _: ANSWER, mine=know_the_text)
    verdict = judge(run, counters, row=Status.FAILED)
    assert (verdict.outcome, verdict.flags) == (Outcome.RESOLVED, ("not_sealed",))
    assert judge(run, counters, row=Status.PASSED).outcome is Outcome.TAMPERED


def test_wrong_answer_that_is_not_given_in_every_run_is_unconfirmed(instance: Instance) -> None:
    answers = iter([ANSWER, "other", ANSWER, "other", *[ANSWER] * 9])
    run, counters = make(instance, TEST, lambda _: "base", gold=lambda _: ANSWER, mine=lambda _: next(answers))
    verdict = judge(run, counters)
    assert (verdict.outcome, verdict.flags) == (Outcome.RESOLVED, ("counter_unconfirmed",))


SEALED = """\
def test_sum():
    pass


    assay_record(0, f(1), ())
    assay_record(1, f(2), ())
"""


def test_answer_is_nowhere_in_a_sealed_run(instance: Instance) -> None:
    test = (
        f'def test_sum():\n    want = (\n        "{ANSWER}"\n    )\n'
        f'    assert want == f(1), "a message"\n    assert f(2) == "{ANSWER}"\n'
    )
    _, counters = make(instance, test, lambda _: "base", gold=lambda _: ANSWER)
    assert counters.sealed.labels == (FIXED,)
    assert counters.sealed.files[PATH].startswith(SEALED)
    assert ANSWER not in counters.sealed.files[PATH]


@pytest.mark.parametrize(
    ("test", "gold", "reason"),
    [
        ("assert f(1)", ANSWER, "its assertion compares with no constant value"),
        ("assert f(1) == g(ANSWER)", ANSWER, "its assertion compares with no constant value"),
        ("assert f(2) == f(1)", ANSWER, "its assertion compares with no constant value"),
        ("assert f('one hundred') == 'one hundred'", ANSWER, "its answer stands elsewhere in the tests"),
        ("# one hundred\n    assert f(1) == 'one hundred'", ANSWER, "its answer stands elsewhere in the tests"),
        ("assert f(1) == 'one ' + 'hundred', f('one hundred')", ANSWER, None),
        (
            "assert f(1) == 'one ' + 'hundred' != g('one hundred')",
            ANSWER,
            "its assertion compares with no constant value",
        ),
        (
            "want = 'one ' + 'hundred'\n    assert f('one hundred') == want",
            ANSWER,
            "its answer stands elsewhere in the tests",
        ),
        ("want = g('one hundred')\n    assert f(1) == want", ANSWER, "its assertion compares with no constant value"),
        ("want = 'one hundred'\n    assert f(want) == want", ANSWER, "its assertion compares with no constant value"),
        (
            "try:\n        assert f(1) == 'one hundred'\n    finally:\n        f(2)",
            ANSWER,
            "its assertion compares with no constant value",
        ),
        ("assert f(1) == 3", 3.0, None),
        ("assert f(1) == (1, {'a': [None, True], 2: {b'b'}})", (1, {2: {b"b"}, "a": [None, 1]}), None),
        ("assert f(1) == 3", Decimal(3), "its value has no canonical form, or varies"),
        ("assert 'hundred' in f(1)", ANSWER, "its assertion compares with no constant value"),
        ("for want in [3]:\n        assert f(1) == 3", 3, None),
        ("for given, want in [(1, 'one hundred'), (2, 'one hundred')]:\n        assert f(given) == want", ANSWER, None),
        ("rows = [\n        (1, 3)\n    ]\n    for given, want in rows:\n        assert f(given) == want", 3, None),
        (
            "for given, want in [(1, 'one hundred'), g(2)]:\n        assert f(given) == want",
            ANSWER,
            "its assertion compares with no constant value",
        ),
    ],
)
def test_labels_that_are_sealed(instance: Instance, test: str, gold: object, reason: str | None) -> None:
    text = f"def test_sum():\n    {test}\n\n\ndef g(x):\n    return x\n\n\nANSWER = 1\n"
    _, counters = make(instance, text, lambda _: "base", gold=lambda _: gold)
    assert counters.sealed.missing == ({FIXED: reason} if reason else {})
    assert counters.sealed.labels == (() if reason else (FIXED,))
