"""The command line with the fake engine: arguments and variables in; output, errors and exit status out."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import front_door
from assay.harness.domain import Instance
from front_door import Done
from stand_ins import as_row
from toy import make_instances


@pytest.fixture
def assay(in_folder: Path) -> Callable[..., Done]:
    """Run ``assay`` in an empty folder, in this process."""

    def run(*args: str, **env: str) -> Done:
        variables = {"ASSAY_ENGINE": "fake", "ASSAY_CACHE": str(in_folder / "cache"), **env}
        return front_door.run(in_folder, *args, **variables)

    return run


@pytest.fixture
def assay_process(in_folder: Path) -> Callable[..., Done]:
    """Run ``assay`` in an empty folder, as a process of its own: for what a process leaves behind."""

    def run(*args: str, **env: str) -> Done:
        command, variables = [sys.executable, "-m", "assay", *args], {**os.environ, **env}
        done = subprocess.run(command, capture_output=True, text=True, cwd=in_folder, env=variables, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def rows(in_folder: Path) -> Path:
    """A data set of three instances."""
    path = in_folder / "rows.jsonl"
    path.write_text("".join(json.dumps(as_row(each)) + "\n" for each in make_instances((1, 2, 3))))
    return path


@pytest.fixture
def predictions(in_folder: Path, instance: Instance) -> Callable[..., Path]:
    """Write predictions: id to patch."""

    def write(patches: dict[str, str], name: str = "preds.jsonl") -> Path:
        path = in_folder / name
        rows = [
            {"instance_id": key, "model_name_or_path": "acme/model", "model_patch": patch}
            for key, patch in patches.items()
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def actor(in_folder: Path) -> Callable[[dict[str, list[bool]]], str]:
    """Write an engine that acts these tests out, box by box over all runs of a process; return its name."""

    def write(flaky: dict[str, list[bool]]) -> str:
        (in_folder / "actor.py").write_text(
            "from assay.harness.engines.fake import FakeEngine\n"
            f"ENGINE = FakeEngine({{}}, flaky={flaky!r})\n"
            "def make(): return ENGINE\n"
        )
        return "actor:make"

    return write
