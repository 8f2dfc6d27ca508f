"""Python, with pytest or unittest."""

import warnings
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from assay.harness.languages.base import folders, list_dotted_names, unchanged
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.languages.manifests import pytest_sections, pytest_tables, toml_part
from assay.harness.templates import read_program

NAME = "python"
ALIASES = frozenset({"py", "python3"})
SUFFIXES = frozenset({".py", ".pyi", ".pyx", ".pxd"})
DOCKERFILES = "python"
GRAMMAR = "tree_sitter_python:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"^\s*(?:async\s+)?def\s+test|^\s*class\s+\w*Test|\bTestCase\b"
TEST_NAME = r"^\s*(?:async\s+)?def\s+(test\w*)"
SURE_NAME = ""
LOOKS_AROUND = (
    r"\b(?:sys\._(?:getframe|current_frames)|inspect\.(?:stack|currentframe|trace|getouterframes)"
    r"|f_(?:back|globals|locals)|sys\.(?:argv|settrace|setprofile)|_?pytest|unittest|pluggy|PYTEST_\w+)\b"
)
INTERPRETER = "$(command -v python || command -v python3) -"
TEST_COMMAND = read_program(__file__, "scripts/pytest.sh")
"""``exec`` leaves no shell above the runner, and its path is absolute. ``-rA`` is not known before pytest 4.6: it would
print no passed test.

The tripwire file is in the root folder: given it beside ``.``, pytest 8 would run nothing else."""
DEFAULT_REPORT = "junit_xml"
DEFAULT_LOG = "pytest_text"
DEFAULT_ID = "node"
DEFAULT_RUNNER = "pytest"
FINISHED = frozenset({0, 1})
PROJECT_FILES: tuple[str, ...] = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
VERSION_KEYS: tuple[str, ...] = ("python-version", "python_version", "python", "PYTHON_VERSION")
LEAST_VERSION = ("", "")
MANIFESTS: tuple[str, ...] = (
    *("pyproject.toml", "setup.py", "setup.cfg"),
    *("*requirements*.txt", "requirements/*.txt", "constraints*.txt", "Pipfile", "Pipfile.lock", "poetry.lock"),
)
MISSING_PACKAGE = r"(?:ModuleNotFound|Import)Error: No module named|DistributionNotFound|PackageNotFoundError"
BUILD_PRODUCTS: tuple[str, ...] = (
    *("*.egg-info", "*.egg-info/*", "*.egg-link", "*.dist-info", "*.dist-info/*", "*.egg", "*.egg/*"),
    *("*.pyc", "*.pyo"),
)
"""Entry points in metadata load plug-ins into the runner; the last two can replace a source file."""

TEST_NAMES = ("test_*.py", "*_test.py", "tests.py", "conftest.py")
HELPERS = frozenset({"conftest.py", "__init__.py"})

PACKAGES = frozenset({"sitecustomize", "usercustomize"})  # the interpreter imports these two at every start
STEERING_NAMES: frozenset[str] = PACKAGES | frozenset(
    {
        "conftest.py",  # fixtures and hooks, down to rewriting outcomes
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "tox.ini",
        "setup.cfg",
        "pyproject.toml",
        *("sitecustomize.py", "usercustomize.py"),
        "pyvenv.cfg",  # leads the interpreter to other packages
    }
)
RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "unittest", "doctest", "xdist", "pytest_django"})
"""Modules and packages that in the root folder would be imported in place of a runner's own."""
SOURCE_NAMES = r"(?!conftest\.).*\.py"


def is_test_file(path: str) -> bool:
    # A folder ``tests`` counts at any depth. ``test``, ``testing`` and ``test.py`` count in the root folder only:
    # deeper down they are often shipped, such as a framework's test client.
    inside = folders(path)
    if "tests" in inside or inside[:1] in {("test",), ("testing",)} or path == "test.py":
        return True
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, pattern) for pattern in TEST_NAMES)


def runner_config(path: str) -> bool:
    """Return whether a file configures or hooks pytest or the interpreter: by a name in its path, at any depth.

    Plug-in modules that a configuration names cannot be recognised by their path, but that configuration can.
    """
    name = PurePosixPath(path).name
    if name in STEERING_NAMES or name.endswith((".pth", "._pth")):
        return True
    return not PACKAGES.isdisjoint(folders(path)) or bool(stands_in(path))


def steering_part(path: str, text: str) -> str:
    """Return pytest's own tables and sections; the whole of its other files, and of modules."""
    name = PurePosixPath(path).name
    if name == "pyproject.toml":
        return toml_part(text, pytest_tables)
    return pytest_sections(text) if name in {"setup.cfg", "tox.ini"} else text


def stands_in(path: str) -> str:
    """Return the name in the root folder, if it is that of a runner's module or package."""
    top = path.partition("/")[0].removesuffix(".py")
    return top if top in RUNNERS else ""


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the test modules; pytest also runs a module that it would not find by name."""
    return tuple(dict.fromkeys(path for path in paths if _is_runnable(path)))


def _is_runnable(path: str) -> bool:
    pure = PurePosixPath(path)
    return pure.suffix == ".py" and pure.name not in HELPERS and is_test_file(path)


def places(path: str, text: str) -> Iterable[str]:  # noqa: ARG001 - the Protocol names it
    """Return the module's name, from every folder that may be on the path: ``a.b`` of unittest's ``test_x (a.b.C)``."""
    return list_dotted_names(path)


def mistake(path: str, text: str) -> str:
    """Return the syntax error that the running Python finds when it compiles a ``.py`` file; nothing is executed."""
    if not path.endswith(".py"):
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<file>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):  # a NUL byte or very deep nesting: no mistake of this kind
        return ""
    return ""


normalise = unchanged
