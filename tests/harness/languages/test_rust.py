from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import rust


@pytest.mark.parametrize(
    "path",
    [
        "tests/cli.rs",
        "crates/core/tests/it/main.rs",
        "tests/examples/in.txt",
        "src/routing/tests/mod.rs",
        "src/tests.rs",
        "src/test_helpers.rs",
        "src/test_helpers/tracing.rs",
        "src/parser/parse_test.rs",
        "crates/searcher/src/testutil.rs",
        "crates/lint/resources/test/fixtures/a.py",
        "crates/lint/src/rules/snapshots/rule.snap",
        "crates/x-test-support/src/lib.rs",
        "test/data.bin",
    ],
)
def test_test_files(path: str) -> None:
    assert rust.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/lib.rs",
        "src/main.rs",
        "src/uu/test/src/test.rs",
        "src/commands/test.rs",
        "x-test/src/io.rs",
        "benches/speed.rs",
        "examples/testing/src/main.rs",
        "src/latest.rs",
    ],
)
def test_other_files(path: str) -> None:
    assert not rust.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "Cargo.toml",
        "crates/core/Cargo.toml",
        "Cargo.lock",
        ".cargo/config.toml",
        ".cargo/config",
        "crates/core/.cargo/config.toml",
        "rust-toolchain",
        "rust-toolchain.toml",
        "build.rs",
        "crates/core/build.rs",
        ".config/nextest.toml",
        ".config/insta.yaml",
    ],
)
def test_runner_config(path: str) -> None:
    assert rust.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/lib.rs",
        "src/build.rs",
        "src/commands/build.rs",
        "cargo.rs",
        "clippy.toml",
        "crates/cargo/src/lib.rs",
    ],
)
def test_no_runner_config(path: str) -> None:
    assert not rust.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "target/debug/calc",
        "crates/core/target/debug/deps/libx.rlib",
        "target/x",
    ],
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in rust.BUILD_PRODUCTS)


@pytest.mark.parametrize(
    "path",
    [
        "src/target/mod.rs",
        "crates/target/src/lib.rs",
        "src/targets.rs",
    ],
)
def test_no_build_products(path: str) -> None:
    assert not any(fnmatchcase(path, pattern) for pattern in rust.BUILD_PRODUCTS)


def test_test_targets_are_empty() -> None:
    assert rust.test_targets(["tests/cli.rs"]) == ()


def test_line_of_a_documentation_test_is_not_part_of_its_name() -> None:
    assert rust.normalise("src/lib.rs - sum::add (line 12)") == "src/lib.rs - sum::add"
    assert rust.normalise("tests::reads_line_12") == "tests::reads_line_12"
