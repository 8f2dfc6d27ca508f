"""``assay runs``: two runs at once are listed, paused, given other jobs, repeated and stopped, and lose nothing."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.harness.runs.store import RunStore
from front_door import Done
from stand_ins import as_row
from toy import make_instances

pytestmark = pytest.mark.slow

COUNT = 12


@pytest.fixture
def two(in_folder: Path) -> Iterator[dict[str, "subprocess.Popen[str]"]]:
    """Two runs at work on the same twelve instances, one at a time."""
    rows = "".join(json.dumps(as_row(each)) + "\n" for each in make_instances(range(COUNT)))
    (in_folder / "rows.jsonl").write_text(rows)
    variables = {**os.environ, "ASSAY_FAKE_SECONDS": "0.4", "ASSAY_CACHE": str(in_folder / "cache")}
    evaluate = [sys.executable, "-m", "assay", "evaluate", "rows.jsonl", "-j", "1", "--engine", "fake", "--json"]
    runs = {
        name: subprocess.Popen(
            [*evaluate, control, "--run-id", name],
            env=variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for name, control in (("one", "--gold"), ("two", "--null"))
    }
    yield runs
    for process in runs.values():
        process.kill()
        process.communicate()


def finished(name: str) -> list[str]:
    return [each["instance"] for each in RunStore(Path("runs") / name).events() if each["event"] == "finished"]


def becomes(what: Callable[[], bool], seconds: float = 60) -> bool:
    latest = time.monotonic() + seconds
    while not what() and time.monotonic() < latest:
        time.sleep(0.02)
    return what()


def test_two_runs_are_controlled_and_lose_nothing(assay: Callable[..., Done], two: dict[str, Any]) -> None:
    def states() -> dict[str, dict[str, Any]]:
        return {each["run"]: each for each in assay("runs", "list", "--json").json["runs"]}

    assert becomes(lambda: all(len(finished(name)) >= 1 for name in two))
    assert {each["state"] for each in states().values()} == {"running"}
    assert assay("runs", "pause", "one").code == 0
    assert becomes(lambda: states()["one"]["state"] == "paused")
    time.sleep(1)
    stood = len(finished("one"))
    assert stood < COUNT
    assert assay("runs", "jobs", "two", "4").code == 0
    assert becomes(lambda: states()["two"]["jobs"] == 4)
    first = finished("two")[0]
    assay("runs", "retry", "two", first).refuses("final verdict", "--force")
    assert assay("runs", "retry", "two", first, "--force").code == 0
    report, _ = two["two"].communicate(timeout=60)
    assert json.loads(report)["unresolved_instances"] == COUNT
    assert sorted(finished("two")) == sorted([*(f"acme__calc-{number}" for number in range(COUNT)), first])
    assert len(finished("one")) == stood, "it is paused all the while"
    assert re.search(rf"one +paused .*\ntwo +ended +{COUNT} of {COUNT}", assay("runs", "list").out)
    assay("runs", "pause", "two").refuses("is not at work")
    assert assay("runs", "stop", "one").code == 0
    two["one"].communicate(timeout=60)
    assert two["one"].returncode == 130
    assert states()["one"]["state"] == "interrupted"
    again = assay("evaluate", "rows.jsonl", "--gold", "--engine", "fake", "--run-id", "one", "--json")
    assert again.json["resolved_instances"] == COUNT
    assert again.err.count("known already") >= stood
    assert sorted(finished("one")) == sorted(f"acme__calc-{number}" for number in range(COUNT)), "none twice"
    assert {each["event"] for each in RunStore(Path("runs/one")).events()} >= {"paused", "stopped"}


def test_paused_run_that_is_killed_is_interrupted_and_resumes(assay: Callable[..., Done], two: dict[str, Any]) -> None:
    assert becomes(lambda: len(finished("one")) >= 1)
    assert assay("runs", "pause", "one").code == 0
    two["one"].kill()
    two["one"].wait()
    assert '"interrupted"' in assay("runs", "list", "--json").out
    assay("runs", "resume", "one").refuses("is not at work")
    assert assay("evaluate", "rows.jsonl", "--gold", "--engine", "fake", "--run-id", "one").code == 0
    assert not Path("runs/one/control").exists()


def test_what_is_no_run_is_one_line(assay: Callable[..., Done]) -> None:
    assay("runs", "pause", "nothing").refuses("there is no run 'nothing'")
    assert assay("runs", "list", "--json").json == {"runs": []}
