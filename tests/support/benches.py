"""A workbench for tests: an engine, one plan for every instance, and images that are there already."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from assay.harness.domain import Instance, Prediction, TestPlan
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.evaluation.evaluate import Task

PLAN = TestPlan(command="true", report_path="/tmp/report.json", report_format="status_json", test_id="node")


def make_engine(instances: Iterable[Instance], **settings: Any) -> FakeEngine:
    """Make the engine without containers that has an image of each instance."""
    return FakeEngine({image_name(each): each for each in instances}, **settings)


def make_task(instance: Instance, patch: str | None = None, plan: TestPlan = PLAN, **settings: Any) -> Task:
    """Make the task of a patch; without one it is the gold patch."""
    wanted = instance.gold_patch if patch is None else patch
    return Task(instance, Prediction(instance_id=instance.id, model="m", patch=wanted), plan, **settings)


@dataclass
class StubBench:
    """See the Workbench Protocol."""

    engine: Any
    name: Callable[[Instance], str] | str = image_name
    """Name of the image of every instance, or a function that returns it."""
    plan_of_all: TestPlan = PLAN
    cluster: None = None

    def settle(self, instance: Instance) -> Instance:
        return instance

    def plan(self, _instance: Instance) -> TestPlan:
        return self.plan_of_all

    def plan_files(self, _instance: Instance, _files: Sequence[str]) -> TestPlan:
        return self.plan_of_all

    def aim(self, plan: TestPlan, _instance: Instance) -> TestPlan:
        return plan

    def assets(self, _instance: Instance) -> Callable[[], Mapping[str, bytes]]:
        return dict

    def image(self, instance: Instance, _patch: str | None = None) -> AbstractContextManager[str]:
        return nullcontext(self.name if isinstance(self.name, str) else self.name(instance))

    def describe(self) -> dict[str, str]:
        return self.engine.describe()

    def hash_surroundings(self) -> str:
        return ""

    def reap(self) -> None:
        self.engine.reap()

    def abort(self) -> None:
        self.engine.abort()
