"""Agentless from the issue to the patch, with a scripted model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from assay.agents.contract import AgentTask, SolutionStatus, SolveOutcome, SolveSession
from assay.agents.llm.chat import Request
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.sampling.workspaces.folder import FolderWorkspace, folder_workspace
from assay.agents.solvers.agentless.settings import AgentlessSettings
from assay.agents.solvers.agentless.solver import Agentless
from assay.agents.trajectory import AgentInfo, TrajectoryRecorder
from assay.harness.domain import Status
from assay.harness.errors import UserError

pytestmark = pytest.mark.slow

SHOP = '''\
"""A shop."""

LIMIT = 10


def price(count):
    """Return the price of so many."""
    return count * 3


def discount(count):
    return count > LIMIT
'''
FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": SHOP,
    "shop/tills.py": "def open_till():\n    return 'till'\n",
    "docs/conf.py": "project = 'shop'\n",
    "tests/test_prices.py": "from shop.prices import price\n\n\ndef test_price():\n    assert price(2) == 6\n",
}
ISSUE = "discount(10) is False, though ten is enough for a discount in shop.prices"


def edit(search: str, replace: str, path: str = "shop/prices.py") -> str:
    return f"It is wrong.\n```python\n### {path}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```"


RIGHT = edit("    return count > LIMIT", "    return count >= LIMIT")
SAME = edit("    return count > LIMIT", "    return count >= LIMIT  # ten is enough")
WRONG = edit("LIMIT = 10", "LIMIT = 9")
BREAKS = edit("    return count > LIMIT", "    return count >= LIMIT\n\n\ndef price(count):\n    return 0")
REPRODUCES = """```python
from shop.prices import discount

def test_it():
    print("Issue resolved" if discount(10) else "Issue reproduced")

test_it()
```"""


KINDS = {
    "Which files must be edited": "files",
    "surely nothing to do": "folders",
    "must be looked at": "elements",
    "Which places must be edited": "lines",
    "Then give the edits": "repair",
    "should therefore not be run": "regression",
    "that shows whether the issue is there": "reproduction",
}
"""Words of a question, and what it is called here."""


@dataclass
class Model:
    """Answers each kind of question from a list, and keeps what it was asked; the last answer is for ever."""

    answers: Mapping[str, Sequence[str]]
    asked: list[tuple[str, Request]] = field(default_factory=list)

    def __call__(self, request: Request) -> str:
        said = str(request.messages[-1].content)
        (kind,) = (name for mark, name in KINDS.items() if mark in said)
        self.asked.append((kind, request))
        known = self.answers[kind]
        return known[min(sum(1 for each, _ in self.asked if each == kind), len(known)) - 1]

    def of(self, kind: str) -> list[Request]:
        return [request for name, request in self.asked if name == kind]


CHECKED = {"regression": True, "reproduction_tests": 1}
USUAL = {
    "files": ["```\nshop/prices.py\nshop/none.py\n```"],
    "folders": ["```\ndocs/\n```"],
    "elements": ["```\nshop/prices.py\nfunction: discount\nvariable: LIMIT\n```"],
    "lines": ["```\nshop/prices.py\nline: 12\nline: 3\n```"],
    "repair": [RIGHT],
    "regression": ["```\n```"],
    "reproduction": [REPRODUCES],
}


@pytest.fixture(autouse=True)
def _no_compiled_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what Python compiles out of the shop, which ignores no file."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def run_tests(workspace: FolderWorkspace, files: Sequence[str], extra: Mapping[str, bytes]) -> dict[str, Status]:
    """Run the one test of the project in a process of its own; of two more, one always passes and one never."""
    ran = workspace.exec("python3 -c 'from shop.prices import price; assert price(2) == 6'")
    status = Status.PASSED if ran.exit_code == 0 else Status.FAILED
    return {"test_price": status, "test_till": Status.PASSED, "test_sale": Status.FAILED}


@dataclass
class Solved:
    outcome: SolveOutcome
    workspace: FolderWorkspace
    model: Model
    recorder: TrajectoryRecorder

    def sources(self) -> dict[str, str]:
        """Source of each candidate, and why it was dropped."""
        return {each.source: each.reason for each in self.outcome.candidates}

    def notes(self) -> str:
        trajectory = self.recorder.trajectory()
        assert trajectory is not None
        return "\n".join(str(step.message) for step in trajectory.steps if step.llm_call_count == 0)


def session_in(folder: Path, model: Model, files: Mapping[str, str] = FILES, language: str = "python") -> SolveSession:
    workspace = folder_workspace(folder / "tree", files, run_tests=run_tests)
    recorder = TrajectoryRecorder(None, AgentInfo(name="agentless", version="1"))
    task = AgentTask(repo="a/shop", language=language, problem_statement=ISSUE, root=workspace.root)
    return SolveSession(
        task, workspace, RecordedModel(Scripted(model), recorder, ModelDefaults(model="scripted")), recorder
    )


def solve(folder: Path, options: Mapping[str, object], **answers: Sequence[str]) -> Solved:
    model = Model({**USUAL, **answers})
    session = session_in(folder, model)
    small = {"location_sets": 1, "samples": 1, "reproduction_tests": 0, "regression": False, **options}
    outcome = Agentless(AgentlessSettings.model_validate(small)).solve(session)
    assert isinstance(session.workspace, FolderWorkspace)
    return Solved(outcome, session.workspace, model, session.recorder)


def test_default_settings_find_the_fix(tmp_path: Path) -> None:
    """The paper's constants: 4 sets of 10 patches, 40 reproduction tests; all agree."""
    solved = solve(tmp_path, {"location_sets": 4, "samples": 10, "reproduction_tests": 40, "regression": True})
    assert solved.outcome.status is SolutionStatus.SUBMITTED
    assert solved.outcome.patch is not None
    assert "-    return count > LIMIT\n+    return count >= LIMIT\n" in solved.outcome.patch
    assert solved.workspace.diff() == solved.outcome.patch
    assert [len(solved.model.of(kind)) for kind in USUAL] == [1, 1, 1, 4, 40, 1, 40]
    assert [each.votes for each in solved.outcome.candidates] == [40] * 40
    assert solved.outcome.candidates[0].scores == {"regression_failed": 0.0, "reproduction": 1.0}


