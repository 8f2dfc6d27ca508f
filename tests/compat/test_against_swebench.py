"""swebench itself and ``assay swebench run_evaluation``, on the same images: the same logs, report and exit status."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from corpus.conftest import corpus_mirror, places, published
from corpus.model import Row
from corpus.stage import Place
from other_tools import run_with

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import triples  # noqa: E402

__all__ = ["corpus_mirror", "places", "published"]

COMMAND = "-d rows.jsonl -p preds.jsonl -id r1 --max_workers 2 --timeout 300 -i gold wrong empty stray missing module"
READ_FROM_LOGS = {"infra_failure_ids", "ambiguous_failure_ids", "failure_reasons", "ambiguous_failure_instances"}
"""Fields that swebench fills by words in a log; Assay takes no failure's class from there."""


SOURCES = {"gold": "calc", "wrong": "unittest", "empty": "calc", "stray": "django", "missing": "calc", "module": "calc"}
"""Id of each row to the instance of the corpus that it is."""


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def make_inputs(published: Callable[[str, Row], Place]) -> dict[str, list[dict[str, Any]]]:
    """Return rows, and predictions for all but one: right, wrong, empty, for another tree, and without a module."""
    made = {
        name: triples.make_row(name, published(name, Row(tests=triples.make_command(name))).instance)
        for name in set(SOURCES.values())
    }
    gold: dict[str, str] = {name: made[source]["patch"] for name, source in SOURCES.items()}
    patches = {
        "gold": gold["gold"],
        "wrong": gold["wrong"].replace("return a + b", "return a + b + 1"),
        "empty": "",
        "stray": gold["stray"].replace("return a - b", "return a * a - b"),
        "module": gold["module"].replace("return a + b", "import nothing_there"),
    }
    assert len({*patches.values()}) == len(patches)
    answers = [{"instance_id": name, "model_name_or_path": "a/m", "model_patch": p} for name, p in patches.items()]
    rows = [{**made[source], "instance_id": name} for name, source in SOURCES.items()]
    return {"rows.jsonl": rows, "preds.jsonl": answers}


def run_both(folder: Path, inputs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Run swebench and Assay, each in a folder of its own; return the reports."""
    for side in ("theirs", "ours"):
        (folder / side).mkdir()
        for file, lines in inputs.items():
            (folder / side / file).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with chdir(folder / "theirs"):
        run_with(["swebench==5.0.2"], "python", "-m", "swebench.harness.run_evaluation", *COMMAND.split())
    with chdir(folder / "ours"):
        command = [sys.executable, "-m", "assay.compat.swebench", *COMMAND.split()]
        done = subprocess.run(command, env={**os.environ}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return [json.loads((folder / side / "a__m.r1.json").read_text()) for side in ("theirs", "ours")]


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.toolchain("python", "")
def test_logs_report_and_exit_status_are_those_of_swebench(
    published: Callable[[str, Row], Place], tmp_path: Path
) -> None:
    theirs, ours = run_both(tmp_path, make_inputs(published))
    assert (theirs["resolved_ids"], theirs["error_ids"]) == (["gold"], ["stray"])
    assert sorted(theirs["unresolved_ids"]) == ["module", "wrong"]
    assert (theirs["empty_patch_ids"], theirs["incomplete_ids"]) == (["empty"], ["missing"])
    assert {*theirs} == {*ours}
    assert {name for name in theirs if theirs[name] != ours[name]} <= READ_FROM_LOGS
    logs = [tmp_path / side / "logs" for side in ("theirs", "ours")]
    assert list_files(logs[0]) == list_files(logs[1])
    for name in list_files(logs[0]):
        contents = [(each / name).read_text() for each in logs]
        if name.endswith(("patch.diff", "eval.sh")):
            assert contents[0] == contents[1], name
        elif name.endswith("/report.json"):
            assert json.loads(contents[0]) == json.loads(contents[1]), name
