from pathlib import Path

import pytest

from assay.agents.solvers.best_of.trials import BASE, TrialWorkspace
from solver_sessions import FIX, Stage, edit, stage


@pytest.fixture
def on(tmp_path: Path) -> Stage:
    return stage(tmp_path, [])


@pytest.fixture
def trials(on: Stage) -> TrialWorkspace:
    return TrialWorkspace(on.session, shown=20)


def test_edit_applies_to_the_base_and_keeps_the_state(on: Stage, trials: TrialWorkspace) -> None:
    edited = trials.edit(FIX)
    assert edited is not None
    assert edited.is_applied
    assert "+    return sum(prices)\n" in edited.patch
    assert edited.files.keys() == {"shop/prices.py"}
    on.workspace.restore(edited.snapshot)
    assert on.workspace.diff() == edited.patch


@pytest.mark.parametrize(
    ("answer", "report"),
    [
        (f"{FIX}\n{edit('shop/none.py', 'a', 'b')}", "shop/none.py: not applied"),
        (edit("shop/prices.py", "    return min(prices)", "    return (min"), "shop/prices.py would not parse"),
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "no path"),
    ],
)
def test_edit_that_fails_in_one_part_applies_none(trials: TrialWorkspace, answer: str, report: str) -> None:
    edited = trials.edit(answer)
    assert edited is not None
    assert (edited.is_applied, edited.snapshot, edited.patch) == (False, BASE, "")
    assert report in edited.report


def test_edit_of_an_answer_without_edits_is_none(trials: TrialWorkspace) -> None:
    assert trials.edit("I would add the first price.") is None


def test_run_reads_the_script_from_its_input_and_clips_the_output(on: Stage, trials: TrialWorkspace) -> None:
    ran = trials.run("print('x' * 500)\nopen('left', 'w').close()\nraise SystemExit(2)")
    assert ran.status == 2
    assert "left out" in ran.output
    trials.run("")
    assert on.workspace.read("left") is None
    assert [name for name, _ in on.actions()] == ["run_test", "run_test"]


def test_exit_statuses_of_a_state_that_does_not_exist_are_none(trials: TrialWorkspace) -> None:
    assert trials.apply_patch("this is no patch\n") is None
    assert trials.run_all(["a", "b"], None, what="candidate") == (None, None)
    assert trials.run_all(["raise SystemExit(2)", ""], BASE, what="original") == (2, 0)
