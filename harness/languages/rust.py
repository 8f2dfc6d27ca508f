"""Rust, with cargo's test command."""

import re
from itertools import pairwise

from assay.harness.languages.base import (
    folders,
    has_name,
    no_mistake,
    no_places,
    no_stand_in,
    no_targets,
    parts,
)
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.languages.manifests import cargo_part, toml_part
from assay.harness.templates import read_program

NAME = "rust"
ALIASES: frozenset[str] = frozenset()
SUFFIXES = frozenset({".rs"})
DOCKERFILES = "rust"
GRAMMAR = "tree_sitter_rust:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"#\[(?:\w+::)*test\b"
TEST_NAME = r"\bfn\s+(\w+)"
SURE_NAME = ""
LOOKS_AROUND = (
    r"\b(?:env::args\w*|env::current_exe|[Bb]acktrace|panic::(?:set_hook|catch_unwind)|thread::current"
    r"|NEXTEST\w*)\b|cfg!?\(test\)"
)
INTERPRETER = ""
RUN_PROGRAMS = read_program(__file__, "scripts/cargo_programs.sh")
RUN_DOCUMENTATION = read_program(__file__, "scripts/cargo_documentation.sh")
EXIT = 'exit "$status"\n'
"""Three parts of a test command, with ``@CARGO@`` and the arguments of its two starts."""
TEST_COMMAND = (
    RUN_PROGRAMS.replace("@PROGRAMS@", "--tests") + RUN_DOCUMENTATION.replace("@DOCUMENTATION@", "") + EXIT
).replace("@CARGO@", "cargo")
"""Only cargo knows which files belong to which test program, so all programs run.

In the image, cargo starts test programs through a script that copies libtest's own log file into the report: the output
of tests is not in it. rustdoc reports the tests in documentation.
"""
DEFAULT_REPORT = "cargo_text"
DEFAULT_LOG = "cargo_text"
DEFAULT_ID = "node"
DEFAULT_RUNNER = "cargo"
FINISHED = frozenset({0, 100, 101})  # nextest exits with 100 after failed tests
PROJECT_FILES: tuple[str, ...] = ("Cargo.toml",)
VERSION_KEYS: tuple[str, ...] = ()
LEAST_VERSION = ("Cargo.toml", r"(?m)^rust-version\s*=\s*[\"'](\d+\.\d+)")
MANIFESTS: tuple[str, ...] = ("Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml", ".cargo/*")
MISSING_PACKAGE = r"no matching package named|failed to select a version for|but --offline was specified"
BUILD_PRODUCTS: tuple[str, ...] = (
    "target",
    "target/*",
    "*/target/debug",
    "*/target/debug/*",
    "*/target/release",
    "*/target/release/*",
    "*.rlib",
    "*.rmeta",
    "*.o",
)
"""Deeper down, a folder ``target`` may contain sources."""

TEST_FOLDERS = re.compile(r"tests|testdata|fixtures|snapshots|(.+[-_])?test[-_]?(util|helper|support)s?")
TEST_NAMES = ("tests.rs", "test_*.rs", "testutil*.rs", "*_test.rs", "*_tests.rs", "*.snap")
"""Unit tests inside a source file cannot be recognised by its path."""
CONFIGURATION = (
    *("Cargo.toml", "Cargo.lock"),  # test targets, their harness, and patches of dependencies
    *("rust-toolchain", "rust-toolchain.toml"),
    *("nextest.toml", "insta.yaml", ".insta.yaml"),  # retries, and snapshots that pass or are accepted regardless
)
STEERING_NAMES: frozenset[str] = frozenset({*CONFIGURATION, ".cargo"})
_LINE = re.compile(r" \(line \d+\)$")
SOURCE_NAMES = r".*\.rs"


def is_test_file(path: str) -> bool:
    # A folder ``test`` counts in the root folder and below ``resources`` only: elsewhere it may be a command of the
    # program.
    inside = folders(path)
    if has_name(path, TEST_NAMES) or any(map(TEST_FOLDERS.fullmatch, inside)):
        return True
    return inside[:1] == ("test",) or ("resources", "test") in pairwise(inside)


def runner_config(path: str) -> bool:
    """Return whether a file configures cargo or a test library, or runs before the tests are built.

    ``build.rs`` is a build script, except below ``src``, where it is a module.
    """
    names = parts(path)
    return not STEERING_NAMES.isdisjoint(names) or (names[-1] == "build.rs" and "src" not in names)


test_targets = no_targets


places = no_places


def steering_part(path: str, text: str) -> str:
    """Return the part of a manifest that chooses tests, replaces packages or sets compilation."""
    if has_name(path, ["Cargo.lock"]):
        return ""
    return toml_part(text, cargo_part) if has_name(path, ["Cargo.toml"]) else text


stands_in = no_stand_in
mistake = no_mistake


def normalise(test_id: str) -> str:
    """Return the id of a documentation test without its line number, which any edit above it changes."""
    return _LINE.sub("", test_id)
