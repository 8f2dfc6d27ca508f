import ast
import random
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import FAILING, Status, TestPlan, Tripwire
from assay.harness.reports import read
from assay.harness.runners import Tripwires, adapters, find
from assay.harness.runners.base import EXPECTED, LABELS, PLACE
from assay.harness.runners.unittest import ASSERTIONS, FIXTURES, MARKED, METHODS, PRINTS, adapt, tripwires
from tables import read_tables

TEXTS = read_tables(__file__)

PLAN = TestPlan(
    command="", report_path="r", runner="unittest", report_format="results_jsonl", log_format="unittest_text"
)


@given(st.integers())
def test_tripwires_contain_every_way_to_fail_under_names_of_their_own(seed: int) -> None:
    made = tripwires(random.Random(seed))
    in_fixtures = [status for fixture in FIXTURES for status in fixture[1:] if status]
    in_methods = [status for status, _ in (*METHODS, *ASSERTIONS, *MARKED)]
    in_coroutines, inside_classes = [Status.PASSED, Status.FAILED], [Status.FAILED] * 2
    wanted = [*in_methods, *in_fixtures, *in_coroutines, *inside_classes]
    assert sorted(made.expected.values()) == sorted(wanted)
    for path, text in made.files.items():
        ast.parse(text.replace(PLACE, "1").replace("@CLASS@", "SumTest"), path, feature_version=(3, 5))


def test_another_seed_gives_other_names() -> None:
    one, two = tripwires(random.Random(1)), tripwires(random.Random(2))
    assert one.argument != two.argument
    assert not set(one.expected) & set(two.expected)


def place(tree: Path, made: Tripwires, targets: Sequence[str] = (), labels: Sequence[str] = ()) -> dict[str, Status]:
    """Put tripwires into a tree as a container does; return the status that each must have, by its name there."""
    kit = tree.parent / "kit"
    kit.mkdir()
    files = {**made.files, LABELS: "".join(f"{label}\n" for label in labels), EXPECTED: "test_hidden\n"}
    for name, text in files.items():
        (kit / name).write_text(text)
    command = ["sh", "-uc", find("unittest").PLACING, "sh", *targets]
    done = subprocess.run(command, cwd=tree, env={"TRIPWIRES": str(kit)}, capture_output=True, text=True, check=True)
    assert not done.stderr
    return {name.replace(PLACE, at): status for at in done.stdout.split() for name, status in made.expected.items()}


def run(tree: Path, *arguments: str) -> tuple[int, str, bytes]:
    """Run a module under the adapter, outside any package; return its status, its output and the report."""
    (tree.parent / "adapter").write_text(adapters.source("python"))
    report = tree.parent / "report"
    report.touch()
    command = [sys.executable, str(tree.parent / "adapter"), str(report), *arguments]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, report.read_bytes()


def check(seen: Mapping[str, Tripwire]) -> None:
    for tripwire in seen.values():
        expected = FAILING if tripwire.expected is Status.FAILED else {tripwire.expected}
        assert tripwire.reported in expected
        assert tripwire.printed in expected


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_report_and_output_have_every_tripwire_as_expected(tmp_path: Path, seed: int) -> None:
    made, tree = tripwires(random.Random(seed)), tmp_path / "tree"
    tree.mkdir()
    expected = place(tree, made)
    assert len(expected) == len(made.expected)
    assert [path.name for path in tree.iterdir()] == [made.argument]
    status, output, report = run(tree, "-m", "unittest", "-v", made.argument)
    assert status == 1
    found, seen = read(PLAN, {"r": report}, output, expected, PRINTS)
    assert not found.tests
    check(seen)


OWN = TEXTS["own"]


