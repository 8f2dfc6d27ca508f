"""Rust, with cargo's test command."""

import re
from itertools import pairwise

from assay.harness.languages.base import CALLED, CONDITION_BEFORE_BRACE, Lines, Syntax, folders, named, no_targets

NAME = "rust"
ALIASES: frozenset[str] = frozenset()
SUFFIXES = frozenset({".rs"})
DOCKERFILES = "rust"
GRAMMAR = "tree_sitter_rust:language"
SYNTAX = Syntax(
    functions=frozenset({"function_item", "function_signature_item", "macro_definition"}),
    classes=frozenset({"struct_item", "enum_item", "union_item", "trait_item", "impl_item"}),
    scopes=frozenset({"mod_item"}),
    decorators=frozenset({"attribute_item"}),
    blocks=frozenset({"block", "declaration_list", "field_declaration_list", "enum_variant_list", "match_block"}),
    sequences=frozenset({"source_file"}),
    mentions=f"""{CALLED} (macro_invocation macro: (_) @calls) (impl_item trait: (_) @inherits)
        (trait_item bounds: (trait_bounds (_) @inherits))""",
)
LINES = Lines(
    definitions=(r"\bfn (\w+)", r"\b(?:struct|enum|trait|type|const|static|mod|macro_rules!) (\w+)"),
    condition=CONDITION_BEFORE_BRACE,
    semicolons=True,
)
TEST_SIGN = r"#\[(?:\w+::)*test\b"
INTERPRETER = ""
TEST_COMMAND = """\
export ASSAY_REPORT={report}
: > {report}
cargo test --offline --no-fail-fast --tests
status=$?
[ "$status" -gt 0 ] && [ "$status" -ne 101 ] && exit "$status"
cargo test --offline --no-fail-fast --doc > /tmp/doc-tests 2> /tmp/doc-errors
documented=$?
cat /tmp/doc-errors /tmp/doc-tests
cat /tmp/doc-tests >> {report}
if ! grep -q '^error: no library targets found' /tmp/doc-errors; then
  [ "$documented" -le "$status" ] || status=$documented
fi
exit "$status"
"""
"""Which files make up which test program only cargo knows: all of them are run.

The image lets cargo start test programs by way of a script, which leaves in the report what the test harness wrote into
a file of its own: what tests print to their output is not in it. Tests in documentation are reported by rustdoc.
"""
DEFAULT_REPORT = "cargo_text"
DEFAULT_LOG = "cargo_text"
DEFAULT_ID = "node"
FINISHED = frozenset({0, 100, 101})
"""100 is nextest's word for failed tests."""
MANIFESTS: tuple[str, ...] = ("Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml", ".cargo/*")
BUILD_PRODUCTS: tuple[str, ...] = ("target/*", "*/target/debug/*", "*/target/release/*", "*.rlib", "*.rmeta", "*.o")
"""Deeper down, a folder ``target`` may as well hold sources."""

TEST_FOLDERS = re.compile(r"tests|testdata|fixtures|snapshots|(.+[-_])?test[-_]?(util|helper|support)s?")
TEST_NAMES = ("tests.rs", "test_*.rs", "testutil*.rs", "*_test.rs", "*_tests.rs", "*.snap")
"""Unit tests inside a source file cannot be told by its path."""
CONFIGURATION = (
    *("Cargo.toml", "Cargo.lock"),  # test targets, their harness, and patches of dependencies
    *("rust-toolchain", "rust-toolchain.toml"),
    *("nextest.toml", "insta.yaml", ".insta.yaml"),  # retries, and snapshots that pass or are accepted regardless
)
_LINE = re.compile(r" \(line \d+\)$")


def is_test_file(path: str) -> bool:
    """Tell whether a file belongs to the tests.

    A folder ``test`` counts at the top and below ``resources`` only: a program may well have a command of that name.
    """
    inside = folders(path)
    if named(path, TEST_NAMES) or any(map(TEST_FOLDERS.fullmatch, inside)):
        return True
    return inside[:1] == ("test",) or ("resources", "test") in pairwise(inside)


def runner_config(path: str) -> bool:
    """Tell whether a file steers cargo or a test library, or runs before the tests are built.

    A build script is known by its name, except among sources, where that name is a module's.
    """
    inside = folders(path)
    return named(path, CONFIGURATION) or ".cargo" in inside or (named(path, ["build.rs"]) and "src" not in inside)


test_targets = no_targets


def normalise(test_id: str) -> str:
    """Return the id of a documentation test without its line: any edit above it moves it."""
    return _LINE.sub("", test_id)
