"""Attempts on the nodes of a real Ray cluster on this machine, whose engines act instances out."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.harness.domain import Outcome
from assay.harness.errors import EngineUnavailable, RunStopped
from assay.harness.runs.ray_cluster import RayCluster
from assay.harness.runs.store import RunStore
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Pair, Workplace
from made_up_cards import KIND, write_spec
from many_instances import pairs, write
from ray_nodes import STORE, add_node, ray_nodes, wait_until, workers

pytest.importorskip("ray")
from ray.cluster_utils import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ray_nodes() as made:
        yield made


@pytest.fixture
def given() -> list[Pair]:
    return list(pairs(16))


def make_run(tmp_path: Path, name: str, place: Workplace) -> EvaluationRun:
    return EvaluationRun(name, tmp_path, place, alone=True)


def evaluate(tmp_path: Path, name: str, place: Workplace, given: list[Pair]) -> dict[str, object]:
    report, _ = make_run(tmp_path, name, place).evaluate(given, [instance.id for instance, _ in given])
    return report.model_dump(exclude={"run_id"})


def finished(store: RunStore) -> list[str]:
    return sorted(event["instance"] for event in store.events() if event["event"] == "finished")


def test_report_is_that_of_one_process(cluster: Cluster, tmp_path: Path, given):
    with Workplace(engine="fake", executor="ray", address=cluster.address) as there:
        far = evaluate(tmp_path, "far", there, given)
    assert far == evaluate(tmp_path, "near", Workplace(engine="fake", jobs=4), given)
    assert json.loads((tmp_path / "far/run.json").read_text())["engine"]["executor"] == "ray"


def test_killed_workers_lose_no_evaluation_and_double_none(cluster: Cluster, tmp_path: Path, given):
    with Workplace(engine="fake", executor="ray", address=cluster.address) as there:
        bench = there.bench
        assert isinstance(bench, RayCluster)

        def kill() -> None:
            wait_until(lambda: sum(bench.attempts.values()) >= 3)
            for pid in sorted(workers(bench))[:2]:
                os.kill(pid, signal.SIGKILL)

        threading.Thread(target=kill).start()
        far = evaluate(tmp_path, "far", there, given)
        assert sum(bench.lost.values()) == 2
        assert sum(bench.attempts.values()) == sum(1 for _, prediction in given)
    assert far == evaluate(tmp_path, "near", Workplace(engine="fake", jobs=4), given)
    assert finished(RunStore(tmp_path / "far")) == sorted(instance.id for instance, _ in given)


def test_lost_node_loses_no_evaluation_and_a_new_one_joins(cluster: Cluster, tmp_path: Path, given):
    node = add_node(cluster)
    with Workplace(engine="fake", executor="ray", address=cluster.address) as there:
        bench = there.bench
        assert isinstance(bench, RayCluster)
        assert bench.slots == 6

        def lose() -> None:
            wait_until(lambda: sum(bench.attempts.values()) >= 3)
            cluster.remove_node(node, allow_graceful=False)

        threading.Thread(target=lose).start()
        far = evaluate(tmp_path, "far", there, given)
        assert far == evaluate(tmp_path, "near", Workplace(engine="fake", jobs=4), given)
        again = add_node(cluster)
        wait_until(lambda: len(bench._facts) == 6)
    cluster.remove_node(again)


def test_workers_that_die_at_rest_are_replaced(cluster: Cluster, tmp_path: Path, given):
    with Workplace(engine="fake", executor="ray", address=cluster.address) as there:
        bench = there.bench
        assert isinstance(bench, RayCluster)
        wait_until(lambda: len(bench._facts) == bench.slots)
        for pid in workers(bench):
            os.kill(pid, signal.SIGKILL)
        assert bench.describe()["executor"] == "ray"
        assert evaluate(tmp_path, "far", there, given)["total_instances"] == len(given)


def test_abort_ends_what_waits_and_what_is_at_work(cluster: Cluster, tmp_path: Path, given):
    there = Workplace(engine="fake", executor="ray", address=cluster.address)
    there.bench.settle(given[0][0])
    closing = threading.Timer(0.5, there.close)
    closing.start()
    with pytest.raises(RunStopped):
        evaluate(tmp_path, "far", there, list(pairs(60)))
    closing.join()


ENDS_EARLY = """\
import atexit, functools, threading, time
atexit.register(lambda: print([each.name for each in threading.enumerate()]))  # what runs last is registered first
from assay.harness.runs.ray_cluster import RayCluster
cluster = RayCluster(functools.partial(time.sleep, 60), {!r})
while not cluster._starting:
    time.sleep(0.1)
