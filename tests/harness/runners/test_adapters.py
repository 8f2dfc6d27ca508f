import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.harness.domain import Status
from assay.harness.reports import find
from assay.harness.reports.base import restore_separators
from assay.harness.runners import adapters
from tables import read_tables

TEXTS = read_tables(__file__)

CASES = TEXTS["cases"]

SYMPY_RUNNER = """
class PyTestReporter:
    _active_f = None

    def test_pass(self, char="."):
        print("ok")

    test_xfail = test_pass

    def test_xpass(self, v):
        print("X")

    def test_skip(self, v=None):
        print("s")

    def test_fail(self, exc_info):
        print("F")

    test_exception = test_fail
"""
SYMPY_PROGRAM = """
from sympy.testing.runtests import PyTestReporter

reporter = PyTestReporter()
reporter.test_exception(None)
for name, arguments in CALLS:
    def test(): pass
    test.__name__ = "test_of_" + name
    reporter._active_f = test
    getattr(reporter, name)(*arguments)
"""
CALLS = {
    "test_pass": [],
    "test_xfail": [],
    "test_xpass": ["test"],
    "test_skip": ["Slow"],
    "test_fail": [None],
    "test_exception": [None],
}


def run(folder: Path, *arguments: str) -> tuple[dict[str, Status], str]:
    """Run the adapter as it is delivered, without the package; return what it reports and what is printed."""
    (folder / "adapter").write_text(adapters.source("python"))
    (folder / "report").touch()
    command = [sys.executable, str(folder / "adapter"), str(folder / "report"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return find("results_jsonl").parse((folder / "report").read_text()), done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["-m", "unittest", "-v", "cases"], ["cases.py"]], ids=["module", "program"])
def test_every_kind_of_result_of_unittest_is_reported_as_it_is_printed(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "cases.py").write_text(CASES)
    report, output = run(tmp_path, *arguments)
    short = {re.sub(r"\(\w+\.(\w+).*", r"\1", restore_separators(name)): status for name, status in report.items()}
    assert short == {
        "test_docstring Cases": Status.PASSED,
        "First line:: of it.": Status.PASSED,
        "test_subtests Cases": Status.FAILED,
        "test_error_in_subtest Cases": Status.ERROR,
        "test_skip Cases": Status.SKIPPED,
        "test_starts_a_run_itself Cases": Status.PASSED,
        "test_known Cases": Status.XFAIL,
        "test_better Cases": Status.FAILED,
        "test_error Cases": Status.ERROR,
        "test_skipped_class Skipped": Status.SKIPPED,
        "setUpClass Broken": Status.ERROR,
        "setUpClass SkippedInFixture": Status.SKIPPED,
    }
    assert find("unittest_text").parse(output) == {restore_separators(name): status for name, status in report.items()}


def test_every_kind_of_result_of_sympy_is_reported(tmp_path: Path) -> None:
    package = tmp_path / "sympy" / "testing"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "runtests.py").write_text(SYMPY_RUNNER)
    (tmp_path / "program.py").write_text(f"CALLS = {list(CALLS.items())!r}\n{SYMPY_PROGRAM}")
    report, output = run(tmp_path, str(tmp_path / "program.py"))
    assert report == {
        "test_of_test_pass": Status.PASSED,
        "test_of_test_xfail": Status.XFAIL,
        "test_of_test_xpass": Status.PASSED,
        "test_of_test_skip": Status.SKIPPED,
        "test_of_test_fail": Status.FAILED,
        "test_of_test_exception": Status.ERROR,
    }
    assert output.split() == ["F", "ok", "ok", "X", "s", "F", "F"]


def test_adapter_is_python_3_5_and_needs_only_the_standard_library() -> None:
    tree = ast.parse(adapters.source("python"), feature_version=(3, 5))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
