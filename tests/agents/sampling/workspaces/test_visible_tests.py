"""The repository's own tests on a solver's changes."""

from collections.abc import Iterator, Sequence

import pytest

from assay.agents.sampling.workspaces.container import ContainerSpec, ContainerWorkspace, PatchTests
from assay.agents.sampling.workspaces.visible_tests import visible_tests
from assay.harness.domain import Instance, Status, TestPlan
from benches import StubBench
from leaky_image import World


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
