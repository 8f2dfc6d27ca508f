"""AutoCodeRover from the issue to the patch, with a scripted model."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.agents.contract import AgentTask, Budget, SolutionStatus
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.solvers.ast_search.solver import AstSearch
from played_solvers import Played, Player

pytestmark = pytest.mark.slow

SHOP = """\
class Shop:
    def price(self, count):
        if count > 2:
            return count * 2
        return count * 4


def total(shop, counts):
    return sum(map(shop.price, counts))
"""
TESTS = """\
from shop import Shop, total


def test_many():
    assert Shop().price(3) == 6


def test_none():
    assert total(Shop(), []) == 0
"""
FILES = {"shop.py": SHOP, "tests/test_shop.py": TESTS, "tests/__init__.py": ""}
ISSUE = "A single item must cost 3, not 4"
FIXED = SHOP.replace("count * 4", "count * 3")

SEARCHES = json.dumps(
    {"API_calls": ["search_class('Shop')", "search_method_in_class('price', 'Shop')"], "bug_locations": []}
)
PLACE = {"file": "shop.py", "class": "Shop", "method": "price", "intended_behavior": "charge 3 for few"}
FOUND = json.dumps({"API_calls": [], "bug_locations": [PLACE]})
SEARCH = ["I look at the shop.", SEARCHES, "It is Shop.price.", f"```json\n{FOUND}\n```"]


def change(original: str, patched: str, path: str = "shop.py") -> str:
    return f"<file>{path}</file>\n<original>\n{original}\n</original>\n<patched>\n{patched}\n</patched>"


FIX = change("return count * 4", "return count * 3")
WRONG = change("return prices[min(count, 9)]", "return count * 3")
UNPARSED = "I would multiply by 3."
EMPTY_ORIGIN = change("", "return count * 3")
EMPTY_DIFF = change("        return count * 4", "        return count * 4")
BROKEN = change("        return count * 4", "        return (count * 3")


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Played]:
    def play(
        lines: Iterable[str], files: Mapping[str, str] = FILES, language: str = "python", **settings: Any
    ) -> Played:
        return Player(tmp_path, files, lines).play(AstSearch(AstSearch.Settings(**settings)), ISSUE, language)

    return play


def test_search_locate_and_patch_make_the_fix(play: Callable[..., Played]) -> None:
    run = play([*SEARCH, FIX])
    assert run.file("shop.py") == FIXED
    assert run.outcome.status is SolutionStatus.SUBMITTED
    assert run.outcome.extra["extract_status"] == "APPLICABLE_PATCH"
    (candidate,) = run.outcome.candidates
    assert candidate.patch == run.workspace.diff()
    assert "+        return count * 3" in candidate.patch


def test_model_reads_the_issue_then_search_results_then_the_code(play: Callable[..., Played]) -> None:
    run = play([*SEARCH, FIX])
    assert ISSUE in run.said(0)
    assert "search_method_in_class(method_name, class_name)" in run.said(0)
    assert "I look at the shop." in run.said(1)
    assert "class Shop:\n    def price(self, count):\n```" in run.said(2)
    assert "return count * 4" in run.said(2)
    assert "shop.py, lines 2 to 5, Shop.price" in run.said(4)
    assert "It should: charge 3 for few" in run.said(4)
    assert [request.temperature for request in run.asked] == [None, 0.0, None, 0.0, None]


def test_searches_are_recorded(play: Callable[..., Played]) -> None:
    run = play([*SEARCH, FIX])
    calls = [call.arguments["call"] for step in run.trajectory.steps for call in step.tool_calls or ()]
    assert calls == ["search_class('Shop')", "search_method_in_class('price', 'Shop')"]


def test_proxy_answer_without_json_is_asked_again_up_to_five_times(play: Callable[..., Played]) -> None:
    run = play(["Look.", "none", "{", '{"calls": []}', "[]", SEARCHES, *SEARCH[2:], FIX])
    assert run.file("shop.py") == FIXED
    assert [request.temperature for request in run.asked[1:6]] == [0.0, 0.7, 0.7, 0.7, 0.7]
    run = play(["Look.", *["none"] * 5, *SEARCH[2:], FIX])
    assert "Say it again in plain words" in run.said(6)


def test_unknown_places_are_reported_and_the_search_continues(play: Callable[..., Played]) -> None:
    nowhere = json.dumps({"API_calls": [], "bug_locations": [{"file": "till.py", "method": "pay", "class": None}]})
    run = play(["It is pay.", nowhere, *SEARCH[2:], FIX])
    assert "None of the places that you named exists: till.py pay." in run.said(2)
    assert run.file("shop.py") == FIXED


def test_search_ends_after_fifteen_rounds(play: Callable[..., Played]) -> None:
    run = play([*["More.", SEARCHES] * 15, FIX])
    assert len(run.asked) == 31
    assert run.file("shop.py") == FIXED
    roles = [message.role.value for message in run.asked[-1].messages]
    assert roles == ["system", *["user", "assistant"] * 15, "user"]


@pytest.mark.parametrize(
    ("answers", "status", "ending"),
    [
        ([UNPARSED] * 4, "RAW_PATCH_BUT_UNPARSED", SolutionStatus.FORMAT_ERROR),
        ([UNPARSED, WRONG, UNPARSED, UNPARSED], "RAW_PATCH_BUT_UNMATCHED", SolutionStatus.EMPTY),
        ([WRONG, EMPTY_DIFF, WRONG, UNPARSED], "MATCHED_BUT_EMPTY_DIFF", SolutionStatus.EMPTY),
        ([EMPTY_DIFF, EMPTY_ORIGIN, WRONG, UNPARSED], "MATCHED_BUT_EMPTY_ORIGIN", SolutionStatus.EMPTY),
        ([EMPTY_ORIGIN, WRONG, EMPTY_DIFF, FIX], "APPLICABLE_PATCH", SolutionStatus.SUBMITTED),
    ],
)
def test_best_of_four_attempts_is_kept(
    play: Callable[..., Played], answers: list[str], status: str, ending: SolutionStatus
) -> None:
    run = play([*SEARCH, *answers])
    assert run.outcome.extra["extract_status"] == status
    assert run.outcome.status is ending
    assert len(run.outcome.candidates) == 4
    assert bool(run.workspace.diff()) is (ending is SolutionStatus.SUBMITTED)


def test_model_reads_why_its_change_does_not_apply(play: Callable[..., Played]) -> None:
    run = play([*SEARCH, UNPARSED, WRONG, BROKEN, FIX])
    assert "no <file>, <original> and <patched> parts" in run.said(5)
    assert "shop.py: not applied: the lines to replace were not found" in run.said(6)
    assert "shop.py: after the change, line" in run.said(7)
    assert run.file("shop.py") == FIXED
    assert [candidate.reason == "" for candidate in run.outcome.candidates] == [False, False, False, True]


def test_fuzzy_match_does_not_apply(play: Callable[..., Played]) -> None:
    guessed = change("def total(shop, count):\n    return sum(map(shop.price, count))", "def total():\n    pass")
    run = play([*SEARCH, guessed, FIX])
    assert "shop.py: not applied: the lines to replace were not found" in run.said(5)
    assert run.outcome.candidates[0].patch == ""


def test_edit_outside_of_the_repository_is_refused(play: Callable[..., Played], tmp_path: Path) -> None:
    outside = change("", "x = 1", "../outside.py")
    run = play([*SEARCH, outside, change("", "x = 1", str(tmp_path / "outside.py")), outside, outside])
    assert "../outside.py: not a path in the repository" in run.said(5)
    assert not (tmp_path / "outside.py").exists()
    assert run.outcome.status is SolutionStatus.EMPTY


def test_best_attempt_is_in_the_workspace_when_the_budget_ends(tmp_path: Path) -> None:
    half = FIX + "\n" + WRONG
    stage = Player(tmp_path, FILES, [*SEARCH, half, UNPARSED, FIX], Budget(llm=BudgetLimits(calls=6)))
    with pytest.raises(BudgetExceeded):
        stage.play(AstSearch(AstSearch.Settings()), ISSUE)
    assert stage.workspace.read("shop.py") == FIXED.encode()


def test_other_languages_are_solved_without_a_spectrum(play: Callable[..., Played]) -> None:
    files = {"shop.go": "package shop\n\nfunc Price(count int) int {\n\treturn count * 4\n}\n"}
    found = json.dumps({"API_calls": [], "bug_locations": [{"file": "shop.go", "method": "Price"}]})
    lines = ["It is Price.", found, change("    return count * 4", "    return count * 3", "shop.go")]
    run = play(lines, files, "go", spectrum=True)
    assert run.file("shop.go") == files["shop.go"].replace("4", "3")
    assert run.outcome.extra["spectrum"] == "no coverage is taken for go"


REPRODUCTION = "```python\nfrom shop import Shop\nassert Shop().price(1) == 3\n```"


def test_suspects_come_from_the_model_s_failing_test_and_the_repository_s_passing_ones(
    play: Callable[..., Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failing test runs through lines 3 and 5; the tree's through 3 and 4, and through 9.

    Ochiai: 1 / sqrt(1 * (1 + 1)) for line 3, 1 / sqrt(1 * 1) = 1 for line 5, and the method is as suspect as that.
    """
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    no_test = "```python\nassert True\n```"
    no_import = "```python\nimport nothing_of_that_name\n```"
    run = play([no_test, no_import, REPRODUCTION, *SEARCH, FIX], spectrum=True)
    assert "it ended with exit status 0" in run.said(1)
    assert "nothing_of_that_name" in run.said(2)
    assert "1. Shop.price in shop.py, lines 2 to 5 (score 1.00)\n" in run.said(3)
    assert run.outcome.extra["spectrum"] == 1
    assert run.workspace.read("reproduce_issue.py") is None
    assert run.file("shop.py") == FIXED


def test_test_file_that_cannot_be_collected_leaves_the_others(
    play: Callable[..., Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken one fits the issue best. Scores are those of the test above."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    broken = {"examples/conftest.py": "import nothing_of_that_name\n", "examples/test_cost.py": f"# {ISSUE}\n{TESTS}"}
    run = play([REPRODUCTION, *SEARCH, FIX], {**FILES, **broken}, spectrum=True)
    assert "1. Shop.price in shop.py, lines 2 to 5 (score 1.00)\n" in run.said(1)
    assert run.outcome.extra["spectrum"] == 1
    assert run.file("shop.py") == FIXED


def test_search_without_a_failing_test_has_no_suspects(play: Callable[..., Played]) -> None:
    run = play([*["```python\nassert True\n```"] * 3, *SEARCH, FIX], spectrum=True)
    assert run.outcome.extra["spectrum"] == "no test that fails by the issue in 3 tries"
    assert "most suspect" not in run.said(3)
    assert run.file("shop.py") == FIXED


def test_solver_needs_no_oracle() -> None:
    assert AstSearch.capabilities.oracle == frozenset()
    assert not {"fail_to_pass", "pass_to_pass"} & AgentTask.model_fields.keys()
