import json
import random
from pathlib import Path

import pytest

from assay.harness.domain import Status
from assay.harness.runners import adapt_commands
from assay.harness.runners.cargo import tripwires
from placed_tripwires import Placed, adapt_lines, put
from tables import read_tables

TABLES = read_tables(__file__)


def target(kind: str, path: str, *, edition: str = "2021", test: bool = True) -> dict[str, object]:
    name = Path(path).stem
    made = {"kind": [kind], "crate_types": ["bin"], "name": name, "src_path": f"TREE/{path}", "edition": edition}
    return {**made, "doc": False, "doctest": False, "test": test}


def package(name: str, *targets: dict[str, object], manifest: str = "Cargo.toml") -> dict[str, object]:
    needs = [{"name": "other", "kind": None, "path": "TREE/other"}]
    made = {"name": name, "version": "0.1.0", "id": f"path+file://TREE#{name}@0.1.0", "dependencies": needs}
    return {**made, "targets": targets, "features": {}, "manifest_path": f"TREE/{manifest}", "edition": "2015"}


def run(
    root: Path,
    files: dict[str, str],
    *packages: dict[str, object],
    expected: tuple[str, ...] = (),
    chosen: tuple[str, ...] = (),
) -> Placed:
    """Put tripwires into a tree whose first package is the default one."""
    metadata = {"packages": packages, "workspace_default_members": [packages[0]["id"]], "version": 1}
    text = json.dumps(metadata, separators=(",", ":")).replace("TREE", str(root / "tree"))
    manifests = {"Cargo.toml": "", "other/Cargo.toml": ""}
    return put("cargo", root, manifests | files, chosen, expected=expected, tools={"cargo": text})


def test_tripwires_fail_in_eight_ways_and_pass_in_two() -> None:
    statuses = list(tripwires(random.Random(1)).expected.values())
    assert statuses.count(Status.PASSED) == 2
    assert statuses.count(Status.FAILED) == 8


def test_every_tested_target_of_the_default_packages_ends_with_them(tmp_path: Path) -> None:
    files = {"src/lib.rs": "", "src/main.rs": "", "tests/a.rs": "", "examples/x.rs": "", "other/src/lib.rs": ""}
    ours = [target("lib", "src/lib.rs"), target("bin", "src/main.rs"), target("test", "tests/a.rs")]
    calc = package("calc", *ours, target("example", "examples/x.rs", test=False))
    placed = run(
        tmp_path, files, calc, package("other", target("lib", "other/src/lib.rs"), manifest="other/Cargo.toml")
    )
    assert len(placed.places) == 3
    found = {path for path in files if len(placed.names_in(path)) == 10}
    assert found == {"src/lib.rs", "src/main.rs", "tests/a.rs"}


def test_program_with_a_harness_of_its_own_gets_none(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[[test]]\nname = "own"\nharness = false\n\n[[test]]\nname = "a"\npath = "tests/a.rs"\n',
        "tests/own.rs": "fn main() {}",
        "tests/a.rs": "",
    }
    placed = run(tmp_path, files, package("calc", target("test", "tests/own.rs"), target("test", "tests/a.rs")))
    assert len(placed.places) == 1
    assert not placed.names_in("tests/own.rs")
    assert placed.names_in("tests/a.rs")


@pytest.mark.parametrize(
    "files",
    [
        {"tests/it/main.rs": "mod sums;", "tests/b.rs": "fn mul() {}", "tests/it/sums.rs": "fn adds() {}"},
        {"tests/it/main.rs": "tests! { adds, 1, 2 }", "tests/b.rs": "fn sums() { calc::adds(); }"},
    ],
    ids=["in a module", "not where it is only used"],
)
def test_program_with_an_expected_test_has_tripwires(tmp_path: Path, files: dict[str, str]) -> None:
    calc = package("calc", target("test", "tests/it/main.rs"), target("test", "tests/b.rs"))
    placed = run(tmp_path, files, calc, expected=("adds",))
    assert len(placed.places) == 1
    assert placed.names_in("tests/it/main.rs")
    assert not placed.names_in("tests/b.rs")