def test_requests_have_the_paper_s_order_and_temperatures(tmp_path: Path) -> None:
    """Greedy is the first sample of each set of 3, and the first of 2 reproduction tests; lines are never greedy."""
    solved = solve(tmp_path, {"location_sets": 2, "samples": 3, **CHECKED, "reproduction_tests": 2})
    asked = [(kind, request.temperature, request.max_tokens) for kind, request in solved.model.asked]
    assert asked == [
        ("files", 0.0, 300),
        ("folders", 0.0, 2048),
        ("elements", 0.0, 300),
        *[("lines", 0.8, 300)] * 2,
        *[("repair", 0.0, 1024), ("repair", 0.8, 1024), ("repair", 0.8, 1024)] * 2,
        ("regression", 0.0, 1024),
        ("reproduction", 0.0, 1024),
        ("reproduction", 0.8, 1024),
    ]


def test_each_prompt_shows_what_the_step_before_kept(tmp_path: Path) -> None:
    solved = solve(tmp_path, {"window": 1, "top_files": 1, **CHECKED})
    asked = {kind: str(solved.model.of(kind)[0].messages[0].content) for kind in USUAL}
    assert all(ISSUE in text for text in asked.values())
    assert "tills.py" in asked["files"]
    assert "test_prices.py" not in asked["files"]
    assert "tills.py" not in asked["elements"]
    assert "def discount(count):\n    ..." in asked["elements"]
    assert "11|def discount(count):\n12|    return count > LIMIT" in asked["lines"]
    assert "8|" not in asked["lines"]  # neither of the elements, nor next to one
    # lines 3 and 12 with a line of context each: 2 to 4 and 11 to 12
    assert "...\n\nLIMIT = 10\n\n...\ndef discount(count):\n    return count > LIMIT" in asked["repair"]
    assert "test_price\ntest_till" in asked["regression"]
    assert "test_sale" not in asked["regression"]


def test_most_votes_win_regardless_of_layout(tmp_path: Path) -> None:
    """No tests: wrong, right, wrong in other words of the vote; two that mean the same beat the first one."""
    solved = solve(tmp_path, {"samples": 3}, repair=[WRONG, RIGHT, SAME])
    assert solved.outcome.patch is not None
    assert "count >= LIMIT\n" in solved.outcome.patch
    assert [each.votes for each in solved.outcome.candidates] == [1, 2, 2]


def test_ties_go_to_the_greedy_samples(tmp_path: Path) -> None:
    """Two sets of two: set 0 says wrong, then right; set 1 says right, then wrong. Interleaved: wrong, right, right,
    wrong. Two votes each, and the greedy sample of set 0 comes first."""
    options = {"location_sets": 2, "samples": 2}
    solved = solve(tmp_path, options, repair=[WRONG, RIGHT, RIGHT, WRONG])
    assert [each.source for each in solved.outcome.candidates] == [
        "locations 0, sample 0",
        "locations 1, sample 0",
        "locations 0, sample 1",
        "locations 1, sample 1",
    ]
    assert "+LIMIT = 9\n" in str(solved.outcome.patch)


