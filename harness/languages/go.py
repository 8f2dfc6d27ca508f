"""Go, with its own test command."""

import re
from collections.abc import Iterable

from assay.harness.languages.base import (
    folders,
    no_mistake,
    no_places,
    no_stand_in,
    parts,
    unchanged,
)
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.languages.manifests import go_module_part
from assay.harness.templates import read_program

NAME = "go"
ALIASES = frozenset({"golang"})
SUFFIXES = frozenset({".go"})
DOCKERFILES = "go"
GRAMMAR = "tree_sitter_go:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"^func\s+(?:Test|Fuzz|Example)\w*\s*\("
TEST_NAME = r"^func\s+((?:Test|Fuzz|Example)\w*)\s*\("
SURE_NAME = r"((?:Test|Fuzz|Example)\w*)(?:/.*)?"
LOOKS_AROUND = (
    r"\b(?:runtime\.(?:Callers?\w*|Stack|FuncForPC)|debug\.(?:Stack|PrintStack)|os\.Args|flag\.Lookup"
    r"|testing)\b"
)
INTERPRETER = ""
PACKAGES = read_program(__file__, "scripts/go_packages.sh")
"""Shell functions that print the packages to test for some folders, one a line, and the module of a package.

Test data belong to the next package above with tests, or else to all packages."""
READABLE = read_program(__file__, "scripts/go_events.awk")
"""An awk program from the events of ``go test -json`` to the text of ``go test -v``.

Results come from events alone, whatever tests print, and at most 4 MB of what they print is shown."""
EVENTS = f"tee -a {{report}} | awk '{READABLE}'"
"""A command that puts the events of its input into the report and prints them readably."""
TEST_COMMAND = read_program(__file__, "scripts/go.sh", PACKAGES=PACKAGES, EVENTS=EVENTS)
"""Each package is tested from its own module. Cached results are not used, nor settings in the home folder, where the
tests of one package could change them for the next. Only the harness limits the time."""
DEFAULT_REPORT = "go_json"
DEFAULT_LOG = "go_text"
DEFAULT_ID = "node"
DEFAULT_RUNNER = "go"
FINISHED = frozenset({0, 1})
PROJECT_FILES: tuple[str, ...] = ("go.mod",)
VERSION_KEYS: tuple[str, ...] = ("go-version", "go")
LEAST_VERSION = ("go.mod", r"(?m)^go\s+(\d+\.\d+)")
MANIFESTS: tuple[str, ...] = ("go.mod", "go.sum", "go.work", "go.work.sum")
MISSING_PACKAGE = r"no required module provides package|module lookup disabled by GOPROXY=off|missing go\.sum entry"
STEERING_NAMES: frozenset[str] = frozenset({*MANIFESTS, "vendor"})
BUILD_PRODUCTS: tuple[str, ...] = ("*.a", "*.o", "*.syso")
"""A ``.syso`` file is linked into the package of its folder."""

TEST_FOLDERS = re.compile(r"e2e|tests?|testing|testdata|[a-z]*test(util|helper|support|case|mock|storage)s?|[a-z]+test")
"""Folders of test code and data, and of helper packages that contain assertions, such as ``httptest``."""
NO_TESTS = frozenset({"latest", "attest", "contest", "fastest", "shortest"})  # words that match by chance
SOURCE_NAMES = ""


def is_test_file(path: str) -> bool:
    """Return whether a file belongs to the tests: by Go's own naming, or by a folder of helpers and data."""
    return path.endswith("_test.go") or any(map(TEST_FOLDERS.fullmatch, {*folders(path)} - NO_TESTS))


def runner_config(path: str) -> bool:
    """Return whether a file decides which code the tests are built from.

    A module file can replace a package of assertions; a workspace or a vendor folder replaces the module cache. A fix
    cannot need another module: the tests have no network to fetch it.
    """
    return not STEERING_NAMES.isdisjoint(parts(path))


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of the test files and of the tests' data, ``./dir``; nothing in ``testdata`` is a package."""
    return tuple(dict.fromkeys(package for package in map(_package, paths) if package))


def _package(path: str) -> str:
    above, data, _ = f"/{path}".partition("/testdata/")
    helper = path.endswith(".go") and not path.endswith("_test.go")
    if not data and (helper or not is_test_file(path)):
        return ""
    folder = above if data else above.rpartition("/")[0]
    return f".{folder}"


places = no_places


def steering_part(path: str, text: str) -> str:
    """Return the directives that replace or exclude modules; nothing of the checksums."""
    if path.endswith(("go.sum", "go.work.sum")):
        return ""
    return go_module_part(text) if path.endswith("go.mod") else text


stands_in = no_stand_in
mistake = no_mistake
normalise = unchanged
