import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status, TestPlan
from assay.harness.reports import read
from assay.harness.runners import Tripwires, adapt, find
from assay.harness.runners.base import LABELS, PLACE
from assay.harness.runners.pytest import FUNCTIONS, PRINTS, tripwires
from placed_tripwires import adapt_lines
from tables import read_tables

TEXTS = read_tables(__file__)

pytestmark = pytest.mark.slow

PLAN = TestPlan(command="", report_path="r.xml", runner="pytest")


@given(st.integers())
def test_tripwires_contain_every_way_to_fail_once_as_function_and_as_method(seed: int) -> None:
    made = tripwires(random.Random(seed))
    statuses = list(made.expected.values())
    assert statuses.count(Status.PASSED) == 2
    assert statuses.count(Status.FAILED) == len(statuses) - 2 >= 9
    assert len(FUNCTIONS) == 5
    for path, text in made.files.items():
        compile(text.replace(PLACE, "1").replace("@CLASS@", "TestSum"), path, "exec")


def test_another_seed_gives_other_names() -> None:
    one, two = tripwires(random.Random(1)), tripwires(random.Random(2))
    assert one.argument != two.argument
    assert not set(one.expected) & set(two.expected)


def place(tree: Path, made: Tripwires, targets: Sequence[str] = (), labels: Sequence[str] = ()) -> dict[str, Status]:
    """Put tripwires into a tree as a container does; return the status that each must have, by its name there."""
    kit = tree / "kit"
    kit.mkdir()
    for name, text in {**made.files, LABELS: "".join(f"{label}\n" for label in labels)}.items():
        (kit / name).write_text(text)
    command = ["sh", "-uc", find("pytest").PLACING, "sh", *targets]
    done = subprocess.run(command, cwd=tree, env={"TRIPWIRES": str(kit)}, capture_output=True, text=True, check=True)
    assert not done.stderr
    return {name.replace(PLACE, at): status for at in done.stdout.split() for name, status in made.expected.items()}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("style", ["node", "function"])
def test_report_and_output_of_pytest_have_every_tripwire_as_expected(tmp_path: Path, seed: int, style: str) -> None:
    made = tripwires(random.Random(seed))
    expected = place(tmp_path, made)
    assert len(expected) == len(made.expected)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rfEsxXp",
        "--junitxml=r.xml",
        "-o",
        "junit_family=xunit1",
        made.argument,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    plan = PLAN.model_copy(update={"test_id": style})
    report, seen = read(plan, {"r": (tmp_path / "r.xml").read_bytes()}, done.stdout, expected, PRINTS)
    assert not report.tests
    assert {name: each.reported for name, each in seen.items()} == expected
    assert {name: each.printed for name, each in seen.items()} == expected


@pytest.mark.parametrize("options", [(), ("--import-mode=importlib",), ("-W", "error"), ("--assert=plain",)])
def test_project_that_sorts_its_tests_runs_them_before_the_tripwires(tmp_path: Path, options: Sequence[str]) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.hookimpl(tryfirst=True, hookwrapper=True)\n"
        "def pytest_collection_modifyitems(items):\n    items.reverse()\n    yield\n"
    )
    (tmp_path / "test_own.py").write_text("def test_one():\n    pass\n\n\ndef test_two():\n    pass\n")
    made = tripwires(random.Random(1))
    place(tmp_path, made)
    command = [sys.executable, "-m", "pytest", "-v", *options, "test_own.py", made.argument]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    ran = re.findall(r"::(\w+) (?:PASSED|FAILED) ", done.stdout)
    assert ran[:2] == ["test_two", "test_one"]
    assert len(ran) == 2 + len(made.expected)


OWN = TEXTS["own"]
MARKED = """
import pytest

pytestmark = pytest.mark.parametrize("number", [1, 2])


def test_marked(number):
    pass
"""


