"""Puts the parts together for every command that runs containers: engine, sources, image builder, store."""

import hashlib
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.config import toolchain_images
from assay.cli.options import EnvironmentChoice
from assay.harness.domain import Instance, Prediction, PublishedImage, TestPlan
from assay.harness.engines import Engine, open_engine
from assay.harness.errors import EnvironmentFailure
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.executors import find_executor
from assay.harness.runs.runner import Prepare, Progress, Runner
from assay.harness.runs.store import Run, RunStore
from assay.version import __version__

if TYPE_CHECKING:
    from assay.instances.trees.sources import Sources


@dataclass(frozen=True, slots=True)
class Workbench:
    """An open engine and the way to an instance's image and plan."""

    engine: Engine
    prepare: Prepare
    settle: Callable[[Instance], Instance]
    """Decides whether an instance keeps the environment that its row carries, and dates it if the row does not."""
    plan: Callable[[Instance], TestPlan]
    plan_files: Callable[[Instance, Sequence[str]], TestPlan]
    """Plans the run of some of the tree's test files, whatever the instance's own are."""
    assets: Callable[[Instance], Callable[[], Mapping[str, bytes]]]
    """Gives the way to the binary files of an instance's tests."""
    abort: Callable[[], None]
    """Ends every container and build that is under way."""


def open_workbench(
    engine_name: str,
    instances: Sequence[Instance],
    *,
    mirrors: Sequence[Path] | None = None,
    recipes: Sequence[Path] | None = None,
    environment: EnvironmentChoice = EnvironmentChoice.AUTO,
    note: Callable[[str], None] = lambda _text: None,
) -> Workbench:
    """Connect to the engine and prepare to build images.

    Args:
        engine_name: name of an engine.
        instances: what will be evaluated, for engines that act them out.
        mirrors: folders of local clones.
        recipes: folders of the user's own recipes.
        environment: whether images that rows carry are used.
        note: told what is being built.

    Raises:
        EngineUnavailable: the engine does not answer. PluginError: there is none of that name.
    """
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe

    engine = open_engine(engine_name, instances)

    def plan(instance: Instance, files: Sequence[str] | None = None) -> TestPlan:
        try:
            recipe = find_recipe(instance, recipes or ())
        except EnvironmentFailure:  # told again, as this instance's outcome, when its image is to be prepared
            return TestPlan(command="exit 1\n")
        made_from = repr((engine.name, recipe, sorted(toolchain_images().items())))
        made_from_hash = hashlib.sha256(made_from.encode()).hexdigest()
        return make_plan(instance, recipe, files).model_copy(update={"environment": made_from_hash})

    if engine.name == "fake":
        from assay.harness.engines.fake import image_name

        def acted(instance: Instance, files: Sequence[str] | None = None) -> TestPlan:
            return _acted_out(plan(instance, files))

        return Workbench(engine, image_name, _without_image, acted, acted, lambda _: dict, engine.abort)
    from assay.instances.environments.build import ImageBuilder
    from assay.instances.trees.assets import Assets
    from assay.instances.trees.sources import dated

    sources = make_sources(mirrors or ())
    builder = ImageBuilder(engine, sources, toolchains=toolchain_images(), recipes=tuple(recipes or ()), note=note)

    def abort() -> None:
        builder.abort()
        engine.abort()

    def settle(instance: Instance) -> Instance:
        return dated(instance if _keeps_image(instance, environment, engine) else _without_image(instance), sources)

    def assets(instance: Instance) -> Callable[[], Mapping[str, bytes]]:
        return Assets(instance.assets, sources)

    return Workbench(engine, builder.image_of, settle, plan, plan, assets, abort)


def make_sources(mirrors: Sequence[Path] = ()) -> "Sources":
    """Return where trees and archives come from, with the user's settings."""
    from assay.instances.trees.sources import Sources

    return Sources(mirrors, toolchains=toolchain_images())


def _keeps_image(instance: Instance, choice: EnvironmentChoice, engine: Engine) -> bool:
    if choice is EnvironmentChoice.AUTO and isinstance(instance.environment, PublishedImage):
        return engine.find_image(instance.environment.image) is not None
    return choice is EnvironmentChoice.PUBLISHED


def _without_image(instance: Instance) -> Instance:
    if isinstance(instance.environment, PublishedImage):
        return instance.model_copy(update={"environment": None})
    return instance


def _acted_out(plan: TestPlan) -> TestPlan:
    return plan.model_copy(
        update={
            "report_format": "status_json",
            "report_path": "/tmp/assay-report/report.json",
            "test_id": "node",
            "canary": False,
        }
    )


def make_tasks(
    bench: Workbench, pairs: Sequence[tuple[Instance, Prediction]], *, timeout: int | None, runs_empty: bool = False
) -> list[Task]:
    """Plan the evaluation of each (instance, prediction) pair; ``timeout`` overrides the plans' own, in seconds."""
    tasks = []
    for instance, prediction in pairs:
        plan = bench.plan(instance)
        if timeout is not None:
            plan = plan.model_copy(update={"limits": plan.limits.model_copy(update={"seconds": float(timeout)})})
        tasks.append(Task(instance, prediction, plan, runs_empty, bench.assets(instance)))
    return tasks


def make_runner(
    bench: Workbench, store: RunStore, *, executor: str, jobs: int, fresh: bool, progress: Progress
) -> Runner:
    """Return a runner over the workbench's engine; raises PluginError for an unknown executor."""
    return Runner(store, bench.engine, bench.prepare, find_executor(executor), jobs, fresh, progress, bench.abort)


def describe_run(run_id: str, tasks: Sequence[Task], bench: Workbench, **settings: str) -> Run:
    """Return the manifest of a run that is about to start."""
    models = sorted({task.prediction.model for task in tasks})
    return describe(run_id, [task.instance for task in tasks], bench, ", ".join(models), settings)


def describe(
    run_id: str, instances: Sequence[Instance], bench: Workbench, model: str, settings: Mapping[str, str]
) -> Run:
    """Return the manifest of a run that is about to make, or to evaluate, a model's patches."""
    return Run(
        id=run_id,
        dataset=instances[0].dataset,
        model=model,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        assay_version=__version__,
        settings=dict(settings),
        engine=bench.engine.describe(),
        host={"platform": platform.platform(), "python": sys.version.split()[0], "machine": platform.machine()},
    )
