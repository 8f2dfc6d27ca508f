"""The programs of PatchDiff, run on small projects as in a container: a process of their own, a job, JSON lines."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.harness.patchdiff.probing import probe_archive

PROBE = Path(__file__).parents[2] / "harness" / "patchdiff" / "probe"
Line = dict[str, Any]
SHOP = """\
def price(count, each):
    if count < 0:
        raise ValueError("count")
    total = count * each
    if count >= 10:
        total = total - total // 10
    return total


def label(name, width):
    return name[:width].ljust(width)
"""
"""Code of which tests have wrong versions."""

BASKET = """\
class Basket:
    def __init__(self, items):
        self.items = items

    def total(self, rate=1):
        return rate * _sum(self.items)

    @staticmethod
    def of(text):
        return Basket([int(part) for part in text.split(",")])


def _sum(items):
    total = 0
    for item in items:
        total += item
    return total


def mean(items):
    return _sum(items) / len(items)
"""
BASKET_TESTS = """\
from shop import Basket, mean


def test_total():
    assert Basket.of("1,2,3").total() == 6
    assert Basket([4]).total(rate=2) == 8


def test_mean():
    assert mean([2, 4]) == 3


def test_else():
    assert Basket([]).items == []
"""


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write the files of a project."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def run_program(
    root: Path, program: str, job: Mapping[str, Any], hash_seed: int = 0, seconds: float = 0.0
) -> list[Line]:
    """Run a program in a project, to its own end if it has no limit of seconds; return the lines that it wrote."""
    (root / "job.json").write_text(json.dumps(job))
    (root / "probe.pyz").write_bytes(probe_archive())
    done = subprocess.run(
        [sys.executable, "probe.pyz", program, "job.json", "out.jsonl"],
        cwd=root,
        env={
            **os.environ,
            "PYTHONHASHSEED": str(hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(root.parent),
            "ASSAY_END": str(time.time() + seconds) if seconds else "",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == bool(seconds), done.stderr
    return [json.loads(line) for line in (root / "out.jsonl").read_text().splitlines()]


def record_basket(make_project: Any, target: str = "_sum", **job: Any) -> Any:
    """Record the calls that the basket's tests make of a target and of its callers."""
    project = make_project("recorded", BASKET, BASKET_TESTS)
    return project.run("record", targets=project.targets(target), **job)
