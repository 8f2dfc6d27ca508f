"""Where cases are played: a run of Assay for each, and the look around after it."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import Evidence, Instance, Limits, Outcome, Prediction, TestPlan, Verdict
from assay.harness.engines.base import Engine
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import StubBench
from corpus.generators import GENERATORS
from corpus.model import Case, Project

FAKE_PLAN = TestPlan(command="true", report_path="/tmp/report.json", report_format="status_json")
PATIENCE = 3.0
"""Seconds that a thread which is ending may take."""


@dataclass(frozen=True, slots=True)
class Place:
    """An instance, the image that it is tested in, and how."""

    instance: Instance
    image: str
    plan: TestPlan


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a case."""

    verdict: Verdict
    evidence: Evidence
    output: bytes
    seconds: float
    root: Path
    engine: Engine


def task_of(case: Case, project: Project, place: Place) -> Task:
    """Return the case as the task that a run is given."""
    patch = GENERATORS[case.generate](place.instance) if case.generate else case.text(project)
    limits = Limits.model_validate({**place.plan.limits.model_dump(), "seconds": 300.0, **case.limits})
    plan = place.plan.model_copy(update={"limits": limits})
    prediction = Prediction(instance_id=place.instance.id, model="corpus", patch=patch)
    counter: Literal["", "pair", "sealed"] = "sealed" if case.counter == "sealed" else "pair" if case.counter else ""
    allows_fuzz = find_benchmark(place.instance.rule).allows_fuzz
    return Task(place.instance, prediction, plan, runs_empty=case.runs_empty, counter=counter, allows_fuzz=allows_fuzz)


def play(task: Task, image: str, engine: Engine, root: Path) -> Played:
    """Run one task from plan to saved verdict."""
    store = RunStore(root)
    runner = Runner(store, StubBench(engine, image))
    began = time.monotonic()
    verdict = runner.execute([task])[0]
    seconds = time.monotonic() - began
    evidence = store.load_evidence(task.instance.id)
    assert evidence is not None
    output = (root / "instances" / task.instance.id / "test_output.txt").read_bytes()
    return Played(verdict, evidence, output, seconds, root, engine)


def fake_place(instance: Instance) -> tuple[Place, FakeEngine]:
    """Return a place on an engine without containers."""
    name = image_name(instance)
    return Place(instance, name, FAKE_PLAN), FakeEngine({name: instance})


def judge(case: Case, played: Played) -> None:
    """Assert that what came of a case is what it expects."""
    verdict, evidence = played.verdict, played.evidence
    shown = f"{verdict.outcome}: {verdict.reason} {verdict.flags}\n{played.output[-3000:].decode(errors='replace')}"
    if verdict.resolved and Outcome.RESOLVED not in case.outcomes:
        raise AssertionError(f"FALSE RESOLVED {case.id}: {shown}")
    assert verdict.outcome in case.outcomes, shown
    assert case.reason.lower() in verdict.reason.lower(), shown
    assert set(case.flags) <= set(verdict.flags), shown
    assert set(case.restored) <= set(evidence.restored), shown
    assert set(case.normalized) == set(evidence.apply.normalized), shown
    assert set(case.unfixed) <= set(verdict.unfixed), shown
    assert not case.seconds or played.seconds < case.seconds, f"{played.seconds:.1f} s; {shown}"


@contextmanager
def nothing_left(root: Path, engine: DockerEngine | None) -> Iterator[Path]:
    """Give a folder for one run and assert that afterwards nothing is left but what lies in it.

    Threads, files of the working folder, of the temporary folder and beside the run, and, with an engine,
    containers, networks and volumes with the run's label.
    """
    run = root / f"run-{uuid4().hex[:8]}"
    temporary, working = root / "tmp", root / "cwd"
    temporary.mkdir()
    working.mkdir()
    before, here, tempdir = set(threading.enumerate()), Path.cwd(), tempfile.tempdir
    os.chdir(working)
    tempfile.tempdir = str(temporary)
    try:
        yield run
    finally:
        os.chdir(here)
        tempfile.tempdir = tempdir
    assert not list(working.iterdir()), "files in the working folder"
    assert not list(temporary.iterdir()), "files in the temporary folder"
    beside = {path.name for path in root.iterdir()}
    assert beside <= {run.name, "given", "tmp", "cwd", ".index"}, f"beside the run: {beside}"
    assert not living(before), f"threads: {living(before)}"
    if engine is not None:
        left = labelled(engine, run.name)
        assert not left, f"left on the engine: {left}"


def living(before: set[threading.Thread]) -> set[threading.Thread]:
    """Return the threads that were not there before, after a short time for those that are ending."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and set(threading.enumerate()) - before:
        time.sleep(0.01)
    return set(threading.enumerate()) - before


def labelled(engine: DockerEngine, run: str) -> Mapping[str, list[str]]:
    """Return the containers, networks and volumes that carry a run's label."""
    chosen = {"label": f"assay.run={run}"}
    client = engine._client
    found = {
        "containers": [each["Id"] for each in client.containers(all=True, filters=chosen)],
        "networks": [each["Id"] for each in client.networks(filters=chosen)],
        "volumes": [each["Name"] for each in client.volumes(filters=chosen)["Volumes"] or ()],
    }
    return {kind: names for kind, names in found.items() if names}


def make_mirror(root: Path, project: Project) -> str:
    """Make a project's repository with its base and, later, its fix; return the base commit."""
    folder = root / project.repo
    for path, text in project.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    for path, target in project.links.items():
        (folder / path).symlink_to(target)
    git(folder, "init", "--quiet", "--initial-branch=main")
    base = _commit(folder, "base")
    for path, text in project.gold.items():
        (folder / path).write_bytes(text.encode() + LATER.encode())
    _commit(folder, "fix")
    git(folder, "tag", "v2")
    return base


LATER = "# the later fix\n"
"""In the repository's later commit only."""


def _commit(folder: Path, message: str) -> str:
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *args: str) -> str:
    """Run git. Equal content always has the same commit id: images and locks of an earlier session are found."""
    when = "2023-06-01T00:00:00Z"
    who = {f"GIT_{role}_{part}": "t@t" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "GIT_CONFIG_GLOBAL": "/dev/null"}
    command = ["git", "-c", "core.autocrlf=false", "-c", "commit.gpgSign=false", *args]
    env = {**os.environ, **who, **dates}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=env).stdout.strip()
