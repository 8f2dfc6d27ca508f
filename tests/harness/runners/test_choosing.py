"""For each runner every way in which a command selects: followed, not followed, or no tripwires at all."""

from typing import Any

import pytest

from assay.harness.runners import RUNNERS
from assay.harness.runners.choosing import OPTIONS, Choice, read_choice
from tables import read_tables

CASES: dict[str, dict[str, Any]] = read_tables(__file__)


def list_cases(kind: str) -> list[tuple[str, Any]]:
    return [(runner, each) for runner, known in CASES.items() for each in known.get(kind, ())]


def read(runner: str, line: str) -> Choice:
    return read_choice(runner, [["echo", "x"], ["exec", *line.split()]], names_tripwires=True)


def test_each_runner_is_read() -> None:
    assert OPTIONS.keys() == CASES.keys() == RUNNERS.keys()


@pytest.mark.parametrize("runner", CASES)
def test_command_of_all_tests_has_tripwires_in_all_places(runner: str) -> None:
    found = read(runner, CASES[runner]["all"])
    assert (found.runs_tripwires, found.sure) == (True, True)


@pytest.mark.parametrize(("runner", "option"), list_cases("left_out"))
def test_choice_of_single_tests_has_no_tripwires(runner: str, option: str) -> None:
    assert not read(runner, " ".join((CASES[runner]["all"], option))).runs_tripwires


@pytest.mark.parametrize(("runner", "option"), list_cases("unknown"))
def test_choice_that_nobody_follows_makes_no_place_sure(runner: str, option: str) -> None:
    found = read(runner, " ".join((CASES[runner]["all"], option)))
    assert (found.runs_tripwires, found.sure) == (True, False)


@pytest.mark.parametrize(("runner", "line"), list_cases("followed"))
def test_other_choices_are_followed(runner: str, line: str) -> None:
    found = read(runner, line)
    assert ([*found.chosen], found.sure) == (CASES[runner]["followed"][line], True)


def test_filter_that_lets_the_tripwires_pass_leaves_none_out() -> None:
    lines = ("cargo test x {tripwires}", "mvn test -Dtest=A,{tripwires}", "go test -run A|{tripwires} .")
    found = [read(runner, line) for runner, line in zip(("cargo", "maven", "go"), lines, strict=True)]
    assert all(each.runs_tripwires for each in found)


def test_tripwires_of_a_file_that_the_command_does_not_name_are_not_sure() -> None:
    commands = {each: [CASES[each]["all"].split()] for each in ("pytest", "go")}
    sure = {each: read_choice(each, commands[each], names_tripwires=False).sure for each in commands}
    assert sure == {"pytest": False, "go": True}


def test_of_two_commands_nobody_knows_which_runs_a_place() -> None:
    lines = ("cargo test --lib", "cargo test --test it")
    assert read_choice("cargo", [line.split() for line in lines], names_tripwires=True) == Choice(sure=False)
