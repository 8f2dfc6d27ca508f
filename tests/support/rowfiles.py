"""Rows written to files as users have them."""

import csv
import json
from pathlib import Path

import pytest

from assay.harness.domain import Instance
from assay.instances.dataset.load import load

ROW = {
    "repo": "Owner/Name",
    "instance_id": "owner__name-1",
    "base_commit": "a" * 40,
    "patch": "gold",
    "test_patch": "tests",
    "problem_statement": "It breaks.",
    "hints_text": "",
    "created_at": "2020-01-02T03:04:05Z",
    "version": "1.2",
    "FAIL_TO_PASS": '["t.py::a"]',
    "PASS_TO_PASS": '["t.py::b", "t.py::c"]',
}


def row(number: int, **more: object) -> dict[str, object]:
    return ROW | {"instance_id": f"owner__name-{number}"} | more


def lines(folder: Path, *rows: object, name: str = "rows.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return str(path)


def parquet(path: Path, rows: list[dict[str, object]]) -> str:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def table(folder: Path, *rows: dict[str, object]) -> str:
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def only(dataset: str) -> Instance:
    (instance,) = load(dataset).instances
    return instance


def task(folder: Path, name: str, **files: str) -> None:
    at = folder / "tasks" / name
    at.mkdir(parents=True)
    for file, content in files.items():
        (at / file.replace("__", ".")).write_text(content)
