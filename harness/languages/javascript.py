"""JavaScript, with jest; recipes serve other runners (vitest, mocha, karma, node's own, jasmine, tape)."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from assay.harness.languages.base import (
    anywhere,
    drop_patterns,
    folders,
    has_name,
    no_mistake,
    no_places,
    no_stand_in,
    parts,
)
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.languages.manifests import json_part
from assay.harness.templates import read_program

NAME = "javascript"
ALIASES = frozenset({"js", "node"})
SUFFIXES = frozenset({".js", ".jsx", ".mjs", ".cjs"})
DOCKERFILES = "javascript"
GRAMMAR = "tree_sitter_javascript:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"\b(?:it|test|describe)(?:\.\w+)*\s*\("
TEST_NAME = (
    r"\b(?:it|test|specify)(?:\.\w+)*(?:\([^()'\"`]*\))?\s*\(\s*"
    r"""(?:'((?:\\.|[^'\\\n])+)'|"((?:\\.|[^"\\\n])+)"|`([^`]+)`)"""
)
SURE_NAME = ""
LOOKS_AROUND = (
    r"\b(?:process\.argv|JEST_WORKER_ID|jest|mocha|vitest|jasmine|captureStackTrace|prepareStackTrace"
    r"|require\.main)\b|\.stack\b"
)
INTERPRETER = "node -"
TEST_COMMAND = read_program(__file__, "scripts/jest.sh")
"""If ``--ci`` were left out, jest would write a missing snapshot, and the test would pass."""
DEFAULT_REPORT = "jest_json"
DEFAULT_LOG = "jest_text"
DEFAULT_ID = "any_title"
DEFAULT_RUNNER = "jest"
FINISHED = frozenset({0, 1})
PROJECT_FILES: tuple[str, ...] = ("package.json",)
VERSION_KEYS: tuple[str, ...] = ("node-version", "node_js", "node", "nodejs", "node_version", "node-versions")
LEAST_VERSION = ("", "")
MANIFESTS: tuple[str, ...] = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", ".npmrc"),
    *("yarn.lock", ".yarnrc", ".yarnrc.yml", "pnpm-lock.yaml", "pnpm-workspace.yaml"),
)
MISSING_PACKAGE = r"Cannot find (?:module|package) '[^./]|Failed to resolve import \"[^./]"
BUILD_PRODUCTS: tuple[str, ...] = anywhere("node_modules", "node_modules/*", "*.node", "*.tsbuildinfo")

TEST_FOLDERS = frozenset({"tests", "__tests__", "__mocks__", "__snapshots__", "__fixtures__", "cypress", "e2e"})
TOP_FOLDERS = frozenset({"test", "spec", "specs"})
SOURCES = frozenset({"src", "lib"})
_CODE = r"\.([cm]?[jt]sx?|json|html|vue|svelte|coffee)"
TEST_NAMES = re.compile(rf"((test|tests|spec)|.+[.\-_](tests?|spec|test-d|cy)){_CODE}|.+\.snap")
EVERYWHERE = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),  # scripts, options
    *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.*", ".pnpmfile.cjs", "pnpm-workspace.yaml"),  # where modules come from
    *("lerna.json", "nx.json", "turbo.json", "[gG]runtfile.*", "[gG]ulpfile.*"),  # what "test" runs
    *(".mocharc*", ".jasminerc*", ".taprc*", ".nycrc*", ".c8rc*", ".babelrc*", ".swcrc"),
    *("tsconfig*.json", "jsconfig.json", "bunfig.toml", "deno.json*"),  # where imports lead
    *("setupTests.*", "setup-tests.*"),
)
STEERING_NAMES: frozenset[str] = drop_patterns(*EVERYWHERE) | {".yarn"}
LOCKS = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml")
"""Read where packages are installed, and by no runner."""
PACKAGE_FREE = frozenset(
    {
        *("version", "description", "keywords", "author", "contributors", "maintainers", "license", "homepage", "bugs"),
        *("repository", "funding", "files", "main", "module", "browser", "types", "typings", "exports", "bin", "man"),
        *("dependencies", "devDependencies", "peerDependencies", "peerDependenciesMeta", "optionalDependencies"),
        *("engines", "sideEffects", "unpkg", "jsdelivr", "private", "publishConfig"),
    }
)
"""Keys of a package that no runner obeys."""
OUTSIDE = re.compile(
    r".+\.conf(ig)?\.\w+"  # of runners, and of bundlers and compilers, which transform the code of tests
    r"|(jest|vitest|karma|mocha|jasmine|ava|wdio|cypress|playwright|testem|wtr|web-test-runner)[.\-_].+"
    r"|test[-_.]?(setup|env|shim|entry).*"
)
"""Names that count outside of source folders only."""
_SNAPSHOT = re.compile(r"__snapshots__/([^/]+)\.snap$")
_DURATION = re.compile(r"\s+\(?\d+(\.\d+)?\s?m?s\)?$")
SOURCE_NAMES = r"(test|tests|spec)\.[cm]?[jt]sx?"


def is_test_file(path: str) -> bool:
    # Directly inside a source folder, ``test`` and ``spec`` may be part of the product, such as a test framework.
    # Deeper down they count, and names that only tests have count everywhere.
    inside = folders(path)
    if TEST_FOLDERS & set(inside) or TEST_NAMES.fullmatch(PurePosixPath(path).name):
        return True
    first = next((at for at, name in enumerate(inside) if name in SOURCES), len(inside))
    return bool(TOP_FOLDERS & {*inside[:first], *inside[first + 2 :]})


def runner_config(path: str) -> bool:
    """Return whether a file configures the test runner, its module loader, or a compiler of the tests.

    Modules that a configuration names cannot be recognised by their path, but that configuration can.
    """
    if has_name(path, EVERYWHERE) or ".yarn" in parts(path):
        return True
    return not SOURCES & set(folders(path)) and OUTSIDE.fullmatch(PurePosixPath(path).name) is not None


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the test modules, by their names or folders; a snapshot stands for the module beside it."""
    modules = (_SNAPSHOT.sub(r"\1", path) for path in paths)
    return tuple(dict.fromkeys(path for path in modules if _is_runnable(path)))


def _is_runnable(path: str) -> bool:
    pure = PurePosixPath(path)
    if not re.fullmatch(r"\.[cm]?[jt]sx?", pure.suffix) or not is_test_file(path) or path.endswith(".d.ts"):
        return False
    if TEST_NAMES.fullmatch(pure.name):
        return True
    return not {"fixtures", "__fixtures__", "__mocks__", "helpers"} & set(folders(path)) and not runner_config(path)


places = no_places


def steering_part(path: str, text: str) -> str:
    """Return a package's scripts and the options of runners and compilers in it; nothing of a lock file."""
    if has_name(path, LOCKS):
        return ""
    return json_part(text, PACKAGE_FREE) if has_name(path, ["package.json"]) else text


stands_in = no_stand_in
mistake = no_mistake


def normalise(test_id: str) -> str:
    """Return the id without the duration that some reporters append to a title."""
    return _DURATION.sub("", test_id)
