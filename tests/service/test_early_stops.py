"""Early stops that are evaluated in full, too: what a wrong one ends, and what the counts say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.harness.evaluation.evaluate import Task
from lying import report, reward
from served import WRONG, Served, served, wrong
from toy import FIXED, MORE_TESTS, TESTS, make_instances

NAMES = ("acme__calc-1", "acme__calc-2")
SEEN_LATER = {FIXED: [False, True, True]}
"""The test fails in the narrowed run, and passes with the gold patch and where all tests run."""


@pytest.fixture
def serve_fast(tmp_path: Path) -> Iterator[Any]:
    opened: list[Any] = []

    def start(**options: Any) -> Served:
        instances = make_instances((1, 2), test_patch=TESTS + MORE_TESTS)
        context = served(instances, tmp_path / "verdicts", jobs=1, settings={"fail_fast": True}, **options)
        opened.append(context)
        return context.__enter__()

    yield start
    for each in opened:
        each.__exit__(None, None, None)


def stops_early(here: Served, name: str, patch: str) -> bool:
    return "fail_fast" in reward(here, name, patch)["flags"]


def counts(here: Served) -> dict[str, Any]:
    return dict(report(here)["early_stops"])


def test_a_checked_stop_has_the_verdict_on_all_tests(serve_fast: Any) -> None:
    here = serve_fast(check_stops=1.0)
    answer = reward(here, NAMES[0], WRONG)
    assert (answer["reward"], answer["outcome"], answer["flags"]) == (0.0, "unresolved", [])
    assert counts(here) == {"checked": 1, "wrong": [], "bound": pytest.approx(0.975), "ended": False}
    assert (here.figure("assay_checked_stops_total"), here.figure("assay_wrong_stops_bound")) == (
        1,
        pytest.approx(0.975),
    )
    assert reward(here, NAMES[0], WRONG)["id"] == answer["id"]
    assert counts(here)["checked"] == 1


def test_no_stop_is_checked_unless_asked(serve_fast: Any) -> None:
    here = serve_fast()
    assert stops_early(here, NAMES[0], WRONG)
    assert counts(here)["checked"] == 0


@pytest.mark.parametrize(("limit", "other_stops"), [(1.0, True), (0.01, False)])
def test_a_wrong_stop_is_no_answer_and_ends_those_of_its_instance_or_all(
    serve_fast: Any, limit: float, other_stops: bool
) -> None:
    here = serve_fast(check_stops=1.0, wrong_stops=limit)
    here.engine.flaky = SEEN_LATER
    assert reward(here, NAMES[0], WRONG)["reward"] == 1.0
    assert counts(here) == {"checked": 1, "wrong": [NAMES[0]], "bound": 1.0, "ended": not other_stops}
    here.engine.flaky = {}
    here.server.queue.early_stops.share = 0.0
    assert not stops_early(here, NAMES[0], wrong(7))
    assert stops_early(here, NAMES[1], wrong(7)) is other_stops


def test_what_stopped_before_its_instance_had_a_wrong_stop_answers_nothing_later(serve_fast: Any) -> None:
    here = serve_fast(wrong_stops=1.0)
    assert stops_early(here, NAMES[0], WRONG)
    here.server.queue.early_stops.wrong.append(NAMES[0])
    assert not stops_early(here, NAMES[0], WRONG)


def test_a_check_that_the_engine_fails_says_nothing(serve_fast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = serve_fast(check_stops=1.0)
    judge_task = here.evaluator.judge_task

    def break_before_check(task: Task, *more: Any) -> Any:
        if not task.fail_fast:
            here.break_engine()
        return judge_task(task, *more)

    monkeypatch.setattr(here.evaluator, "judge_task", break_before_check)
    assert stops_early(here, NAMES[0], WRONG)
    assert counts(here)["checked"] == 0
