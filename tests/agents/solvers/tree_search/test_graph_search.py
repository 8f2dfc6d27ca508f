"""Search over a repository's graph, from the issue to the patch, with a scripted model."""

from pathlib import Path

import pytest

from assay.agents.contract import Budget, SolutionStatus
from assay.agents.llm.chat import Request
from assay.agents.solvers.tree_search.graph_search import GraphSearch
from solver_sessions import FIX, Stage, edit, stage

pytestmark = pytest.mark.slow

EDIT = f"The slice drops the first.\n<edit>\n{FIX}\n</edit>"


def shown(request: Request) -> str:
    return str(request.messages[-1].content)


def competent(request: Request) -> str:
    """Finds the code with the bug and what leads to it relevant, and fixes the bug."""
    text = shown(request)
    if "Write no code yet." in text:
        return "The slice in total is wrong. Take it away."
    if "Look again" in text:
        return "All prices count. <finish>it adds all prices</finish>"
    if "relevance from 0" not in text:
        return EDIT
    if "sum(prices[1:])" in text:
        return "It must be changed. <value>100</value>"
    return f"It leads there. <value>{60 if 'file shop/prices.py' in text else 5}</value>"


def solver(**settings: object) -> GraphSearch:
    return GraphSearch(GraphSearch.Settings.model_validate(settings))


def ways(on: Stage) -> list[str]:
    return [seen.partition("\n")[0] for name, seen in on.actions() if name == "visit"]


def test_default_settings_find_the_fix(tmp_path: Path) -> None:
    on = stage(tmp_path, competent)
    outcome = solver(visits=6).solve(on.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    assert "+    return sum(prices)" in on.workspace.diff()
    relevant = outcome.extra["relevant"]
    assert relevant[0] == "shop/prices.py::total"
    assert outcome.extra["visited"] == 6
    plan, patch, last = on.asked[-3:]
    assert "def total(prices):" in shown(plan)
    assert "def total(prices):" in shown(patch)
    assert "The slice in total is wrong. Take it away." in shown(patch)
    assert "+    return sum(prices)" in shown(last)
    assert on.purposes() == ["relevance"] * 6 + ["plan", "patch", "patch"]


def test_a_second_look_may_change_more(tmp_path: Path) -> None:
    more = edit("shop/prices.py", "    return sum(prices)", "    return sum(prices or [])")
    lines = ["It matters. <value>90</value>", "Take it away.", EDIT, f"<edit>\n{more}\n</edit>", "<finish>now</finish>"]
    on = stage(tmp_path, lines)
    assert solver(visits=1).solve(on.session).status is SolutionStatus.SUBMITTED
    assert "+    return sum(prices or [])" in on.workspace.diff()


def test_neither_plan_nor_second_look_is_needed(tmp_path: Path) -> None:
    on = stage(tmp_path, ["It matters. <value>90</value>", EDIT])
    assert solver(visits=1, plan=False, second_look=False).solve(on.session).status is SolutionStatus.SUBMITTED
    assert on.purposes() == ["relevance", "patch"]


def test_walk_starts_at_the_best_files_and_visits_nothing_twice(tmp_path: Path) -> None:
    on = stage(tmp_path, competent)
    solver(visits=50).solve(on.session)
    walked = ways(on)
    assert walked[0] == "the repository speaks of the issue in shop/prices.py"
    targets = [way.split()[-1] for way in walked]
    assert len(targets) == len(set(targets))
    # 2 folders, 5 files, 2 classes, 5 functions: everything but the top directory was visited in the end
    assert len(targets) == 14


def test_scores_choose_the_next_vertex(tmp_path: Path) -> None:
    """Worked out by hand, after each visit.

    1: the file has 60 + 50 (a leaf of high value) - 0.8, the top 0: on from the file.
    2: its function ``total`` has 100 + 50 and more, the file 60 - 5 and less: on from the function.
    3: its caller has 5, and nothing else is near; the file has 60 + sqrt(ln 3 / 3) - 0.8 - 5 = 54.8: on from there.
    4: of its neighbours that were not visited, the folder's words are most like the issue's.
    """
    on = stage(tmp_path, competent)
    solver(visits=4, entries=1).solve(on.session)
    assert ways(on) == [
        "the repository speaks of the issue in shop/prices.py",
        "shop/prices.py contains shop/prices.py::total",
        "shop/prices.py::total is called by shop/till.py::Till.close",
        "shop/prices.py is in shop",
    ]


def test_searches_and_failed_edits_may_precede_the_patch(tmp_path: Path) -> None:
    wrong = edit("shop/prices.py", "    return sum(items)", "    return 0")
    lines = [
        *("No. <value>0</value>", "Hm."),  # one judgement without a value counts as 0
        "I plan to look.",
        *('<search>search_class("Till")</search>', "<finish>it is done</finish>", "I think so."),
        *(f"<edit>\n{wrong}\n</edit>", EDIT, "<finish>it adds all</finish>"),
    ]
    on = stage(tmp_path, lines)
    outcome = solver(visits=2).solve(on.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    heard = [str(message.content) for message in on.asked[-1].messages if message.role == "user"][1:]
    assert "class Till:" in heard[0]
    assert heard[1].startswith("That was no action")
    assert heard[2].startswith("That was no action")
    assert "not found" in heard[3]
    assert "+    return sum(prices)" in on.workspace.diff()


def test_no_edit_that_applies_is_a_format_error(tmp_path: Path) -> None:
    on = stage(tmp_path, lambda _: "I do not know. <value>1</value>")
    outcome = solver(visits=1, rounds=2).solve(on.session)
    assert (outcome.status, outcome.error) == (SolutionStatus.FORMAT_ERROR, "no edit could be applied")
    assert on.workspace.diff() == ""


def test_budget_of_steps_limits_the_walk(tmp_path: Path) -> None:
    on = stage(tmp_path, competent, budget=Budget(steps=1))
    assert solver().solve(on.session).extra["visited"] == 1


def test_context_takes_the_most_relevant_first_up_to_its_size(tmp_path: Path) -> None:
    on = stage(tmp_path, competent)
    solver(visits=20, context=150).solve(on.session)
    context = shown(on.asked[-3])
    assert "sum(prices[1:])" in context
    assert "class Till" not in context


@pytest.mark.parametrize(
    ("language", "path", "broken", "fixed", "whole"),
    [
        ("go", "sum.go", "	return a - b", "	return a + b", "package sum\n\nfunc Sum(a, b int) int {\nBODY\n}\n"),
        (
            "java",
            "Sum.java",
            "  return a - b;",
            "  return a + b;",
            "class Sum {\n int sum(int a, int b) {\nBODY\n }\n}\n",
        ),
        ("rust", "sum.rs", "    a - b", "    a + b", "pub fn sum(a: i32, b: i32) -> i32 {\nBODY\n}\n"),
        ("ruby", "sum.rb", "  a - b", "  a + b", "def sum(a, b)\nBODY\nend\n"),
    ],
    ids=["go", "java", "rust", "ruby"],
)
def test_other_languages_are_solved(
    tmp_path: Path, language: str, path: str, broken: str, fixed: str, whole: str
) -> None:
    change = f"<edit>\n{edit(path, broken, fixed)}\n</edit>"

    def answer(request: Request) -> str:
        return "<value>90</value>" if "relevance from 0" in shown(request) else change

    on = stage(tmp_path, answer, files={path: whole.replace("BODY", broken)}, language=language)
    outcome = solver(visits=3).solve(on.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    assert f"+{fixed}" in on.workspace.diff()
    assert any("::" in vertex for vertex in outcome.extra["relevant"])
