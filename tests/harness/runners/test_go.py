import random
import re
from pathlib import Path

import pytest

from assay.harness.domain import Status
from assay.harness.runners import adapt
from assay.harness.runners.base import PLACE
from assay.harness.runners.go import tripwires
from placed_tripwires import adapt_lines, put

INNER, OUTER = "package calc\n\nfunc TestAdd(t *testing.T) {}\n", "package calc_test\n\nfunc TestMul(t *testing.T) {}\n"
ALL = 12


def clauses(tree: Path, folder: str) -> list[str]:
    """Return the package clauses of the tripwires in a folder, first file first."""
    made = [path for path in sorted((tree / folder).glob("*_test.go")) if path.name[:3] in {"aa_", "zz_"}]
    return [next(line for line in path.read_text().splitlines() if line.startswith("package ")) for path in made]


def test_tripwires_fail_in_nine_ways_and_pass_in_three() -> None:
    statuses = list(tripwires(random.Random(1)).expected.values())
    assert statuses.count(Status.PASSED) == 3
    assert statuses.count(Status.FAILED) == ALL - 3


def test_every_target_package_gets_an_inner_and_an_outer_file(tmp_path: Path) -> None:
    files = {"go.mod": "", "calc/a_test.go": INNER, "other/b_test.go": OUTER, "third/c_test.go": INNER}
    placed = put("go", tmp_path, files, ["./calc", "./other"])
    assert len(placed.places) == 2
    assert clauses(placed.tree, "calc") == clauses(placed.tree, "other") == ["package calc", "package calc_test"]
    assert clauses(placed.tree, "third") == []


def test_package_of_an_excluded_file_is_not_taken(tmp_path: Path) -> None:
    ignored = "//go:build ignore\n\npackage main\n"
    placed = put("go", tmp_path, {"go.mod": "", "a_test.go": ignored, "b_test.go": INNER}, ["."])
    assert clauses(placed.tree, ".") == ["package calc", "package calc_test"]


def test_package_without_expected_tests_gets_none(tmp_path: Path) -> None:
    files = {"go.mod": "", "calc/a_test.go": INNER, "other/b_test.go": OUTER}
    placed = put("go", tmp_path, files, ["./calc", "./other"], expected=["TestMul"])
    assert len(placed.places) == 1
    assert clauses(placed.tree, "calc") == []
    assert clauses(placed.tree, "other")


def test_all_packages_are_those_of_the_root_module(tmp_path: Path) -> None:
    files = {"go.mod": "", "a_test.go": INNER, "inner/b_test.go": INNER, "tools/go.mod": "", "tools/c_test.go": INNER}
    hidden = {f"{folder}/x_test.go": INNER for folder in ("testdata", "vendor/x", "_old", ".github")}
    placed = put("go", tmp_path, files | hidden)
    assert len(placed.places) == 2
    assert clauses(placed.tree, ".")
    assert clauses(placed.tree, "inner")


def test_test_data_stand_for_the_package_above(tmp_path: Path) -> None:
    placed = put("go", tmp_path, {"go.mod": "", "core/a_test.go": INNER, "core/data/x.txt": ""}, ["./core/data"])
    assert len(placed.places) == 1
    assert clauses(placed.tree, "core")


def test_pattern_stands_for_the_packages_below(tmp_path: Path) -> None:
    files = {"go.mod": "", "core/a_test.go": INNER, "core/in/b_test.go": INNER, "other/c_test.go": INNER}
    placed = put("go", tmp_path, files, ["./core/..."])
    assert len(placed.places) == 2
    assert clauses(placed.tree, "other") == []


@pytest.mark.parametrize(
    ("target", "folders"),
    [
        ("acme.org/calc/core", ["core"]),
        ("acme.org/calc/...", [".", "core"]),
        ("acme.org/calc", ["."]),
        ("acme.org/x", []),
    ],
)
def test_package_with_its_whole_name_is_one_of_the_module(tmp_path: Path, target: str, folders: list[str]) -> None:
    files = {"go.mod": "module acme.org/calc\n", "a_test.go": INNER, "core/b_test.go": INNER}
    placed = put("go", tmp_path, files, [target])
    assert [folder for folder in (".", "core") if clauses(placed.tree, folder)] == folders


def test_command_of_a_script_writes_events_and_runs_tripwires() -> None:
    found = adapt_lines("go", "/usr/local/go/bin/go test -v -failfast -count=1 ./core/... ./x")
    assert found.targets == ("./core/...", "./x")
    assert " test -json -vet=off -count=1 -run '.|{tripwires}' -count=1 ./core/... ./x | tee -a {report} | awk " in (
        found.command
    )


@pytest.mark.parametrize("words", ["go test -run ^TestAdd$ ./x", "go test ./x --run=^TestAdd$"])
def test_command_that_selects_tests_selects_tripwires_too(words: str) -> None:
    assert "-run '^TestAdd$|{tripwires}' ./x |" in adapt_lines("go", words).command
    made = tripwires(random.Random(1))
    selected = re.compile(made.argument)
    assert all(selected.search(name.replace(PLACE, "12")) for name in made.expected)


@pytest.mark.parametrize("words", ["go test -run TestAdd/one ./x", "go test --skip=TestAdd ."])
def test_command_that_leaves_tests_out_runs_no_tripwires(words: str) -> None:
    assert "{tripwires}" not in adapt_lines("go", words).command


@pytest.mark.parametrize("words", ["go vet ./...", "go", "go test -exec=echo .", "gotest test .", "go test . -args -x"])
def test_any_other_command_is_not_adapted(words: str) -> None:
    assert adapt(words.split()) is None
