"""Lines of each test, by the tracer in a workspace."""

import ast
import sys
from importlib import resources
from pathlib import Path

import pytest

from assay.agents.sampling.workspaces.folder import FolderWorkspace, folder_workspace
from assay.agents.solvers.ast_search.faults import trace_script, trace_tests
from assay.agents.solvers.ast_search.spectrum import TracedTest
from tables import read_tables

TEXTS = read_tables(__file__)

pytestmark = pytest.mark.slow

SHOP = """\
class Shop:
    opened = True

    def price(self, count):
        if count > 2:
            return count * 2
        return count * 3


def other():
    return 1
"""
TESTS = TEXTS["tests"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderWorkspace:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    files = {"shop.py": SHOP, "tests/test_shop.py": TESTS, "tests/__init__.py": ""}
    return folder_workspace(tmp_path / "tree", files)


def seen(runs: list[TracedTest]) -> dict[str, tuple[bool, list[int]]]:
    """Return the lines of the shop that each test covered, by the end of its name."""
    return {
        run.name.replace("::", ".").rpartition(".")[2]: (run.failed, sorted(run.lines.get("shop.py", ())))
        for run in runs
    }


EXPECTED = {
    "test_few": (False, [5, 7]),
    "test_many": (True, [5, 6]),
    "test_thread": (False, [5, 7]),
    "test_noise": (False, []),
}


def test_each_test_has_the_function_lines_that_it_executed(workspace: FolderWorkspace) -> None:
    runs = trace_tests(workspace, ["tests/test_shop.py"], 60)
    assert seen(runs) == EXPECTED
    assert {path for run in runs for path in run.lines} == {"shop.py", "tests/test_shop.py"}
    assert workspace.diff() == ""


def test_project_without_pytest_runs_unittest(workspace: FolderWorkspace) -> None:
    workspace.write("pytest.py", b"raise ImportError('not here')\n")
    assert seen(trace_tests(workspace, ["tests/test_shop.py"], 60)) == EXPECTED


@pytest.mark.parametrize(
    ("ending", "failed"),
    [
        ("", False),
        ("assert False", True),
        ("raise SystemExit(0)", False),
        ("raise SystemExit('no')", True),
        ("1 / 0", True),
    ],
)
def test_script_passes_or_fails_as_a_whole(workspace: FolderWorkspace, ending: str, failed: bool) -> None:
    workspace.write("check.py", f"import shop\nshop.Shop().price(5)\nprint('hello')\n{ending}\n".encode())
    (run,) = trace_script(workspace, "check.py", 60)
    assert (run.name, run.failed, run.lines["shop.py"]) == ("check.py", failed, frozenset({5, 6}))


SALE = """\
from shop import Shop

CHEAPEST = Shop().price(1)


def double():
    return 2 * CHEAPEST
"""
SLOW = """\
import threading

from shop import other

begun, ended = threading.Event(), threading.Event()
begun.set()
ended.wait(60)
other()
"""
IMPORTING = TEXTS["importing"]


def test_lines_run_during_an_import_are_left_out(workspace: FolderWorkspace) -> None:
    """The shop: ``price`` is lines 4 to 7, ``other`` is 10 and 11."""
    workspace.write("sale.py", SALE.encode())
    workspace.write("slow.py", SLOW.encode())
    workspace.write("broken.py", b"from shop import Shop\nShop().price(1)\n1 / 0\n")
    workspace.write("quiet.py", b"import sys\nsys.settrace(None)\n")
    workspace.write("tests/test_sale.py", IMPORTING.encode())
    runs = trace_tests(workspace, ["tests/test_sale.py"], 60)
    assert seen(runs) == {
        "test_what_runs_at_an_import": (False, []),
        "test_what_is_called_after_it": (False, [5, 6]),
        "test_after_an_import_that_fails": (False, [11]),
        "test_beside_an_import_in_a_thread": (False, [5, 7]),
        "test_an_import_that_puts_tracing_out": (False, []),
        "test_the_next_test": (False, [11]),
    }
    assert runs[1].lines["sale.py"] == {7}


def test_unreadable_tracer_output_is_empty(workspace: FolderWorkspace) -> None:
    workspace.write("hard.py", b"import os\nos._exit(0)\n")
    workspace.write("slow.py", b"import time\ntime.sleep(60)\n")
    assert trace_script(workspace, "hard.py", 60) == []
    assert trace_script(workspace, "slow.py", 1) == []
    assert trace_tests(workspace, [], 60) == []
    assert trace_tests(workspace, ["tests/test_none.py"], 60) == []


def test_tracer_runs_on_python_3_6_and_its_standard_library() -> None:
    source = resources.files("assay.agents.solvers.ast_search.programs").joinpath("trace_lines.py").read_text()
    tree = ast.parse(source, feature_version=(3, 6))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= sys.stdlib_module_names
