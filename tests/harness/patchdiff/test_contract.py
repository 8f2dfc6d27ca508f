"""The budget of a comparison: what is left of it."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import TestPlan
from assay.harness.patchdiff.contract import ALL_OPERATORS, CONFIRMATION, ENOUGH, Context, Settings, find_operators
from assay.harness.patchdiff.survey import Survey

NO_SIDES: Any = SimpleNamespace()


def context(budget: float = 300.0, **more: Any) -> Context:
    return Context(NO_SIDES, Survey((), ()), Settings((), budget=budget), lambda _i, _f: TestPlan(command=""), **more)


def test_operators_are_named_in_their_order_and_all_without_names() -> None:
    assert find_operators(["pair", " snippet"]) == ("snippet", "pair")
    assert find_operators(None) == ALL_OPERATORS == Settings(()).operators


def test_turn_ends_before_the_budget_and_never_after_it() -> None:
    now = time.monotonic()
    assert context(turn=now + 50).seconds_left == pytest.approx(50, abs=1)
    assert context(turn=now + 500).seconds_left == pytest.approx(300, abs=1)
    assert context(turn=now - 1).seconds_left == 0
    assert context(turn=now - 1).confirming.seconds_left == pytest.approx(300 + CONFIRMATION, abs=1)


def test_time_in_which_the_model_answers_is_not_in_the_budget() -> None:
    def ask(_messages: object) -> str:
        time.sleep(0.3)
        return "yes"

    here = context(budget=300.0, ask=ask, turn=time.monotonic() + 5)
    before = here.seconds_left, here.confirming.seconds_left
    assert here.answer([("user", "?")]) == "yes"
    assert before == pytest.approx((here.seconds_left, here.confirming.seconds_left), abs=0.2)
    assert here.part(0.5).seconds_left == pytest.approx(2.5, abs=0.2)


def test_time_of_a_model_that_fails_is_not_in_the_budget_either() -> None:
    def ask(_messages: object) -> str:
        time.sleep(0.3)
        raise ValueError("no answer")

    here = context(ask=ask)
    before = here.seconds_left
    with pytest.raises(ValueError, match="no answer"):
        here.answer([])
    assert before == pytest.approx(here.seconds_left, abs=0.2)


def test_small_budget_confirms_less_often_but_never_less_than_enough() -> None:
    assert context().rounds(1.0) == 20
    assert 13 <= context().rounds(10.0) <= 15
    assert context(budget=1.0).rounds(10.0) == ENOUGH


def test_programs_have_more_time_with_a_greater_budget() -> None:
    assert [context(budget=budget).pace(10.0) for budget in (1, 300, 600, 10**6)] == [4.0, 10.0, 20.0, 30.0]
