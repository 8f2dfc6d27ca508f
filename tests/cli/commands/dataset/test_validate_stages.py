"""Instances measured in Multi-SWE-bench's three stages, as rows, and what its rule says of them; goldens by hand."""

import json
from collections.abc import Callable, Collection, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from assay.harness.engines.fake import FakeBox
from toy import FIXED, GOLD, KEPT, TESTS

OLD = "tests/test_calc.py::test_old"
RUNS = {
    "run": {KEPT: True, OLD: False},
    "test": {KEPT: True, OLD: False, FIXED: False},
    "fix": {KEPT: True, OLD: False, FIXED: True},
}


@pytest.fixture
def stage_engine(in_folder: Path) -> Iterator[Callable[[dict[str, Any]], str]]:
    """Write an engine whose tests do what a table says of a stage; return its name."""

    names = (f"stager{number}" for number in count())

    def write(runs: dict[str, Any]) -> str:
        name = next(names)
        (in_folder / f"{name}.py").write_text(
            "from assay.harness.engines.fake import FakeBox, FakeEngine\n"
            f"RUNS = {runs!r}\n"
            "def results(box):\n"
            "    patch, tests = (box._files.get(name, b'').strip() for name in ('model.patch', 'tests.patch'))\n"
            "    return RUNS['fix' if patch else 'test' if tests else 'run']\n"
            "FakeBox._results = results\n"
            "ENGINE = FakeEngine({})\n"
            "def make(): return ENGINE\n"
        )
        return f"{name}:make"

    original = FakeBox._results
    yield write
    FakeBox._results = original  # type: ignore[method-assign]


@pytest.fixture
def multi(assay: Callable, rows: Path, stage_engine: Callable) -> dict[str, Any]:
    """Measure one instance twice, and return it as a row of the benchmark."""
    engine = stage_engine(RUNS)
    one = ("rows.jsonl", "-i", "acme__calc-1", "--write", "staged", "--stages", "-k", "2", "--engine", engine)
    done = assay("dataset", "validate", *one)
    assert done.code == 0, done.err
    said = [line for line in done.err.splitlines() if line.startswith("base commit")]
    assert said == ["base commit, round 1 of 2", "base commit, round 2 of 2"]
    converted = assay("dataset", "convert", "staged", "--to", "multi-swe-bench", "--lossy", "-o", "multi.jsonl")
    assert converted.code == 0, converted.err
    (row,) = map(json.loads, Path("multi.jsonl").read_text().splitlines())
    return dict(row)


def list_results(passed: list[str], failed: list[str]) -> dict[str, Any]:
    passed, failed = sorted(passed), sorted(failed)
    counts = {"passed_count": len(passed), "failed_count": len(failed), "skipped_count": 0}
    return {**counts, "passed_tests": passed, "failed_tests": failed, "skipped_tests": []}


CHANGED = {FIXED: {"run": "NONE", "test": "FAIL", "fix": "PASS"}}
SETS = {
    "fixed_tests": CHANGED,
    "f2p_tests": CHANGED,
    "s2p_tests": {},
    "n2p_tests": {},
    "p2p_tests": {KEPT: {"run": "PASS", "test": "PASS", "fix": "PASS"}},
}
BEFORE = {"run_result": list_results([KEPT], [OLD]), "test_patch_result": list_results([KEPT], [FIXED, OLD])}


def select(found: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return some of a row's columns, with each list of tests in order."""
    return {
        name: {key: sorted(part) if isinstance(part, list) else part for key, part in found[name].items()}
        for name in names
    }


def test_measured_stages_are_a_row_of_the_benchmark(multi: dict[str, Any]) -> None:
    golden = {**SETS, **BEFORE, "fix_patch_result": list_results([FIXED, KEPT], [OLD])}
    assert select(multi, golden) == golden
    assert (multi["org"], multi["repo"], multi["number"]) == ("acme", "calc", 1)
    assert (multi["fix_patch"], multi["test_patch"], multi["base"]["sha"]) == (GOLD, TESTS, "0" * 40)


@pytest.mark.parametrize(
    ("changes", "last"),
    [
        ({}, list_results([FIXED, KEPT], [OLD])),
        ({KEPT: False}, list_results([FIXED], [OLD, KEPT])),
        ({FIXED: False}, list_results([KEPT], [FIXED, OLD])),
    ],
    ids=["right", "breaks a test", "fixes nothing"],
)
@pytest.mark.usefixtures("multi")
def test_its_evaluation_is_the_benchmarks_report(
    assay: Callable, stage_engine: Callable, changes: dict[str, bool], last: dict[str, Any]
) -> None:
    valid = not changes
    engine = stage_engine({**RUNS, "fix": {**RUNS["fix"], **changes}})
    patch = {"org": "acme", "repo": "calc", "number": 1, "fix_patch": GOLD}
    Path("patches.jsonl").write_text(json.dumps(patch))
    config = {
        "workdir": "work",
        "patch_files": ["patches.jsonl"],
        "dataset_files": ["multi.jsonl"],
        "output_dir": "out",
    }
    Path("config.json").write_text(json.dumps(config))
    done = assay("multi-swe-bench", "run_evaluation", "--config", "config.json", ASSAY_ENGINE=engine)
    assert done.code == 0, done.err
    report = json.loads(Path("work/acme/calc/evals/pr-1/report.json").read_text())
    sets = SETS if valid else {name: {} for name in SETS}
    golden = {**sets, **BEFORE, "fix_patch_result": last}
    assert (report["valid"], select(report, golden)) == (valid, golden)
    final = json.loads(Path("out/final_report.json").read_text())
    assert final["resolved_ids" if valid else "unresolved_ids"] == ["acme/calc:pr-1"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"fix": {**RUNS["fix"], OLD: False}, "run": {**RUNS["run"], OLD: True}, "test": {KEPT: True, FIXED: False}},
         f"'{OLD}' passed before the gold patch and fails with it"),
        ({"run": {}}, "its base commit is "),
    ],
    ids=["the rule refuses gold", "nothing runs at the base commit"],
)  # fmt: skip
def test_stages_that_make_no_instance_are_not_written(
    assay: Callable, rows: Path, stage_engine: Callable, changes: dict[str, Any], problem: str
) -> None:
    engine = stage_engine({**RUNS, **changes})
    one = ("rows.jsonl", "-i", "acme__calc-1", "--write", "staged", "--stages", "-k", "1", "--engine", engine)
    done = assay("dataset", "validate", *one)
    assert (done.code, f"acme__calc-1: not written, {problem}" in done.out) == (4, True), done.out


def test_stages_need_a_new_folder(assay: Callable, rows: Path) -> None:
    assay("dataset", "validate", "rows.jsonl", "--stages").refuses("--stages writes instances; add --write DIR")
    done = assay("dataset", "validate", "mine", "--stages", "--write", "mine")
    done.refuses("--write mine: --stages changes the rule too, not labels alone; name a new folder")