def test_patch_that_breaks_tests_has_no_vote(tmp_path: Path) -> None:
    solved = solve(tmp_path, {"samples": 3, **CHECKED}, repair=[BREAKS, BREAKS, RIGHT])
    assert "def price(count):\n+    return 0" not in str(solved.outcome.patch)
    assert solved.outcome.candidates[0].scores["regression_failed"] == 1
    assert "1 regression tests fail, others fail 0" in solved.outcome.candidates[0].reason


def test_excluded_test_is_not_counted(tmp_path: Path) -> None:
    solved = solve(
        tmp_path, {"samples": 3, **CHECKED}, repair=[BREAKS, BREAKS, RIGHT], regression=["```\ntest_price\n```"]
    )
    assert "+    return 0\n" in str(solved.outcome.patch)
    assert "2 tests pass; 1 should not be run" in solved.notes()


def test_patch_that_leaves_the_issue_has_no_vote(tmp_path: Path) -> None:
    """``price`` for three as before, and no discount for ten: both samples that say so are outvoted by one."""
    useless = edit("    return count > LIMIT", "    return LIMIT < count")
    solved = solve(tmp_path, {"samples": 3, **CHECKED}, repair=[useless, useless, RIGHT])
    assert "count >= LIMIT" in str(solved.outcome.patch)
    assert "does not say that the issue is resolved" in solved.outcome.candidates[0].reason


def test_only_tests_that_reproduce_the_issue_are_used(tmp_path: Path) -> None:
    """The first says that all is well, the second cannot run, the third says two things, the fourth is right."""
    said = ["```python\nprint('Issue resolved')\n```", "```python\n1/0\n```"]
    said += ["```python\nprint('Issue reproduced, not Issue resolved')\n```", REPRODUCES]
    solved = solve(tmp_path, {**CHECKED, "reproduction_tests": 4}, reproduction=said)
    assert "1 of 4 reproduction tests show the issue" in solved.notes()
    assert solved.outcome.candidates[0].scores["reproduction"] == 1.0
    assert "reproduce_bug.py" not in str(solved.outcome.patch)


def test_patches_vote_without_a_reproduction_test(tmp_path: Path) -> None:
    solved = solve(tmp_path, CHECKED, reproduction=["I cannot."])
    assert "0 of 1 reproduction tests show the issue" in solved.notes()
    assert solved.outcome.candidates[0].scores == {"regression_failed": 0.0}
    assert "count >= LIMIT" in str(solved.outcome.patch)


def test_without_a_usable_sample_the_outcome_is_empty_and_counts_the_reasons(tmp_path: Path) -> None:
    solved = solve(tmp_path, {"samples": 2}, repair=["I do not know."])
    assert solved.outcome.status is SolutionStatus.EMPTY
    assert solved.outcome.patch == solved.workspace.diff() == ""
    assert solved.outcome.error == "no sample is left: 2 x no edit in the answer"


def test_files_without_locations_are_open_as_a_whole(tmp_path: Path) -> None:
    """The bug of Agentless' own code: it yields no patch then."""
    solved = solve(tmp_path, {"location_tries": 2}, elements=["I see none."], lines=["I see none."])
    assert [len(solved.model.of(kind)) for kind in ("elements", "lines")] == [2, 2]
    assert "count >= LIMIT" in str(solved.outcome.patch)


def test_code_that_does_not_fit_is_neither_shown_nor_edited(tmp_path: Path) -> None:
    """Whole files are open. Of 120 characters the empty file needs none and tills 17 + 18, which leaves 85 for prices:
    its first 7 lines take 14 + 1 + 11 + 1 + 1 + 18 + 39 = 85. Numbers take 2 more a line: 81 are left, for 16 + 3 + 13
    + 3 + 3 + 20 = 58 of 6 lines, and not for 41 more."""
    options = {"location_tries": 1, "code_characters": 120, "samples": 2}
    none = {"elements": ["I see none."], "lines": ["I see none."]}
    solved = solve(tmp_path, options, **none, repair=[RIGHT, edit("LIMIT = 10", "LIMIT = 9")])
    for kind, count in (("lines", 6), ("repair", 5)):
        asked = str(solved.model.of(kind)[0].messages[0].content)
        assert "LIMIT = 10" in asked
        assert "count > LIMIT" not in asked
        assert f"left out are:\n- shop/prices.py: {count} of the 12 lines that belong here" in asked
    assert "not found" in solved.outcome.candidates[0].reason
    assert "+LIMIT = 9\n" in str(solved.outcome.patch)


def test_file_that_does_not_fit_cannot_be_edited(tmp_path: Path) -> None:
    """The first lines of prices and tills take 14 and 17 characters, and each file has 5."""
    none = {"elements": ["I see none."], "lines": ["I see none."]}
    solved = solve(tmp_path, {"location_tries": 1, "code_characters": 10}, **none)
    assert "shop/prices.py: not applied: the file was not shown" in solved.outcome.candidates[0].reason
    assert solved.outcome.patch == ""


