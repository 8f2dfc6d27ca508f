"""Staged search from the issue to the verified patch, with a scripted model that knows each stage's prompt."""

import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from assay.agents.contract import SolutionStatus
from assay.agents.llm.chat import Request
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.solvers.staged.solver import Staged
from solver_sessions import FIX, WORSE, Stage, edit, stage

pytestmark = pytest.mark.slow

TEST = """<test>
import sys
from shop.prices import total
sys.exit(0 if total([1, 2, 3]) == 6 else 2)
</test>"""
READ, LEAVE = "Read:\n```\nshop/prices.py\nshop/till.py\n```", "It is hopeless.\n```\nshop/till.py\n```"


@pytest.fixture(autouse=True)
def quick_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``python`` be the one that runs the tests, without whatever chooses one for each command."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def solver(**settings: object) -> Staged:
    return Staged(Staged.Settings.model_validate({"width": 2, "beam": 1, **settings}))


def list_openings(on: Stage) -> list[str]:
    return [str(each.messages[0].content) for each in on.asked]


def play(*patches: str, worth: Callable[[str], int]) -> Callable[[Request], str]:
    """Return a model: two understandings of different worth, one fault, and these patches in turn."""
    turns, written = count(), iter(patches)

    def answer(request: Request) -> str:
        text = str(request.messages[0].content)
        if "The stage to judge" in text:
            return f"Hm. <value>{worth(text.partition('The stage to judge')[2])}</value>"
        if "Which parts of the repository" in text:
            return READ if next(turns) else LEAVE
        if "Where is the fault?" in text:
            return "The slice drops the first.\n```\nshop/prices.py\n```"
        if "Write the change." in text:
            return next(written)
        return "It fails for the right reason. <done/>" if len(request.messages) > 2 else TEST

    return answer


def test_the_best_of_each_stage_goes_on_and_execution_decides_at_the_end(tmp_path: Path) -> None:
    """The reward prefers the wrong patch; the test that the model wrote knows better."""

    def worth(judged: str) -> int:
        return 90 if "Read:" in judged or "return 3" in judged else 10

    on = stage(tmp_path, play(WORSE, FIX, worth=worth))
    outcome = solver().solve(on.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    assert outcome.patch == on.workspace.diff()
    assert "+    return sum(prices)" in on.workspace.diff()
    assert [each.votes for each in outcome.candidates] == [1, 0]
    assert [each.scores["process"] for each in outcome.candidates] == pytest.approx([110 / 3, 190 / 3])
    purposes = on.purposes()
    assert [purposes.count(each) for each in ("understand", "locate", "patch", "test", "reward")] == [2, 2, 2, 2, 5]
    locating = next(text for text in list_openings(on) if "Where is the fault?" in text)
    assert "Read:" in locating
    assert "hopeless" not in locating
    assert "def total(prices):" in locating


def test_what_the_test_says_mends_a_patch(tmp_path: Path) -> None:
    on = stage(tmp_path, play(WORSE, WORSE, WORSE, FIX, worth=lambda _: 50))
    outcome = solver().solve(on.session)
    assert "+    return sum(prices)" in on.workspace.diff()
    assert [each.votes for each in outcome.candidates] == [1, 0]
    assert any("It came to exit status 2" in str(each.content) for request in on.asked for each in request.messages)


def test_without_tests_the_process_reward_chooses(tmp_path: Path) -> None:
    on = stage(tmp_path, play(WORSE, FIX, worth=lambda judged: 90 if "sum(prices)\n" in judged else 10))
    outcome = solver(tests=0).solve(on.session)
    assert "+    return sum(prices)" in on.workspace.diff()
    assert "test" not in on.purposes()
    assert len(outcome.candidates) == 2


def test_two_ways_go_on_where_the_beam_is_two(tmp_path: Path) -> None:
    on = stage(tmp_path, play(*[FIX] * 8, worth=lambda _: 50))
    solver(beam=2, tests=0).solve(on.session)
    purposes = on.purposes()
    assert [purposes.count(each) for each in ("understand", "locate", "patch")] == [2, 4, 4]


def test_edits_that_do_not_apply_are_no_candidates(tmp_path: Path) -> None:
    on = stage(tmp_path, play(edit("shop/prices.py", "nothing", "else"), "I do not know.", worth=lambda _: 50))
    outcome = solver().solve(on.session)
    assert (outcome.status, outcome.error) == (SolutionStatus.FORMAT_ERROR, "no edit could be applied")
    assert on.workspace.diff() == ""


def test_the_best_patch_so_far_is_left_after_a_limit(tmp_path: Path) -> None:
    known = play(FIX, WORSE, worth=lambda judged: 90 if "sum(prices)\n" in judged else 10)

    def answer(request: Request) -> str:
        if any("Write a test script that shows the fault" in str(each.content) for each in request.messages):
            raise BudgetExceeded("no call is left", limit="calls")
        return known(request)

    on = stage(tmp_path, answer)
    with pytest.raises(BudgetExceeded):
        solver().solve(on.session)
    assert "+    return sum(prices)" in on.workspace.diff()
