"""Agentless Mini: files are named several times, and patches asked for with the whole of them."""

from pathlib import Path

import pytest

from answered import answer, block
from assay.agents.contract import SolutionStatus
from assay.agents.llm.chat import Request, Speaker
from assay.agents.registry import make_agent
from solver_sessions import SHOP, Stage, stage

SMALL = ["location_sets=3", "samples=2", "regression=false", "reproduction_tests=0"]
NAMED = ["```\nshop/prices.py\n```", "```\nshop/till.py\nshop/prices.py\n```", "I do not know."]
"""Answers to the three questions for files; the last one names none."""
RIGHT = answer(block("shop/prices.py", "    return sum(prices[1:])\n", "    return sum(prices)\n"))
WRONG = answer(block("shop/prices.py", "    return sum(prices[1:])\n", "    return 3\n"))


@pytest.fixture
def play(tmp_path: Path) -> Stage:
    """Return a session whose model names files in turn, and gives the right patch three times in four."""
    files, patches = iter(NAMED), iter([WRONG, RIGHT, RIGHT, RIGHT])
    return stage(tmp_path, lambda request: next(files if "Which files" in _last(request) else patches))


def _last(request: Request) -> str:
    return str(request.messages[-1].content)


def test_mini_asks_for_files_and_then_for_patches_of_whole_files(play: Stage) -> None:
    agent, _ = make_agent("agentless_mini", SMALL)
    outcome = agent.solve(play.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    assert "+    return sum(prices)\n" in str(outcome.patch)
    assert play.workspace.diff() == outcome.patch
    assert play.purposes() == ["locate files"] * 3 + ["repair"] * 4
    assert [each.temperature for each in play.asked] == [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    assert sorted(each.votes for each in outcome.candidates) == [1, 3, 3, 3]


def test_the_patch_is_asked_for_as_swe_rl_does(play: Stage) -> None:
    agent, _ = make_agent("agentless_mini", SMALL)
    agent.solve(play.session)
    first, second = play.asked[3], play.asked[5]
    assert [message.role for message in first.messages] == [Speaker.SYSTEM, Speaker.USER]
    assert "<think>" in str(first.messages[0].content)
    assert f"### shop/prices.py\n```\n{SHOP['shop/prices.py'].rstrip()}\n```" in _last(first)
    assert "class Till" not in _last(first)
    assert _last(second).index("class Till") < _last(second).index("def cheapest")


def test_mini_ends_without_a_patch_where_no_answer_names_a_file(tmp_path: Path) -> None:
    agent, _ = make_agent("agentless_mini", SMALL)
    outcome = agent.solve(stage(tmp_path, lambda _request: "I do not know.").session)
    assert outcome.status is SolutionStatus.EMPTY
    assert outcome.error == "no file of the repository was named or retrieved"
