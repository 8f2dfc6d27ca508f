"""The rules of ARCHITECTURE.md that a machine can check, over the syntax trees of the source."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {
    "harness": (
        *("masks", "errors", "names", "plugins", "files", "fences", "program_output", "sequences", "closing"),
        *("templates", "redaction", "domain", "statistics", "patches", "edits", "reports", "languages", "runners"),
        *("rulings", "engines", "images", "evaluation", "benchmarks", "counters", "grading", "runs"),
        *("bundles", "metrics", "patchdiff", "causes", "exports"),
    ),
    "instances": ("toolchains", "trees", "audit", "leaks", "environments", "setup", "dataset", "verifiers", "collect"),
    "agents": (
        *("llm", "roles", "trajectory", "usage", "contract"),
        *("provenance", "external", "registry", "solvers", "sampling"),
    ),
    "front doors": ("choices", "jobs", "api", "rewards", "service", "viewer", "compat", "cli", "__main__", ""),
}
"""The floors and their rooms, from the lowest: each imports only what stands before it."""
UNLISTED = {"errors", "names", "plugins", "files", "fences", "sequences", "templates", "statistics", "registry"}
UNLISTED |= {"masks", "redaction", "program_output", "closing", "choices", "__main__", ""}
"""Small modules, which the tables of ARCHITECTURE.md do not list one by one."""
SDKS = {"docker", "datasets", "pyarrow", "git", "ray", "httpx", "unidiff", "rich", "requests", "urllib3", "tree_sitter"}
SDKS |= {"jinja2", "markupsafe", "pygments", "markdown_it", "cryptography"}
SERVING = {"starlette", "uvicorn", "prometheus_client", "websockets"}
"""Imported by the modules of the service alone, which its command imports when it is typed."""


def front_doors() -> Iterator[Path]:
    yield from (ROOT / "src/assay").glob("*.py")
    for room in ("api", "cli", "compat", "jobs", "rewards", "service", "viewer"):
        yield from (ROOT / "src/assay" / room).rglob("*.py")


@cache
def modules() -> dict[str, Path]:
    """Every module of the package, by its import name."""
    found = {}
    for path in chain(front_doors(), *((ROOT / floor).rglob("*.py") for floor in ("harness", "instances", "agents"))):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[1:] if parts[0] == "src" else ("assay", *parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(name: str, *, top_level: bool = False) -> Iterator[str]:
    """Yield what a module imports: all, or only what is imported when the module itself is."""
    path = modules()[name]
    nodes = _executed_at_import(tree_of(path)) if top_level else ast.walk(tree_of(path))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _targets(name, path, node)


def _targets(name: str, path: Path, node: ast.ImportFrom) -> Iterator[str]:
    base = node.module or ""
    if node.level:
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        base = ".".join([*package[: len(package) - node.level + 1], *base.split(".")]).strip(".")
    for alias in node.names:
        yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules() else base


def _executed_at_import(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _executed_at_import(child)


def room_of(module: str) -> tuple[int, int] | None:
    """Return the floor and the room of a module as numbers from the lowest; None for what every floor may import."""
    _, _, rest = module.partition(".")
    floor, _, below = rest.partition(".")
    if module == "assay.version" or rest in FLOORS:
        return None
    if floor not in FLOORS:
        floor, below = "front doors", rest
    return list(FLOORS).index(floor), FLOORS[floor].index(below.partition(".")[0])


def test_no_room_imports_one_above_it() -> None:
    upward = [
        f"{module} imports {target}"
        for module in modules()
        for target in imports(module)
        if target.partition(".")[0] == "assay"
        and (here := room_of(module)) is not None
        and (there := room_of(target)) is not None
        and there > here
    ]
    assert not upward


def test_no_modules_import_each_other_in_a_circle() -> None:
    arrows = {
        name: {each for each in imports(name, top_level=True) if each in modules()} - {name} for name in modules()
    }
    while leaves := {name for name, targets in arrows.items() if not targets & arrows.keys()}:
        arrows = {name: targets for name, targets in arrows.items() if name not in leaves}
    assert not arrows, "these modules, or modules they need, import each other"


def test_every_room_has_its_place() -> None:
    rooms = {
        floor: {name.split(".")[2] for name in modules() if name.startswith(f"assay.{floor}.")} for floor in FLOORS
    }
    for floor in ("harness", "instances", "agents"):
        assert rooms[floor] == set(FLOORS[floor])


def test_the_tables_of_the_page_have_the_rooms_in_their_order() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for floor, title in {**{name: name for name in FLOORS}, "front doors": "src/assay"}.items():
        _, _, table = text.partition(f"| `{title}/` | decides or holds |\n")
        cells = [line.split("|")[1] for line in table.split("\n\n")[0].splitlines()[1:]]
        named = [name.rstrip("/").removesuffix(".py") for cell in cells for name in re.findall(r"`([\w./]+)`", cell)]
        order = [room for room in named if room in FLOORS[floor]]
        assert order == [room for room in FLOORS[floor] if room in order]
        assert set(FLOORS[floor]) - set(order) <= UNLISTED


def test_the_nouns_import_nothing_of_assay() -> None:
    nouns = [name for name in modules() if name.startswith("assay.harness.domain.")]
    assert nouns
    assert not [
        (name, each) for name in nouns for each in imports(name) if each.startswith("assay") and "domain" not in each
    ]


def test_rooms_are_imported_by_their_full_name() -> None:
    """``import harness`` would be a second copy of every class."""
    assert not [(name, each) for name in modules() for each in imports(name) if each.partition(".")[0] in FLOORS]


def test_sdks_are_imported_where_they_are_used() -> None:
    assert not [
        (name, each)
        for name in modules()
        for each in imports(name, top_level=True)
        if each.partition(".")[0] in (SDKS if name.startswith("assay.service") else SDKS | SERVING)
    ]


def test_importing_the_package_is_cheap() -> None:
    program = (
        "import sys; import assay, assay.harness.runs.runner, assay.cli.main;"
        f"print([name for name in sys.modules if name in {sorted(SDKS | SERVING)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_file_is_longer_than_400_lines() -> None:
    files = [*modules().values(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
    lengths = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in files}
    assert not {path: length for path, length in lengths.items() if length > 400}


def test_only_the_command_line_prints() -> None:
    printing = [
        name
        for name, path in modules().items()
        if not name.startswith("assay.cli")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not printing


def test_a_public_class_name_is_defined_once() -> None:
    defined = defaultdict(list)
    for name, path in modules().items():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined[node.name].append(name)
    assert not {name: places for name, places in defined.items() if len(places) > 1}


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:harness|instances|agents|dockerfiles|docs|scripts|tests|src)/[\w./-]+)`", text)
    assert not [path for path in named if not (ROOT / path).exists()]
