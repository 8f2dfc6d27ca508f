"""The programs of PatchDiff, run on small projects as in a container: a process of their own, a job, JSON lines."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.harness.patchdiff.archive import probe_archive

PROBE = Path(__file__).parents[1] / "harness" / "patchdiff" / "probe"
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


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write the files of a project."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def run_program(root: Path, program: str, job: Mapping[str, Any], hash_seed: int = 0) -> list[Line]:
    """Run a program in a project; return the lines that it wrote."""
    (root / "job.json").write_text(json.dumps(job))
    (root / "probe.pyz").write_bytes(probe_archive())
    done = subprocess.run(
        [sys.executable, "probe.pyz", program, "job.json", "out.jsonl"],
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (root / "out.jsonl").read_text().splitlines()]