def test_oldest_edition_has_other_paths(tmp_path: Path) -> None:
    placed = run(tmp_path, {"src/lib.rs": ""}, package("calc", target("lib", "src/lib.rs", edition="2015")))
    text = (placed.tree / "src/lib.rs").read_text()
    assert "[core::prelude::v1::test]" in text
    assert "::core::prelude" not in text.replace("[core::", "")


def test_program_that_may_not_be_built_is_marked(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[[test]]\nname = "needy"\nrequired-features = ["serde"]\n\n[[test]]\nname = "plain"\n',
        "tests/needy.rs": "",
        "tests/plain.rs": "",
        "tests/some.rs": '#![cfg(feature = "serde")]\n',
    }
    ours = [target("test", path) for path in files if path.endswith(".rs")]
    placed = run(tmp_path, files, package("calc", *ours))
    assert placed.places == ["1?", "2", "3?"]


@pytest.mark.parametrize(
    ("line", "programs", "documentation"),
    [
        ("cargo test", "--tests", ""),
        ("cargo test --offline -q", "--tests", ""),
        ("cargo test --package bat --test it syntax", "--package bat --test it -- syntax {tripwires}", None),
        ("cargo test -p nu --no-fail-fast split", "-p nu --tests -- split {tripwires}", " -p nu -- split"),
        ("cargo test --lib -- a::b --exact --nocapture", "--lib -- a::b {tripwires}", None),
        ("cargo test -- --test-threads=1", "--tests -- --test-threads=1", ""),
        ("cargo test x -- --skip y", "--tests -- x --skip y", " -- x"),
    ],
)
def test_command_of_a_script_lets_the_tripwires_through_its_filter(
    line: str, programs: str, documentation: str | None
) -> None:
    command = adapt_lines("cargo", line).command
    assert f"\ncargo test --offline --no-fail-fast {programs}\n" in command
    doc = f"$(cargo test --offline --no-fail-fast --doc{documentation} 2> "
    assert (documentation is not None) == (doc in command), command


@pytest.mark.parametrize(("line", "runs"), [("cargo test x -- --ignored", False), ("cargo test -- --nocapture", True)])
def test_a_selection_that_leaves_tripwires_out_has_none(line: str, runs: bool) -> None:
    assert adapt_lines("cargo", line).runs_tripwires is runs


@pytest.mark.parametrize(("chosen", "programs"), TABLES["only_programs_that_are_chosen_have_tripwires"])
@pytest.mark.parametrize(
    "form", ["path+file://TREE#{0}@0.1.0", "path+file://TREE/{0}#0.1.0", "{0} 0.1.0 (path+file://TREE)"]
)
def test_only_programs_that_are_chosen_have_tripwires(tmp_path: Path, chosen: str, programs: str, form: str) -> None:
    kinds = {
        "src/lib.rs": "lib",
        "src/main.rs": "bin",
        "tests/a.rs": "test",
        "tests/b.rs": "test",
        "examples/x.rs": "example",
    }
    ours = package("calc", *(target(kind, path) for path, kind in kinds.items()))
    other = package("other", target("lib", "other/src/lib.rs"), manifest="other/Cargo.toml")
    files = dict.fromkeys([*kinds, "other/src/lib.rs"], "")
    packages = [each | {"id": form.format(each["name"])} for each in (ours, other)]
    placed = run(tmp_path, files, *packages, chosen=tuple(chosen.split()))
    assert {path for path in files if placed.names_in(path)} == set(programs.split())
    assert not any(place.endswith("?") for place in placed.places)


@pytest.mark.parametrize(
    ("line", "targets"),
    [("cargo test --lib x", ("--lib",)), ("cargo test x", ()), ("cargo test --test it -p a", ("--test=it", "-p=a"))],
)
def test_command_of_a_script_gives_the_programs_that_it_chooses(line: str, targets: tuple[str, ...]) -> None:
    assert adapt_lines("cargo", line).targets == targets


@pytest.mark.parametrize("line", ["cargo bench", "cargo", "cargo nextest run", "cargo test --doc"])
def test_any_other_command_is_not_adapted(line: str) -> None:
    assert adapt_commands([line.split()]) is None
