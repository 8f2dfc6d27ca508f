"""The controls: the gold patch through a workspace and back, and nothing."""

from pathlib import Path

import pytest

from acting_solvers import solver_of
from assay.agents.contract import Oracle
from assay.agents.sampling.solve import SolveJob, SolveSetup, solve
from assay.agents.sampling.store import SolveStore
from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.agents.sampling.workspaces.opener import WorkspaceOpener
from assay.agents.solvers.controls import Gold, NoSettings, Null
from assay.harness.domain import Instance
from assay.harness.engines.base import BoxSpec
from benches import StubBench
from leaky_image import World


def test_gold_declares_its_oracle(tmp_path: Path, instance: Instance) -> None:
    assert Gold.capabilities.oracle == {Oracle.GOLD_PATCH}
    solution = solve(SolveJob(instance), solver_of(tmp_path, Gold(NoSettings()), [instance])).solution
    assert solution.patch == instance.gold_patch, "the engine without containers has no tree that it could apply to"
    assert solution.trajectory is not None


def test_null_changes_nothing(tmp_path: Path, instance: Instance) -> None:
    assert not Null.capabilities.oracle
    solution = solve(SolveJob(instance), solver_of(tmp_path, Null(NoSettings()), [instance])).solution
    assert (solution.status, solution.patch) == ("empty", "")


@pytest.mark.docker
def test_gold_patch_comes_back_from_a_container_unchanged(tmp_path: Path, world: World) -> None:
    instance = world.place.instance
    bench = StubBench(world.engine, lambda _instance: world.leaky)
    bench.plan = lambda _instance: world.place.plan  # type: ignore[method-assign]
    images = AgentImages(world.engine, tmp_path / "cache")
    solver = SolveSetup(Gold(NoSettings()), WorkspaceOpener(bench, images), SolveStore(tmp_path / "run"))
    solution = solve(SolveJob(instance), solver).solution
    assert solution.status == "submitted", solution.error
    files = {"src/calc/__init__.py", "src/calc/dos.py"}
    trees = {}
    for name, patch in (("gold", instance.gold_patch), ("solved", solution.patch)):
        tree = folder_workspace(tmp_path / name, {path: _base(world, path) for path in files})
        assert tree.apply(patch), name
        trees[name] = tree.texts()
    assert trees["gold"] == trees["solved"]


def _base(world: World, path: str) -> bytes:
    with world.engine.open(BoxSpec(world.image, world.place.plan.limits)) as box:
        (content,) = box.get(f"/testbed/{path}", 10_000).values()
    return content
