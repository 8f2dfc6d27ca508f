"""A folder with everything that a documented command names, and stand-ins for what no test machine has.

The hub and the bundled data set are files of rows, the container engine acts instances out. Everything else is real.
"""

import csv
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pytest

import annotated
import front_door
import histories
from assay.cli.commands import demo
from assay.harness import engines
from assay.harness.domain import Instance
from assay.instances.dataset import rows as tables
from assay.instances.dataset.load import load
from deep_swe_tasks import make_deep_swe_task
from prediction_sources import archive, sample
from samples import SAMPLES
from toy import GOLD, TESTS

IDS = (
    *("pallets__flask-5063", "sympy__sympy-18057", "acme__calc-1", "acme__calc-2", "acme__calc-3"),
    *(*demo.IDS, "pallets__jinja-3.1.3"),
)
"""Instances of every data set here."""
FAKE = "assay.harness.engines.fake:open_engine"
OTHER = GOLD.replace("+    return a + b", "+    return b + a")
"""Passes no test: the engine acts out that only the gold patch does."""
PREPARED = """
evaluate lite -p predictions.jsonl --run-id mine
evaluate lite -p theirs.jsonl --run-id yours
evaluate rows.jsonl -p predictions.jsonl --run-id mine.1
evaluate rows.jsonl -p predictions.jsonl --run-id mine.2
evaluate rows.jsonl -p predictions.jsonl --run-id mine.3
evaluate rows.jsonl -p theirs.jsonl --run-id yours.1
evaluate rows.jsonl -p theirs.jsonl --run-id yours.2
evaluate lite -p predictions.jsonl --run-id lite.my_model --controls
evaluate multi.jsonl -p multi-predictions.jsonl --run-id multi.my_model
evaluate rows.jsonl --gold
evaluate releases --gold
evaluate rows.jsonl --null --run-id null
sb-cli submit swe-bench_lite test --predictions_path preds.json --run_id first
evaluate rows.jsonl -p predictions.jsonl --run-id nightly --shard 1/2
evaluate rows.jsonl -p predictions.jsonl --run-id nightly --shard 2/2
solve rows.jsonl --agent null --evaluate --run-id solved
solve lite --agent null -n 4 --run-id lite.solve.bash_loop
dataset validate rows.jsonl -k 1
dataset convert rows.jsonl --to native -o native.jsonl
dataset convert rows.jsonl --to swebench -o corrected.jsonl
report export mine --format harbor -o jobs
images lock rows.jsonl
report commit -- evaluate lite -p predictions.jsonl --run-id announced
report bundle releases.gold -o gold.bundle --new-key home/.ssh/id_ed25519
"""
"""Commands that make what the documented ones read."""


def row(name: str) -> dict[str, Any]:
    """Return a classic row of a small project."""
    return {
        "instance_id": name,
        "repo": name.rpartition("-")[0].replace("__", "/"),
        "base_commit": "0" * 40,
        "patch": GOLD,
        "test_patch": TESTS,
        "problem_statement": "add subtracts: expected 3, got -1. Steps: call add(1, 2) and look at what it returns.",
        "hints_text": "",
        "created_at": "2023-01-02T03:04:05+00:00",
        "version": "1.0",
        "FAIL_TO_PASS": ["tests/test_calc.py::test_add"],
        "PASS_TO_PASS": ["tests/test_calc.py::test_same"],
    }


