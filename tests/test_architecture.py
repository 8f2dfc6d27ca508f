"""The rules of the design that a machine can check, over the syntax trees of the source."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("harness", "instances", "agents")
SDKS = {"docker", "datasets", "pyarrow", "git", "ray", "httpx", "unidiff", "rich", "requests", "urllib3", "tree_sitter"}
FRONT_DOORS = [*(ROOT / "src/assay").glob("*.py"), *(ROOT / "src/assay/cli").rglob("*.py")]
SOURCES = sorted([*FRONT_DOORS, *(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))])
ABOVE = {
    "harness": ("assay.instances", "assay.agents", "assay.cli"),
    "instances": ("assay.agents", "assay.cli"),
    "agents": ("assay.cli",),
}
"""What a floor may not import: every floor above it."""


def imports(path: Path, *, top_level: bool) -> Iterator[str]:
    """Yield the modules a file imports: all, or only those imported when the file itself is."""
    tree = ast.parse(path.read_text())
    for node in _executed_at_import(tree) if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _executed_at_import(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _executed_at_import(child)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rules_for_one_file(path: Path) -> None:
    everything = set(imports(path, top_level=False))
    assert not {name.partition(".")[0] for name in everything} & set(ROOMS), "import rooms as assay.<room>"
    assert not {name.partition(".")[0] for name in imports(path, top_level=True)} & SDKS, "import SDKs where used"
    relative = path.relative_to(ROOT)
    assert not [name for name in everything if name.startswith(ABOVE.get(relative.parts[0], ("-",)))]
    if "domain" in relative.parts:
        assert not [name for name in everything if name.startswith("assay") and "harness.domain" not in name]
    assert len(path.read_text().splitlines()) <= 400


def test_only_the_command_line_prints() -> None:
    for path in SOURCES:
        if "cli" not in path.parts:
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            assert not [call for call in calls if getattr(call.func, "id", "") == "print"], path


def test_importing_the_package_is_cheap() -> None:
    program = (
        "import sys; import assay, assay.harness.runs.runner, assay.cli.main;"
        f"print([name for name in sys.modules if name in {sorted(SDKS)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
