"""The gate: what fails twice fails it, what fails once is named."""

import runpy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.slow

GATE = Path(__file__).parents[2] / "scripts/run_gate.py"
FLAKY = """\
from pathlib import Path

import pytest

@pytest.mark.parametrize("number", range({number}))
def test_flaky(number):
    seen = Path(f"seen{{number}}")
    known = seen.exists()
    seen.touch()
    assert known
"""


def run_gate(folder: Path, test: str, check: str = "true", more: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "Makefile").write_text(
        f"check:\n\t{check}\nmachine:\ntest:\n\t@mkdir -p build\n"
        f"\t{sys.executable} -m pytest -q -n 1 --dist loadgroup {more} test_it.py; code=$$?;"
        " echo $$code > build/tested.txt; exit $$code\n"
    )
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p xdist\n")
    (folder / "test_it.py").write_text(test)
    return subprocess.run([sys.executable, GATE], cwd=folder, capture_output=True, text=True, check=False)


def test_tests_that_pass_leave_nothing_behind(tmp_path: Path) -> None:
    done = run_gate(tmp_path, "def test_a(): pass\n")
    assert (done.returncode, (tmp_path / "build/flaky.txt").exists()) == (0, False)


@pytest.mark.parametrize(("number", "code"), [(2, 0), (3, 1)])
def test_what_passes_alone_is_named_and_three_are_too_many(tmp_path: Path, number: int, code: int) -> None:
    done = run_gate(tmp_path, FLAKY.format(number=number))
    names = [f"test_it.py::test_flaky[{place}]" for place in range(number)]
    assert done.returncode == code
    assert (tmp_path / "build/flaky.txt").read_text().splitlines() == names
    assert done.stdout.splitlines()[-number:] == [f"  {name}" for name in names]


@pytest.mark.parametrize("mark", ["", "@pytest.mark.xdist_group('one')\n"])
def test_what_fails_twice_fails_the_gate(tmp_path: Path, mark: str) -> None:
    done = run_gate(tmp_path, f"{FLAKY.format(number=1)}\n{mark}def test_a(): assert False\n")
    assert (done.returncode, (tmp_path / "build/flaky.txt").exists()) == (1, False)


def test_tests_that_end_early_fail_the_gate_whatever_passes_later(tmp_path: Path) -> None:
    assert run_gate(tmp_path, FLAKY.format(number=2), more="--maxfail 1").returncode != 0


def test_tests_that_do_not_run_fail_the_gate(tmp_path: Path) -> None:
    assert run_gate(tmp_path, "import nothing_of_this_name\n").returncode != 0


def test_a_check_that_fails_ends_the_gate(tmp_path: Path) -> None:
    done = run_gate(tmp_path, "def test_a(): pass\n", check="false")
    assert done.returncode != 0
    assert "passed" not in done.stdout


@pytest.mark.parametrize(("freed", "code", "ran"), [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 1, 2)])
def test_tests_never_start_on_a_disk_that_is_nearly_full(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, freed: int, code: int, ran: int
) -> None:
    """The disk has room once as many caches were removed as ``freed`` says."""
    make_room, calls = runpy.run_path(str(GATE))["make_room"], []

    def run(command: Sequence[str], **_options: object) -> None:
        calls.append(command)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**11 if len(calls) >= freed else 10**9))
    with pytest.raises(SystemExit, match="1 GB are free") if code else nullcontext():
        make_room()
    assert len(calls) == ran
