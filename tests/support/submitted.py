"""A run of two instances, exported as a submission and then spoiled, for tests of what checks say."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from operator import getitem
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
SPOILED = yaml.safe_load((Path(__file__).parents[1] / "harness/exports/spoiled.yaml").read_text())
"""Rows for ``spoil``, by the name of a format."""
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


CONTENTS: dict[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    ".json": (json.loads, json.dumps),
    ".yaml": (yaml.safe_load, yaml.safe_dump),
    ".jsonl": (
        lambda text: [json.loads(line) for line in text.splitlines()],
        lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
    ),
}
"""How the content of a file is read and written, by the end of its name."""


def spoil(home: Path, how: Mapping[str, Any]) -> None:
    """Spoil a submission in one place, as a row of ``spoiled.yaml`` says.

    The file is removed, renamed or overwritten, a text in it is replaced, or the part of its content at a place is
    changed: a field is set or popped, a row is appended or is there twice.
    """
    path = home / how["file"]
    if how.get("remove"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif "to" in how:
        path.rename(home / how["to"])
    elif "text" in how:
        path.write_text(how["text"])
    elif "replace" in how:
        old, new = how["replace"]
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
    else:
        read, write = CONTENTS[path.suffix]
        content = read(path.read_text())
        _change(reduce(getitem, how.get("at", ()), content), how)
        path.write_text(write(content))


def _change(part: Any, how: Mapping[str, Any]) -> None:
    if "set" in how:
        part.update(how["set"])
    elif "pop" in how:
        part.pop(how["pop"])
    else:
        part.append(how["append"] if "append" in how else part[how["repeat"]])


def each_spoiled(name: str) -> pytest.MarkDecorator:
    """Give a test all rows of a format for ``spoil``, one by one."""
    return pytest.mark.parametrize("how", SPOILED[name], ids=lambda how: how["says"][:40])


def check_spoiled(chosen: ExportFormat, run: RunToExport, folder: Path, how: Mapping[str, Any], home: str = "") -> None:
    """Export a run, spoil its submission, and see that the check says so; dots at the end stand for more."""
    write(chosen, run, folder)
    spoil(folder / home, how)
    complaint = f"{home}/{how['says']}".removeprefix("/")
    begin = complaint.removesuffix("...")
    said = complaints(chosen, folder)
    assert any(each == complaint or (begin != complaint and each.startswith(begin)) for each in said), said