def test_requests_without_locations_are_repeated_at_temperature_1(tmp_path: Path) -> None:
    """Elements: none, then some. Lines, for two sets: none and none, then none and some: the first set is that of the
    elements, and the second is line 12 with 10 lines around it, of 12 that there are: 2 to 12."""
    lines = ["None.", "shop/prices.py\nfunction: nobody", "None.", "shop/prices.py\nline: 12"]
    elements = ["None.", USUAL["elements"][0]]
    solved = solve(tmp_path, {"location_sets": 2}, elements=elements, lines=lines)
    assert [request.temperature for request in solved.model.of("elements")] == [0.0, 1.0]
    assert [request.temperature for request in solved.model.of("lines")] == [0.8, 0.8, 1.0, 1.0]
    assert "Locations 0: none that is known" in solved.notes()
    assert "Locations 1: {'shop/prices.py': [(2, 12)]}" in solved.notes()


def test_new_file_belongs_to_the_patch(tmp_path: Path) -> None:
    both = RIGHT + edit("", "TEN = 10", "shop/numbers.py")
    patch = str(solve(tmp_path, {}, repair=[both]).outcome.patch)
    assert "+++ b/shop/numbers.py" in patch
    assert "count >= LIMIT" in patch


def test_tests_that_cannot_run_fail_before_any_model_call(tmp_path: Path) -> None:
    model = Model(USUAL)
    session = replace(session_in(tmp_path, model), workspace=folder_workspace(tmp_path / "no-tests", FILES))
    with pytest.raises(UserError, match="tests cannot run"):
        Agentless(AgentlessSettings()).solve(session)
    assert model.asked == []


def test_no_matching_file_is_an_empty_outcome(tmp_path: Path) -> None:
    solved = solve(tmp_path, {"retrieval": False}, files=["none.py"])
    assert solved.outcome.status is SolutionStatus.EMPTY
    assert "no file" in solved.outcome.error


def test_files_of_the_model_and_of_bm25_are_combined(tmp_path: Path) -> None:
    """The model names tills; retrieval by the issue's words finds prices first: one each, the model's first."""
    solved = solve(tmp_path, {"top_files": 2}, files=["shop/tills.py"])
    elements = str(solved.model.of("elements")[0].messages[0].content)
    assert re.findall(r"^### (\S+)$", elements, re.MULTILINE) == ["shop/tills.py", "shop/prices.py"]


def test_best_sample_before_a_limit_is_left_in_the_workspace(tmp_path: Path) -> None:
    model = Model(USUAL)

    def answer(request: Request) -> str:
        if len(model.of("repair")) == 2:
            raise BudgetExceeded("no money is left", limit="cost")
        return model(request)

    session = session_in(tmp_path, model)
    session = replace(session, model=RecordedModel(Scripted(answer), session.recorder, ModelDefaults(model="scripted")))
    with pytest.raises(BudgetExceeded):
        Agentless(AgentlessSettings(samples=5, regression=False)).solve(session)
    assert "count >= LIMIT" in session.workspace.diff()


GO = "package shop\n\nfunc Discount(count int) bool {\n\treturn count > 10\n}\n"


def test_go_project_is_solved_with_a_shell_script(tmp_path: Path) -> None:
    """Go: outlines, lines, edits and votes through its syntax tree; the reproduction test is a shell script."""
    script = "```sh\ngrep -q 'count > 10' shop/shop.go && echo Issue reproduced || echo Issue resolved\n```"
    model = Model(
        {
            **USUAL,
            "files": ["shop/shop.go"],
            "elements": ["shop/shop.go\nfunction: Discount"],
            "lines": ["shop/shop.go\nline: 4"],
            "repair": [
                edit("\treturn count > 9", "\treturn true", "shop/shop.go"),
                edit("\treturn count > 10", "\treturn count >= 10 // ten", "shop/shop.go"),
                edit("    return count > 10", "    return  count>=10", "shop/shop.go"),
            ],
            "reproduction": [script],
        }
    )
    session = session_in(tmp_path, model, {"shop/shop.go": GO, "shop/shop_test.go": "package shop\n"}, "go")
    outcome = Agentless(AgentlessSettings(location_sets=1, samples=3, reproduction_tests=1, regression=False)).solve(
        session
    )
    assert [each.votes for each in outcome.candidates] == [1, 2, 2]
    assert "+\treturn count >= 10 // ten\n" in str(outcome.patch)
    assert outcome.candidates[1].scores == {"reproduction": 1.0}
    assert "reproduce_bug.sh" in str(model.of("reproduction")[0].messages[0].content)
