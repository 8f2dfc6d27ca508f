"""SWE-Fixer from the issue to the patch, with a scripted model."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.agents.contract import Budget, SolutionStatus
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.llm.tokens import estimate_tokens
from assay.agents.solvers.retrieval.solver import RetrievalSolver
from played_solvers import Played, Player

pytestmark = pytest.mark.slow

SHOP = "def price(count):\n    return count * 4\n\n\ndef total(counts):\n    return sum(map(price, counts))\n"
FILES = {
    "src/shop.py": SHOP,
    "src/till.py": "def open_till():\n    '''Open it at any price.'''\n",
    "src/other.py": "x = 1\n",
    "tests/test_shop.py": "def test_price_of_one_item(): pass\n",
    "README.md": "A shop with items\n",
    "docs/README.md": "not this one\n",
}
ISSUE = "The price of one item in the shop is 4, not 3"
CHOSEN = json.dumps({"files for editing": ["src/shop.py"]})


def edit(original: str, edited: str, file: str = "src/shop.py") -> dict[str, str]:
    return {"file": file, "code snippet to be modified": original, "edited code snippet": edited}


def answer(*edits: dict[str, str]) -> str:
    return json.dumps({"reasoning process": "It multiplies by 4.", "edited code": list(edits)})


FIX = answer(edit("2|    return count * 4", "    return count * 3"))
FIXED = SHOP.replace("4", "3")
MISSING = answer(edit("2|    return prices[count]", "    return 1"))
BROKEN = answer(edit("2|    return count * 4", "    return (count * 3"))
BLANK = answer(edit("2|    return count * 4", "\n\n    return count * 4\n2|"))


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Played]:
    def play(
        lines: Iterable[str], files: Mapping[str, str] = FILES, language: str = "python", **settings: Any
    ) -> Played:
        return Player(tmp_path, files, lines).play(
            RetrievalSolver(RetrievalSolver.Settings(**settings)), ISSUE, language
        )

    return play


def test_rank_retrieve_and_edit_make_the_fix(play: Callable[..., Played]) -> None:
    run = play([CHOSEN, f"Here it is:\n```json\n{FIX}\n```"])
    assert run.file("src/shop.py") == FIXED
    assert run.outcome.status is SolutionStatus.SUBMITTED
    assert run.outcome.error == ""
    (candidate,) = run.outcome.candidates
    assert candidate.patch == run.workspace.diff()
    assert [request.temperature for request in run.asked] == [0.0, 0.0]


def test_retriever_sees_sources_ranked_by_the_issue(play: Callable[..., Played]) -> None:
    run = play([CHOSEN, FIX])
    asked = json.loads(run.said(0))
    assert asked["input"]["issue"] == ISSUE
    assert asked["input"]["README"] == FILES["README.md"]
    assert asked["input"]["candidates"] == {"src/shop.py": "price, total", "src/till.py": "open_till"}
    assert run.outcome.extra["candidates"] == ["src/shop.py", "src/till.py"]
    assert "files for editing" in asked["output control"]["form of the answer"]


def test_editor_sees_files_with_line_numbers(play: Callable[..., Played]) -> None:
    run = play([CHOSEN, FIX])
    (shown,) = json.loads(run.said(1))["input"]["files to be modified"]
    assert shown["file"] == "src/shop.py"
    assert shown["file content"].startswith("1|def price(count):\n2|    return count * 4\n3|\n")


def test_json_is_requested_up_to_five_times_first_at_temperature_0(play: Callable[..., Played]) -> None:
    run = play(["no", "{}", '{"files for editing": []}', '{"files for editing": ["src/none.py"]}', CHOSEN, FIX])
    assert [request.temperature for request in run.asked] == [0.0, 0.7, 0.7, 0.7, 0.7, 0.0]
    assert run.file("src/shop.py") == FIXED
    assert all(request.messages == run.asked[0].messages for request in run.asked[:5])


def test_retriever_without_an_answer_is_a_format_error(play: Callable[..., Played]) -> None:
    run = play(["no"] * 5)
    assert run.outcome.status is SolutionStatus.FORMAT_ERROR
    assert run.outcome.error == "the retriever chose no file: there is no JSON object in it"
    assert run.workspace.diff() == ""


def test_edits_that_do_not_apply_are_requested_again(play: Callable[..., Played]) -> None:
    run = play([CHOSEN, "no", MISSING, BROKEN, BLANK, FIX])
    assert run.file("src/shop.py") == FIXED
    assert [candidate.reason for candidate in run.outcome.candidates] == [
        "there is no JSON object in it",
        "src/shop.py: not applied: the lines to replace were not found",
        "src/shop.py: line 2: does not parse",
        "src/shop.py: only blank lines would change",
        "",
    ]


@pytest.mark.parametrize(
    ("answers", "status"), [(["no"] * 5, SolutionStatus.FORMAT_ERROR), ([*["no"] * 4, BLANK], SolutionStatus.EMPTY)]
)
def test_no_usable_edit_changes_nothing(
    play: Callable[..., Played], answers: list[str], status: SolutionStatus
) -> None:
    run = play([CHOSEN, *answers])
    assert run.outcome.status is status
    assert run.workspace.diff() == ""
    assert len(run.outcome.candidates) == 5


def test_partly_applied_answer_is_kept(play: Callable[..., Played]) -> None:
    half = answer(edit("2|    return count * 4", "    return count * 3"), edit("nothing of this", "at all"))
    run = play([CHOSEN, BLANK, half, MISSING, "no", BROKEN])
    assert run.file("src/shop.py") == FIXED
    assert "nothing of this" not in run.workspace.diff()


def test_files_beyond_the_context_are_left_out(play: Callable[..., Played]) -> None:
    long = {"src/long_price.py": "price = 1  # price of an item in the shop\n" * 2000}
    both = json.dumps({"files for editing": ["src/long_price.py", "src/shop.py"]})
    run = play([both, FIX], {**FILES, **long}, context=12_000)
    assert run.outcome.extra["left out"] == ["src/long_price.py"]
    assert run.file("src/shop.py") == FIXED
    assert all(estimate_tokens(run.said(number)) <= 12_000 - 8_192 for number in (0, 1))


def test_file_longer_than_the_context_is_context_exceeded(play: Callable[..., Played]) -> None:
    long = {"src/shop.py": "price = 1\n" * 20_000}
    run = play([CHOSEN], long, context=12_000)
    assert run.outcome.status is SolutionStatus.CONTEXT_EXCEEDED
    assert "src/shop.py alone has more than the 12000 tokens" in run.outcome.error


def test_answer_as_long_as_the_context_is_refused() -> None:
    with pytest.raises(ValueError, match=r"answer \(8192\) must be less than context \(4000\)"):
        RetrievalSolver.Settings(context=4000)


def test_retriever_prompt_is_cut_to_the_context(play: Callable[..., Played]) -> None:
    many = {f"src/item_{number}.py": f"def price_of_item_{number}(): pass\n" * 60 for number in range(20)}
    run = play([CHOSEN, FIX], {**many, **FILES}, context=12_000, candidates=21)
    assert estimate_tokens(run.said(0)) <= 12_000 - 8_192
    assert 0 < len(json.loads(run.said(0))["input"]["candidates"]) < 21


def test_edit_outside_of_the_repository_is_refused(play: Callable[..., Played], tmp_path: Path) -> None:
    outside = answer(edit("", "x = 1", "../outside.py"))
    run = play([CHOSEN, outside, FIX])
    assert run.outcome.candidates[0].reason == "../outside.py: not a path in the repository"
    assert not (tmp_path / "outside.py").exists()


def test_issue_without_a_shared_word_is_empty(play: Callable[..., Played]) -> None:
    run = play([], {"a.py": "x = 1\n"})
    assert run.outcome.status is SolutionStatus.EMPTY


def test_best_answer_is_in_the_workspace_when_the_budget_ends(tmp_path: Path) -> None:
    half = answer(edit("2|    return count * 4", "    return count * 3"), edit("nothing of this", "at all"))
    stage = Player(tmp_path, FILES, [CHOSEN, half, MISSING, FIX], Budget(llm=BudgetLimits(calls=3)))
    with pytest.raises(BudgetExceeded):
        stage.play(RetrievalSolver(RetrievalSolver.Settings()), ISSUE)
    assert stage.workspace.read("src/shop.py") == FIXED.encode()


def test_other_languages_are_solved(play: Callable[..., Played]) -> None:
    files = {"shop.rs": "fn price(count: i32) -> i32 {\n    count * 4\n}\n", "shop_test.rs": "fn price() {}\n"}
    chosen = json.dumps({"files for editing": ["shop.rs"]})
    run = play([chosen, answer(edit("2|    count * 4", "2|    count * 3", "shop.rs"))], files, "rust")
    assert run.file("shop.rs") == files["shop.rs"].replace("4", "3")
    assert run.outcome.extra["candidates"] == ["shop.rs"]
