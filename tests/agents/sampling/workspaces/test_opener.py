from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.container import ContainerSpec, ContainerWorkspace, PatchTests
from assay.agents.sampling.workspaces.opener import LIFETIME, STATEMENT, WorkspaceOpener, agent_container, visible_tests
from assay.harness.domain import Instance, Limits, Status, TestPlan
from assay.harness.engines.fake import FakeEngine, image_name
from benches import StubBench
from leaky_image import World


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


@pytest.fixture
def tested(world: World) -> Iterator[ContainerWorkspace]:
    with ContainerSpec(world.engine, world.image).open(_tests(world)) as workspace:
        yield workspace


def _tests(world: World) -> PatchTests:
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe

    instance = world.place.instance

    class Bench(StubBench):
        def plan_files(self, given: Instance, files: Sequence[str]) -> TestPlan:
            return make_plan(given, find_recipe(instance), files)

    return visible_tests(Bench(world.engine), instance, world.place.image, {"assay.run": "test"})


@pytest.mark.docker
def test_visible_tests_run_and_no_hidden_one(tested: ContainerWorkspace) -> None:
    tested.exec("sed -i 's/a - b/a + b/' src/calc/__init__.py")
    tested.write("tests/test_mine.py", b"import calc\n\n\ndef test_mine():\n    assert calc.add(1, 2) == 3\n")
    results = tested.run_tests()
    assert results["tests/test_calc.py::test_mul"] is Status.PASSED
    assert results["tests/test_mine.py::test_mine"] is Status.PASSED
    assert not [name for name in results if "test_add" in name or "test_sums" in name], "a hidden test was run"
    extra = {"tests/test_extra.py": b"def test_extra():\n    assert False\n"}
    alone = tested.run_tests(["tests/test_extra.py"], extra=extra)
    assert alone == {"tests/test_extra.py::test_extra": Status.FAILED}
    assert tested.read("tests/test_extra.py") is None