def as_row(instance: Instance) -> dict[str, Any]:
    """Return an instance as a classic row."""
    return {
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base_commit,
        "patch": instance.gold_patch,
        "test_patch": instance.test_patch,
        "problem_statement": instance.problem_statement,
        "hints_text": instance.hints,
        "created_at": instance.created_at.isoformat(),
        "version": "1.0",
        "FAIL_TO_PASS": json.dumps(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
    }


def predictions(model: str, patches: dict[str, str]) -> list[dict[str, Any]]:
    """Return rows of predictions, with published verdicts beside them."""
    return [
        {"instance_id": name, "model_name_or_path": model, "model_patch": patch, "published_resolved": patch != OTHER}
        for name, patch in patches.items()
    ]


def make(folder: Path) -> None:
    """Fill a folder with rows, predictions, logs, recipes and runs."""
    for name in ("mirrors", "recipes", "logs", "home/mirrors", "home/.ssh"):
        (folder / name).mkdir(parents=True)
    (folder / "seconds.json").write_text('{"acme__calc-1": 12.5, "acme__calc-2": 3}')
    _write_data_sets(folder)
    _write_predictions(folder)
    _write_records(folder)
    with world(folder):
        for command in PREPARED.strip().splitlines():
            done = front_door.run(folder, *command.split())
            assert done.code == 0, (command, done.err)
    (folder / "jobs/mine").rename(folder / "jobs/2026-11-20__10-00-00")
    shutil.copy(folder / "home/.ssh/id_ed25519.pub", folder / "alice.pub")


def _write_data_sets(folder: Path) -> None:
    rows = [row(name) for name in IDS]
    for name in ("rows", "lite", "releases"):
        _write_rows(folder / f"{name}.jsonl", rows)
    shutil.copy(SAMPLES / "multi-swe-bench.jsonl", folder / "multi.jsonl")
    shutil.copy(SAMPLES / "feature-bench.jsonl", folder / "features.jsonl")
    live = json.loads((SAMPLES / "swebench-live.jsonl").read_text().splitlines()[0])
    _write_rows(folder / "live.jsonl", [{**live, "instance_id": name} for name in IDS])
    polybench = [json.loads(line) for line in (SAMPLES / "polybench.jsonl").read_text().splitlines()]
    polybench[0]["instance_id"] = "google__gson-1093"
    with (folder / "polybench.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(polybench[0]))
        writer.writeheader()
        writer.writerows(polybench)
    _write_native(folder / "measured")
    _write_harbor(folder / "tasks" / "hello")
    make_deep_swe_task(folder / "deep-swe/tasks")
    (folder / "commit0").mkdir()
    shutil.copy(SAMPLES / "commit0.jsonl", folder / "commit0/rows.jsonl")
    histories.calc(folder / "home/mirrors/acme__calc")


def _write_native(folder: Path) -> None:
    """Write a native folder with one task."""
    task = folder / "tasks" / "acme__calc-1"
    task.mkdir(parents=True)
    (folder / "assay.yaml").write_text("name: measured\n")
    (task / "task.yaml").write_text(f"repo: acme/calc\nbase_commit: '{'0' * 40}'\ncreated_at: 2023-01-02T03:04:05Z\n")
    (task / "problem.md").write_text("add subtracts\n")
    (task / "gold.patch").write_text(GOLD)
    (task / "test.patch").write_text(TESTS)
    labels = {"fail_to_pass": ["tests/test_calc.py::test_add"], "pass_to_pass": ["tests/test_calc.py::test_same"]}
    (task / "tests.json").write_text(json.dumps(labels))


def _write_harbor(folder: Path) -> None:
    """Write a task of Harbor, and a solution of it."""
    (folder / "tests").mkdir(parents=True)
    (folder / "task.toml").write_text('[environment]\ndocker_image = "acme/hello"\n')
    (folder / "instruction.md").write_text("Write hello.txt.\n")
    (folder / "tests/test.sh").write_text("cmp hello.txt /tests/hello.txt && echo 1 > /logs/verifier/reward.txt\n")
    _write_rows(folder.parent.parent / "solutions.jsonl", predictions("acme/model", {"hello": GOLD}))


def _write_predictions(folder: Path) -> None:
    mine = {name: OTHER if name == "acme__calc-2" else GOLD for name in IDS}
    theirs = {name: GOLD if "calc" in name else OTHER for name in IDS}
    rows = predictions("acme/model", mine)
    _write_rows(folder / "predictions.jsonl", rows)
    _write_rows(folder / "preds.jsonl", rows)
    (folder / "preds.json").write_text(json.dumps(rows))
    _write_rows(folder / "theirs.jsonl", predictions("other/model", theirs))
    _write_rows(folder / "faster.jsonl", [_faster(name) for name in IDS])
    _write_rows(folder / "tests.jsonl", predictions("acme/model", dict.fromkeys(IDS, TESTS)))
    multi = [instance.id for instance in load(str(folder / "multi.jsonl")).instances]
    _write_rows(folder / "multi-predictions.jsonl", predictions("acme/model", dict.fromkeys(multi, OTHER)))
    patch = {"org": "acme", "repo": "gears", "number": 4, "fix_patch": OTHER}
    _write_rows(folder / "patches.jsonl", [patch])
    files = {"patch_files": ["patches.jsonl"], "dataset_files": ["multi.jsonl"]}
    (folder / "config.json").write_text(json.dumps({"workdir": "work", "output_dir": "out", **files}))


def _faster(name: str) -> dict[str, object]:
    """Return a row of SWE-fficiency."""
    workload = "import timeit\ndef workload():\n    return 1\nprint(timeit.repeat(workload, number=1))\n"
    about = {"instance_id": name, "repo": "acme/calc", "base_commit": "a" * 40, "created_at": "2023-01-02T00:00:00Z"}
    patches = {"patch": GOLD, "test_patch": "", "problem_statement": "add is slow", "workload": workload}
    return {**about, **patches, "FAIL_TO_PASS": [], "PASS_TO_PASS": ["tests/test_calc.py::test_same"]}


def _write_records(folder: Path) -> None:
    """Write what other tools leave behind (logs of tests, a trajectory, a log of Inspect), and metadata."""
    for name in IDS:
        result = "FAILED" if name == "acme__calc-2" else "PASSED"
        (folder / "logs" / f"{name}.log").write_text(f"{result} tests/test_calc.py::test_add\n")
    archive(folder / "logs/swe-bench.eval", *(sample(name, epoch=n) for name in IDS for n in (1, 2)), compression=8)
    turn = {"action": "ls", "observation": "calc.py", "response": "I look.", "thought": "I look.", "state": "{}"}
    trajectory = {"environment": "main", "trajectory": [turn], "history": [], "info": {}}
    for name in ("run.traj", "marshmallow-1867.traj"):
        (folder / name).write_text(json.dumps(trajectory))
    about = {"name": "My agent", "split": "lite", "authors": "Me", "model": ["m"], "org": ["o"], "os_model": True}
    addresses = {"site": "https://example.org", "report": "https://example.org/report", "os_system": True}
    (folder / "fix.diff").write_text(GOLD)
    for name, by in {"anna": "anna", "ben": "ben", "people": ("anna", "ben")}.items():
        annotated.write(folder / f"{name}.jsonl", annotated.grade(1, by))
    (folder / "token.txt").write_text("made-up-and-long-enough\n")
    (folder / "me.yaml").write_text(json.dumps({**about, **addresses}))


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))


@contextmanager
def world(folder: Path) -> Iterator[None]:
    """Be in the folder, with the hub, the bundled data set, the engine and the home folder of ``make``."""
    with pytest.MonkeyPatch.context() as patched, chdir(folder):
        for name, value in {"HOME": str(folder / "home"), "ASSAY_CACHE": str(folder / "cache")}.items():
            patched.setenv(name, value)
        patched.setitem(engines.ENGINES.parts, "docker", FAKE)
        patched.setitem(tables.BUNDLED, "releases", folder / "releases.jsonl")
        patched.setattr(tables, "_hub_table", lambda _id, _split: tables._file_table(folder / "lite.jsonl", None))
        of_folder, of_file = tables._folder_table, tables._file_table
        patched.setattr(tables, "_folder_table", lambda at, split: (of_file if at.is_file() else of_folder)(at, split))
        yield


if __name__ == "__main__":
    make(Path(os.environ["FOLDER"]))
