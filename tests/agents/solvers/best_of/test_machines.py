"""CodeMonkeys' machines, one at a time, in a folder and with a scripted model."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.agents.contract import Candidate
from assay.agents.llm.chat import ChatModel
from assay.agents.solvers.best_of import machines
from assay.agents.solvers.best_of.machines import EditingMachine, MachineSetup, SelectionMachine
from assay.agents.solvers.best_of.selection import SHOWS_BUG
from assay.agents.solvers.best_of.trials import TrialWorkspace
from solver_sessions import FIX, WORSE, Forgetful, Stage, stage

pytestmark = pytest.mark.slow

SCRIPT = "import sys\nfrom shop.prices import total\nsys.exit(0 if total([1, 2]) == 3 else 2)\n"
TEST = f"<test>\n{SCRIPT}</test>"
BLIND = "<test>\nraise SystemExit(0)\n</test>"
DONE = "It is right. <done/>"

Make = Callable[..., tuple[Stage, MachineSetup]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(
        *answers: str, attempts: int = 3, model: Callable[[ChatModel], ChatModel] = lambda each: each
    ) -> tuple[Stage, MachineSetup]:
        on = stage(tmp_path, answers, around=model)
        return on, MachineSetup(on.session, TrialWorkspace(on.session, shown=1000), attempts, None)

    return make


def last_prompt(on: Stage) -> str:
    return str(on.asked[-1].messages[-1].content)


def test_testing_machine_ends_with_a_test_that_shows_the_bug(make: Make) -> None:
    on, setup = make(BLIND, DONE, TEST, DONE, attempts=9)
    machine = machines.TestingMachine(setup)
    machine.work("the issue")
    assert machine.test == SCRIPT
    assert machine.ran is not None
    assert machine.ran.status == SHOWS_BUG
    assert len(on.asked) == 4


def test_testing_machine_stops_after_its_attempts(make: Make) -> None:
    on, setup = make("I do not know.", "Hm.", "No.")
    machine = machines.TestingMachine(setup)
    machine.work("the issue")
    assert (machine.test, machine.ran, len(on.asked)) == ("", None, 3)


def test_editing_machine_may_rewrite_the_test(make: Make) -> None:
    wrong = SCRIPT.replace("== 3", "== 4")
    on, setup = make(f"{FIX}\nThe test is wrong:\n{TEST}", DONE)
    machine = EditingMachine(setup, wrong)
    machine.work("the issue", None)
    assert machine.test == SCRIPT
    assert machine.edited.is_applied
    assert "On the changed code it came to exit status 0" in last_prompt(on)


def test_editing_machine_stops_after_its_attempts(make: Make) -> None:
    on, setup = make("I do not know.", DONE, "Hm.")
    machine = EditingMachine(setup, "")
    machine.work("the issue", None)
    assert (machine.edited.is_applied, len(on.asked)) == (False, 3)
    assert "There was no change that could be read" in last_prompt(on)


def test_conversation_beyond_the_context_keeps_the_last_edit(make: Make) -> None:
    _, setup = make(FIX, DONE, model=lambda model: Forgetful(model, 2))
    machine = EditingMachine(setup, "")
    machine.work("the issue", None)
    assert "+    return sum(prices)" in machine.edited.patch


def test_files_left_by_a_test_are_not_in_the_patch(make: Make) -> None:
    _, setup = make(FIX, DONE)
    machine = EditingMachine(setup, f"open('left.txt', 'w').write('x')\n{SCRIPT}")
    machine.work("the issue", None)
    assert "left.txt" not in machine.edited.patch


def candidates(setup: MachineSetup) -> list[Candidate]:
    """Return a wrong and a right candidate."""
    edited = [setup.trials.edit(each) for each in (WORSE, FIX)]
    return [Candidate(patch=each.patch) for each in edited if each is not None]


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        (("<chosen_candidate_fix_id>1</chosen_candidate_fix_id>",), 1),
        (("<chosen_candidate_fix_id>2</chosen_candidate_fix_id>",), 0),
        (("<chosen_candidate_fix_id>neither</chosen_candidate_fix_id>",), 0),
        (("Hm.", BLIND, "Hm."), 0),  # three answers, and no choice
    ],
)
def test_selection_machine_falls_back_to_the_first_candidate(make: Make, answers: tuple[str, ...], chosen: int) -> None:
    _, setup = make(*answers)
    assert SelectionMachine(setup, candidates(setup)).work("the issue") == chosen


def test_selection_machine_reports_a_test_on_all_and_announces_the_last_answer(make: Make) -> None:
    strict = TEST.replace("== 3", "== 3 and total([5]) == 5")
    on, setup = make(strict, "<chosen_candidate_fix_id>1</chosen_candidate_fix_id>", attempts=2)
    assert SelectionMachine(setup, candidates(setup)).work("the issue") == 1
    assert "On original the test came to exit status 2" in last_prompt(on)
    assert "On candidate 0 the test came to exit status 2" in last_prompt(on)
    assert "On candidate 1 the test came to exit status 0" in last_prompt(on)
    assert "choose now" in last_prompt(on)
