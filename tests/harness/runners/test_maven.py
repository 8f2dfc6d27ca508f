import shlex

import pytest

from assay.harness.runners import adapt_commands


@pytest.mark.parametrize("program", ["mvn", "mvnd", "./mvnw", "/opt/maven/bin/mvn"])
def test_command_of_a_script_selects_the_tripwires_class_too(program: str) -> None:
    words = shlex.split(f"{program} clean test -B -T 1C -pl core -Dtest=org.acme.AddTest#one+two,MulTest -Dx=1")
    name, adapted = adapt_commands([words]) or ("", None)
    assert name == "maven"
    assert adapted is not None
    arguments, *_ = adapted.command.splitlines()
    assert arguments == "set -- -T 1C -pl core -Dx=1 '-Dtest=org.acme.AddTest#one+two,MulTest,{tripwires}'"
    assert f"\n{program} --offline --batch-mode --fail-at-end " in adapted.command
    assert adapted.targets == ("AddTest", "MulTest")


def test_commands_that_differ_in_the_classes_they_select_are_one() -> None:
    commands = [f"mvnd test -B -Dtest=org.acme.AddTest#{name}".split() for name in ("one", "two")]
    _, adapted = adapt_commands(commands) or ("", None)
    assert adapted is not None
    assert "-Dtest=org.acme.AddTest#one,org.acme.AddTest#two,{tripwires}" in adapted.command
    assert adapted.targets == ("AddTest",)


def test_a_class_that_is_left_out_leaves_the_tripwires_out() -> None:
    _, adapted = adapt_commands([["mvn", "test", "-Dtest=!AddTest"]]) or ("", None)
    assert adapted is not None
    assert not adapted.runs_tripwires
    assert "{tripwires}" not in adapted.command


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
