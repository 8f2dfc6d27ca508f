"""Gradle's test commands in the scripts of rows."""

import pytest

from assay.harness.runners import adapt_commands
from placed_tripwires import adapt_lines


def test_command_of_a_script_selects_the_tripwires_class_too() -> None:
    line = "./gradlew :core:test --tests org.acme.AddTest.adds --tests=MulTest -Dtests.seed=1 --info --continue"
    found = adapt_lines("gradle", line)
    assert (
        "./gradlew --offline --continue :core:test --tests org.acme.AddTest.adds --tests=MulTest -Dtests.seed=1 --info "
        "--tests '*{tripwires}'\n"
    ) in found.command
    assert found.targets == (":core:test", "AddTest", "MulTest")


def test_command_without_a_choice_of_tests_runs_all() -> None:
    found = adapt_lines("gradle", "gradle test")
    assert "gradle --offline --continue test\n" in found.command
    assert found.targets == ()


@pytest.mark.parametrize("line", ["gradle", "gradle build", "gradle test jar", "gradle check", "gradlex test"])
def test_any_other_command_is_not_adapted(line: str) -> None:
    assert adapt_commands([line.split()]) is None
