"""A solver's run on the nodes of a Ray cluster, whose engines act instances out."""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.agents.contract import Budget, Solution
from assay.agents.llm.budget import BudgetLimits
from assay.harness.domain import Instance
from assay.harness.runs.ray_cluster import RayCluster
from assay.harness.runs.store import RunStore
from assay.jobs.solve import SolverRun
from assay.jobs.solver_settings import SolveSettings
from assay.jobs.workplace import Workplace
from played_endpoint import Asked, Played, Reply, played_endpoint, said
from ray_nodes import ray_nodes, wait_until, workers
from toy import make_instance

pytest.importorskip("ray")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]

MANY = 8


class Writing(Played):
    """A model that has each instance changed by a command that takes a moment, and then submits."""

    def next(self, asked: Asked) -> Reply:
        with self.lock:
            self.asked.append(asked)
        begun = any(each["role"] == "assistant" for each in asked.body["messages"])
        command = "submit" if begun else "sleep 0.5; echo fixed = True > fix.py"
        return Reply(body=said(f"So.\n```bash\n{command}\n```"))

    @property
    def paid(self) -> int:
        return sum(len(each.body["messages"]) > 1 for each in self.asked)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_nodes(slots=1) as made:
        yield made


@pytest.fixture
def instances() -> list[Instance]:
    return [make_instance(id=f"acme__calc-{number}", problem_statement=f"sum {number}") for number in range(MANY)]


def solve(
    root: Path, place: Workplace, model: Played, instances: list[Instance], name: str = "r", total: int | None = None
) -> tuple[list[Solution], list[Any]]:
    settings = SolveSettings(
        "bash_loop",
        ("form=block",),
        model="m",
        base_url=model.url,
        budget=Budget(),
        total=BudgetLimits(calls=total),
    )
    run = SolverRun(settings, name, root, place, evaluates=True)
    agent, agent_settings = run.make_agent()
    solutions = run.solve(instances, agent, agent_settings)
    return solutions, run.evaluate(instances, agent, solutions)


def count_finished(run: Path) -> Counter[str]:
    return Counter(each["instance"] for each in RunStore(run).events() if each["event"] == "finished")


def test_a_lost_worker_loses_no_solution_and_pays_for_no_answer_twice(
    cluster: Any, tmp_path: Path, instances: list[Instance]
) -> None:
    once = dict.fromkeys((each.id for each in instances), 1)
    with (
        played_endpoint(Writing()) as model,
        Workplace(engine="fake", executor="ray", address=cluster.address) as there,
    ):
        assert isinstance(model, Writing)
        bench = there.bench
        assert isinstance(bench, RayCluster)

        def kill() -> None:
            wait_until(lambda: model.paid >= 1)  # which one worker has got, and works on
            os.kill(min(workers(bench)), signal.SIGKILL)

        killing = threading.Thread(target=kill, daemon=True)
        killing.start()
        solutions, [report] = solve(tmp_path, there, model, instances)
        killing.join()
        assert sum(bench.lost.values()) == 1
        assert model.paid == 2 * MANY
    assert [each.status for each in solutions] == ["submitted"] * MANY
    assert report.unresolved_instances == MANY  # the file that was added fixes nothing
    assert count_finished(tmp_path / "r") == count_finished(tmp_path / "r.evaluated") == once
    assert len((tmp_path / "r/llm.jsonl").read_text().splitlines()) == 2 * MANY
    predicted = [json.loads(line) for line in (tmp_path / "r/preds.jsonl").read_text().splitlines()]
    assert sorted(each["instance_id"] for each in predicted) == sorted(once)
    assert all("fixed = True" in each["model_patch"] for each in predicted)
    trajectory = json.loads((tmp_path / "r/instances/acme__calc-0/0/trajectory.json").read_text())
    assert sum(step.get("llm_call_count") == 1 for step in trajectory["steps"]) == 2
    assert json.loads((tmp_path / "r/run.json").read_text())["engine"]["executor"] == "ray"


def test_patches_are_evaluated_while_others_are_made(cluster: Any, tmp_path: Path, instances: list[Instance]) -> None:
    with (
        played_endpoint(Writing()) as model,
        Workplace(engine="fake", executor="ray", address=cluster.address) as there,
    ):
        solve(tmp_path, there, model, instances)
    solved, evaluated = (
        [float(each["time"]) for each in RunStore(tmp_path / run).events() if each["event"] == "finished"]
        for run in ("r", "r.evaluated")
    )
    assert min(evaluated) < max(solved)


def test_a_budget_of_the_run_is_one_for_all_workers(cluster: Any, tmp_path: Path, instances: list[Instance]) -> None:
    with (
        played_endpoint(Writing()) as model,
        Workplace(engine="fake", executor="ray", address=cluster.address) as there,
    ):
        assert isinstance(model, Writing)
        solutions, _ = solve(tmp_path, there, model, instances, total=7)
        assert model.paid == 7
        assert Counter(each.status for each in solutions).keys() == {"submitted", "limit_calls"}
        solutions, _ = solve(tmp_path, there, model, instances, total=2 * MANY)
        assert model.paid == 2 * MANY, "what was paid for is not asked again"
    assert {each.status for each in solutions} == {"submitted"}
