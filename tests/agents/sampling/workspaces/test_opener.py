from pathlib import Path

from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.opener import LIFETIME, STATEMENT, WorkspaceOpener, agent_container
from assay.harness.domain import Instance, Limits, TestPlan
from assay.harness.engines.fake import FakeEngine, image_name
from benches import StubBench


def test_agent_container_has_no_network_even_if_the_recipe_allows_it() -> None:
    plan = TestPlan(command="true", limits=Limits(network=True, capabilities=("SYS_ADMIN",), memory_mb=1234, seconds=9))
    place = agent_container(FakeEngine({}), "image", plan, {}, {"/a": "/b"})
    assert (place.limits.network, place.limits.capabilities, place.limits.memory_mb) == (False, (), 1234)
    assert (place.limits.seconds, place.user, place.root, dict(place.mounts)) == (
        LIFETIME,
        "assay",
        "/testbed",
        {"/a": "/b"},
    )


def test_engine_without_containers_opens_a_folder_with_the_statement(tmp_path: Path, instance: Instance) -> None:
    bench = StubBench(FakeEngine({image_name(instance): instance}))
    opener = WorkspaceOpener(bench, AgentImages(bench.engine, tmp_path))
    assert not opener.has_containers
    with opener.open(instance, {}) as workspace:
        assert workspace.texts() == {STATEMENT: instance.problem_statement}
        folder = Path(workspace.root)
    assert not folder.exists()
