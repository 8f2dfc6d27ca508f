import pytest

from assay.harness.runners import adapt_commands
from placed_tripwires import adapt_lines


@pytest.mark.parametrize("program", ["mvn", "mvnd", "./mvnw", "/opt/maven/bin/mvn"])
def test_command_of_a_script_selects_the_tripwires_class_too(program: str) -> None:
    line = f"{program} clean test -B -T 1C -pl core -Dtest=org.acme.AddTest#one+two,MulTest -Dx=1"
    found = adapt_lines("maven", line)
    arguments, *_ = found.command.splitlines()
    assert arguments == "set -- -T 1C -pl core -Dx=1 '-Dtest=org.acme.AddTest#one+two,MulTest,{tripwires}'"
    assert f"\n{program} --offline --batch-mode --fail-at-end " in found.command
    assert found.targets == ("-pl=core", "AddTest", "MulTest")


def test_commands_that_differ_in_the_classes_they_select_are_one() -> None:
    found = adapt_lines("maven", *(f"mvnd test -B -Dtest=org.acme.AddTest#{name}" for name in ("one", "two")))
    assert "-Dtest=org.acme.AddTest#one,org.acme.AddTest#two,{tripwires}" in found.command
    assert found.targets == ("AddTest",)


def test_a_class_that_is_left_out_leaves_the_tripwires_out() -> None:
    found = adapt_lines("maven", "mvn test -Dtest=!AddTest")
    assert not found.runs_tripwires
    assert "{tripwires}" not in found.command


@pytest.mark.parametrize(
    "lines",
    [
        ["mvn verify"],
        ["mvn"],
        ["mvn test deploy"],
        ["mvnx test"],
        ["mvn test -pl a -Dtest=A", "mvn test -pl b -Dtest=B"],
        ["mvn test -Dtest=A", "mvn test"],
    ],
)
def test_any_other_command_is_not_adapted(lines: list[str]) -> None:
    assert adapt_commands([line.split() for line in lines]) is None