@pytest.mark.parametrize("target", ["unit/test_own.py", "unit.test_own"])
@pytest.mark.parametrize("shown", ["{} (unit.test_own.{})", "{0} (unit.test_own.{1}.{0})"])
def test_classes_with_tests_to_fix_have_failing_tests_of_their_own(tmp_path: Path, shown: str, target: str) -> None:
    made, tree = tripwires(random.Random(1)), tmp_path / "tree"
    (tree / "unit").mkdir(parents=True)
    (tree / "unit" / "test_own.py").write_text(OWN)
    wanted = [("test_sum", "SumTest"), ("test_two", "SumTest"), ("test_other", "OtherTest"), ("test_no", "NoTest")]
    labels = [shown.format(*each) for each in wanted]
    labels += ["It's told: in (words).", "The last.", "Told nowhere.", "test_x (no.such.Module)"]
    expected = place(tree, made, [target], labels)
    inside = [name for name in made.expected if PLACE in name]
    assert len(expected) == len(made.expected) + 4 * len(inside)
    _, output, report = run(tree, "-m", "unittest", "-v", "unit.test_own", made.argument)
    found, seen = read(PLAN, {"r": report}, output, expected, PRINTS)
    assert set(found.tests.values()) == {Status.PASSED}
    assert sum("unit.test_own" in name for name in found.tests) == 6
    assert "NotTest." not in (tree / "unit" / "test_own.py").read_text()
    check(seen)


@pytest.mark.parametrize(
    ("target", "runs"),
    [
        *[(target, True) for target in ("unit/test_own.py", "./unit/test_own.py", "unit.test_own", ".")],
        *[("unit.test_own.SumTest", True), ("unit.test_own.SumTest.test_sum", False)],
        *[(target, False) for target in ("unit/test_other.py", "unit.test_other", "other", "unit.test_ow", "uni")],
    ],
)
def test_only_classes_that_are_run_have_more_tests(tmp_path: Path, target: str, runs: bool) -> None:
    made, tree = tripwires(random.Random(1)), tmp_path / "tree"
    for name in ("unit", "other"):
        (tree / name).mkdir(parents=True)
    (tree / "unit" / "test_own.py").write_text(OWN)
    (tree / "unit" / "test_other.py").write_text(OWN)
    expected = place(tree, made, [target], ["test_sum (unit.test_own.SumTest)"])
    inside = [name for name in made.expected if PLACE in name]
    assert len(expected) == len(made.expected) + runs * len(inside)
    assert ("SumTest." in (tree / "unit" / "test_own.py").read_text()) is runs


@pytest.mark.parametrize("folder", [".", "unit"])
def test_tripwires_are_found_where_tests_are_discovered(tmp_path: Path, folder: str) -> None:
    made, tree = tripwires(random.Random(1)), tmp_path / "tree"
    adapted = adapt(["python", "-m", "unittest", "discover", *(["-s", folder] if folder != "." else [])])
    assert adapted is not None
    assert adapted.runs_tripwires
    (tree / folder).mkdir(parents=True)
    expected = place(tree, made, adapted.targets)
    _, output, report = run(tree, *shlex.split(adapted.command)[4:])
    check(read(PLAN, {"r": report}, output, expected, PRINTS)[1])


@pytest.mark.parametrize(
    ("words", "command", "targets", "runs_tripwires"),
    [
        (
            "python -m unittest tests.test_a tests/test_b.py",
            "exec python {adapter} {report} -m unittest -v tests.test_a tests/test_b.py {tripwires}",
            ("tests.test_a", "tests/test_b.py"),
            True,
        ),
        ("python3 -m unittest", "exec python3 {adapter} {report} -m unittest -v", (), True),
        (
            "python -m unittest discover -t . -s tests",
            "exec python {adapter} {report} -m unittest discover -t . -s tests -v",
            ("tests",),
            True,
        ),
        (
            "python -m unittest discover tests -p *_t.py",
            "exec python {adapter} {report} -m unittest discover tests -p '*_t.py' -v",
            ("tests",),
            False,
        ),
        (
            "python -m unittest -k add tests.test_a",
            "exec python {adapter} {report} -m unittest -k add -v tests.test_a",
            ("tests.test_a",),
            False,
        ),
    ],
)
def test_command_of_a_row_is_given_the_adapter_and_tripwires(
    words: str, command: str, targets: tuple[str, ...], runs_tripwires: bool
) -> None:
    adapted = adapt(shlex.split(words))
    assert adapted is not None
    assert (adapted.command, adapted.targets) == (command, targets)
    assert adapted.runs_tripwires == runs_tripwires


@pytest.mark.parametrize("words", ["", "python -m pytest tests", "python -m", "tox"])
def test_any_other_command_is_not_adapted(words: str) -> None:
    assert adapt(shlex.split(words)) is None
