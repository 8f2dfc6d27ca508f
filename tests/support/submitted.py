"""A run of two instances, exported as a submission and then spoiled, for tests of what checks say."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.harness.exports.base import ExportFormat, RunToExport
from assay.harness.exports.metadata import SubmissionMetadata
from assay.harness.exports.write import problems, write

ABOUT = SubmissionMetadata(
    name="Toy agent + M-1",
    split="verified",
    authors="A. Person",
    site="https://example.org",
    report="https://example.org/report.pdf",
    model=("M-1",),
    org=("Example",),
    os_model=False,
    os_system=True,
    benchmark="acme/Calc",
    task="calc",
)
SYSTEM = "20261123_Toy-agent_M-1"
LOG = """\
PASSED tests/test_calc.py::test_add
PASSED tests/test_calc.py::test_same
2 passed in 0.01s
"""
BAD_LOG = """\
PASSED tests/test_calc.py::test_same
FAILED tests/test_calc.py::test_add
1 failed, 1 passed in 0.01s
"""


@contextmanager
def split_of(sizes: dict[str, int], split: str, size: int) -> Iterator[None]:
    """Let a split have another size."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sizes, split, size)
        yield


def complaints(chosen: ExportFormat, folder: Path) -> list[str]:
    """Return what a check says, one line each."""
    return [str(each) for each in problems(chosen, folder)]


def exported(chosen: ExportFormat, run: RunToExport, folder: Path) -> dict[str, bytes]:
    """Write an export; return its files by path."""
    write(chosen, run, folder)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def edit_json(path: Path, change: Callable[[Any], object]) -> None:
    """Change the content of a JSON file in place."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def edit_yaml(path: Path, change: Callable[[Any], object]) -> None:
    """Change the content of a YAML file in place."""
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content))


def edit_lines(path: Path, change: Callable[[list[Any]], object]) -> None:
    """Change the rows of a file of JSON lines in place."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
