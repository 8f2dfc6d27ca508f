"""Runs that went through the real store, made with the fake engine, and a server in a thread."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import solved_run
from assay.harness.domain import DatasetRef, Outcome, Prediction, Verdict
from assay.harness.runs.saved import SavedVerdict
from assay.harness.runs.store import Run, RunStore
from assay.jobs.annotate import Annotator
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace
from assay.viewer.runs import Viewer
from assay.viewer.server import ViewServer
from solved_run import MakeRun, Serve
from toy import make_instance, make_instances


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Evaluate three instances, of which the gold patch solves the first, and return the run."""

    def make(name: str = "acme.model", model: str = "model", **changes: str) -> RunStore:
        instances = make_instances((1, 2, 3), **changes)
        patches = [
            instances[0].gold_patch,
            "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-a\n+b\n",
            "",
        ]
        pairs = [
            (each, Prediction(instance_id=each.id, model=model, patch=patch))
            for each, patch in zip(instances, patches, strict=True)
        ]
        run = EvaluationRun(name, tmp_path / "runs", Workplace(engine="fake"))
        run.evaluate(pairs, [*(each.id for each in instances), "acme__calc-4"])
        return run.store

    return make


@pytest.fixture
def judged(tmp_path: Path) -> MakeRun:
    """Return what writes a run: a letter for each instance or a blank, as it would be after an evaluation."""
    words = {"+": Outcome.RESOLVED, "-": Outcome.UNRESOLVED, "e": Outcome.ENV_ERROR}

    def write(name: str, outcomes: str, *, model: str = "", dataset: str = "lite", repo: str = "acme/calc") -> RunStore:
        store = RunStore(tmp_path / "runs" / name)
        letters = {f"acme__calc-{number}": letter for number, letter in enumerate(outcomes) if letter != " "}
        ids = [*letters]
        about = Run(
            id=name,
            dataset=DatasetRef(name=dataset),
            model=model or name,
            started="",
            assay_version="0",
            instance_ids=ids,
        )
        store.save_run(about, [Prediction(instance_id=each) for each in ids])
        verdicts = [Verdict(instance_id=each, outcome=words[letter]) for each, letter in letters.items()]
        for verdict in verdicts:
            folder = store.root / "instances" / verdict.instance_id
            folder.mkdir(parents=True)
            instance = make_instance(id=verdict.instance_id, repo=repo)
            (folder / "instance.json").write_text(instance.model_dump_json())
            store.save_verdict(SavedVerdict(key="0", seconds=3.0, verdict=verdict))
        store.save_report(store.summarise(verdicts), verdicts)
        return store

    return write


@pytest.fixture
def solved(tmp_path: Path) -> MakeRun:
    """Save a solver's run beside the runs of ``make_run``, and return it."""

    def make(name: str = "acme", **changes: Any) -> RunStore:
        return solved_run.make(tmp_path / "runs" / name, **changes)

    return make


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve runs in a thread; return a client of the server."""
    servers: list[ViewServer] = []
    clients: list[httpx.Client] = []

    def start(
        *stores: RunStore, token: str = "", control: bool = False, annotator: Annotator | None = None
    ) -> httpx.Client:
        server = ViewServer(Viewer(stores, annotator), token=token, control=control)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        clients.append(httpx.Client(base_url=server.url.partition("?")[0], trust_env=False))
        return clients[-1]

    yield start
    for client in clients:
        client.close()
    for server in servers:
        server.shutdown()
        server.server_close()