@pytest.mark.parametrize("targets", [(), (".",), ("unit",), ("unit/test_own.py", "unit/test_marked.py")])
def test_files_and_classes_with_tests_to_fix_have_failing_tests_of_their_own(
    tmp_path: Path, targets: tuple[str, ...]
) -> None:
    made, folder = tripwires(random.Random(1)), tmp_path / "unit"
    folder.mkdir()
    for name, text in (("own", OWN), ("marked", MARKED), ("other", "def test_other():\n    pass\n")):
        (folder / f"test_{name}.py").write_text(text)
    cases = ["TestGiven::test_number[1]", "TestHeir::test_more[1]", "TestClass::test_one", "TestCase::test_two"]
    labels = [f"unit/test_own.py::{name}" for name in ("test_plain", "test_gone[a::b]", *cases, "TestGone::test_it")]
    labels += ["unit/test_marked.py::test_marked[1]", "unit/test_gone.py::test_x", "test_bare"]
    expected = place(tmp_path, made, targets, labels)
    assert len(expected) == len(made.expected) + 5 * len([name for name in made.expected if PLACE in name])
    junit = ("--junitxml=r.xml", "-o", "junit_family=xunit1")
    command = [sys.executable, "-m", "pytest", "-rfEsxXp", *junit, "unit", made.argument]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    report, seen = read(PLAN, {"r": (tmp_path / "r.xml").read_bytes()}, done.stdout, expected, PRINTS)
    assert set(report.tests.values()) == {Status.PASSED}
    assert len(report.tests) == 12
    assert {name: each.reported for name, each in seen.items()} == expected
    assert {name: each.printed for name, each in seen.items()} == expected


def test_file_that_is_not_run_has_none(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN)
    made = tripwires(random.Random(1))
    assert len(place(tmp_path, made, ["unit", "test_own.py::test_plain"], ["test_own.py::test_plain"])) == len(
        made.expected
    )


def run(command: str, folder: Path, tripwire: str) -> subprocess.CompletedProcess[str]:
    """Run an adapted command as a plan does."""
    text = command.replace("{report}", "r.xml").replace("{tripwires}", tripwire)
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "words", ["pytest -rA t/test_a.py", "pytest -q --no-summary t/test_a.py", "python -m pytest t"]
)
def test_adapted_command_reports_and_prints_both_tests_and_tripwires(tmp_path: Path, words: str) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "here.py").write_text("")
    (tmp_path / "t" / "test_a.py").write_text(
        "def test_a():\n    pass\n" + ("\n\nimport here\n" if "-m" in words else "")
    )
    # Started as a module, pytest finds modules of the current folder first, itself among them.
    for shadow in ("pytest.py", "junitxml.py"):
        (tmp_path / shadow).write_text("raise SystemExit(0)\n")
    made = tripwires(random.Random(1))
    (tmp_path / made.argument).write_text(made.files[made.argument].replace(PLACE, "0"))
    expected = {name.replace(PLACE, "0"): status for name, status in made.expected.items()}
    done = run(adapt_lines("pytest", words).command, tmp_path, made.argument)
    report, _ = read(PLAN, {"r": (tmp_path / "r.xml").read_bytes()}, done.stdout, expected, PRINTS)
    assert report.tests == {"t/test_a.py::test_a": Status.PASSED}
    assert (done.returncode, report.unprinted) == (1, ())


@pytest.mark.parametrize(
    ("words", "targets"),
    [
        ("pytest --no-header -rA tests/a.py tests/b.py::test_x", ("tests/a.py", "tests/b.py::test_x")),
        ("/opt/x/bin/python3.9 -m pytest -p no:x -o a=b --tb=no -W error t", ("t",)),
        ("poetry run pytest a.py", ("a.py",)),
        ("uv run python -m pytest a.py", ("a.py",)),
    ],
)
def test_files_of_a_command_are_its_targets(words: str, targets: tuple[str, ...]) -> None:
    found = adapt_lines("pytest", words)
    assert found.targets == targets
    assert found.command.endswith(" {tripwires}")


@pytest.mark.parametrize("words", ["pytest -rA", "pytest -k 'a or b' t.py", "pytest -m slow t.py"])
def test_command_that_would_leave_tripwires_out_has_a_report_alone(words: str) -> None:
    found = adapt_lines("pytest", words)
    assert "{report}" in found.command
    assert "{tripwires}" not in found.command


@pytest.mark.parametrize(
    "words",
    [
        *("bin/pytest a.py", "./pytest", "pytest --collect-only a.py", "pytest --junitxml=x a.py", "python -m pytests"),
        *("python a.py", "pytest -p no:terminal a.py", "poetry pytest", "", "poetry run", "python"),
    ],
)
def test_any_other_command_is_not_adapted(words: str) -> None:
    assert adapt(words.split()) is None


def test_what_tox_starts_gets_the_report_and_the_tripwires() -> None:
    found = adapt_lines("pytest", "tox --current-env -epy39 -v -- tests/test_a.py")
    assert found.command.startswith("exec tox --current-env -epy39 -v -- tests/test_a.py ")
    assert "--junitxml={report}" in found.command
    assert found.targets == ("tests/test_a.py",)