"""


def test_process_that_ends_asks_ray_for_nothing_once_ray_has_ended(cluster: Cluster):
    """Ray would end the process with 1, whatever it has done."""
    command = [sys.executable, "-c", ENDS_EARLY.format(cluster.address)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "MainThread" in done.stdout
    assert "assay-ray" not in done.stdout


def test_nodes_without_slots_are_an_error_that_says_how(cluster: Cluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(RayCluster, "slots", 0)
    with pytest.raises(EngineUnavailable, match="--resources"):
        RayCluster(lambda: None, cluster.address)  # type: ignore[arg-type, return-value]


def test_engine_that_no_node_has_is_an_error_with_its_reason(cluster: Cluster, monkeypatch: pytest.MonkeyPatch):
    there = Workplace(engine="no.such:engine", executor="ray", address=cluster.address)
    with pytest.raises(Exception, match=r"no\.such"):
        there.bench.describe()
    there.close()


def test_slots_have_the_cards_that_ray_gives_them(cluster: Cluster, tmp_path: Path, given):
    """Ray counts cards that are not there, and names them to its workers; a spec of CDI makes them up."""
    specs = write_spec(tmp_path / "cdi", {"0": [], "1": []})
    node = cluster.add_node(num_cpus=1, num_gpus=2, resources={"engine_slots": 4}, object_store_memory=STORE)
    needing = [(instance.model_copy(update={"gpus": 1}), prediction) for instance, prediction in given[:6]]
    too_many = [(instance.model_copy(update={"gpus": 2}), prediction) for instance, prediction in given[6:7]]
    with Workplace(engine="fake", executor="ray", address=cluster.address, gpus=1, gpu_kind=KIND, cdi=[specs]) as there:
        assert there.bench.cluster
        assert there.bench.cluster.slots == 2
        evaluate(tmp_path, "far", there, [*needing, *too_many])
    cluster.remove_node(node)
    verdicts = {each.verdict.instance_id: each.verdict for each in RunStore(tmp_path / "far").load_verdicts()}
    tested = [verdicts[instance.id] for instance, _ in needing if verdicts[instance.id].cards]
    assert {card for verdict in tested for card in verdict.cards} == {f"{KIND}={each}, acted out" for each in (0, 1)}
    assert {verdict.outcome for verdict in verdicts.values()} > {Outcome.RESOLVED, Outcome.ENV_ERROR}
    assert "need 2 GPUs, and this run can give 1 " in verdicts[too_many[0][0].id].reason


def test_command_line_evaluates_on_a_cluster(cluster: Cluster, tmp_path: Path):
    command = [sys.executable, "-m", "assay", "evaluate", "releases", "--gold", "--engine", "fake", "--json"]
    command += ["-i", "pallets__flask-2.3.2", "-i", "tidwall__gjson-1.14.4", "-i", "tokio-rs__slab-0.4.11"]
    command += ["--executor", "ray", "--address", cluster.address, "--runs-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["resolved_instances"] == report["total_instances"] == 3
    assert "attempts" in done.stderr


@pytest.mark.exhaustive
def test_command_line_compares_on_a_cluster(cluster: Cluster, tmp_path: Path):
    rows = write(4, tmp_path)
    reports = []
    for name, more in (("far", ["--executor", "ray", "--address", cluster.address]), ("near", [])):
        command = [sys.executable, "-m", "assay", "diff", *rows, "--engine", "fake", "--json", "--run-id", name, *more]
        command += ["--runs-dir", str(tmp_path / name)]
        done = subprocess.run(
            [*command, *more, "--runs-dir", str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        reports.append({**json.loads(done.stdout), "run_id": ""})
        assert ("attempts" in done.stderr) == (name == "far")
    assert reports[0] == reports[1]
    assert reports[0]["patchdiff"]
