"""The place of evaluations: an engine, sources of trees and a builder of images, opened once and then shared."""

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from assay.choices import CounterChoice, EnvironmentChoice, read_build_limits
from assay.harness.benchmarks import check_stages, find_benchmark
from assay.harness.closing import Closing
from assay.harness.counters.pair import has_counters, load_counters
from assay.harness.domain import CounterSet, Instance, Prediction, TestPlan
from assay.harness.engines import open_engine
from assay.harness.engines.base import ActingEngine, BoxSpec, Engine
from assay.harness.engines.host_cards import NVIDIA, make_pool
from assay.harness.engines.warm import WarmEngine
from assay.harness.errors import DataError, RunStopped, UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.files import check_folder
from assay.harness.images.eviction import parse_size
from assay.harness.images.registry import ImageRegistry, parse_prefix
from assay.harness.images.shelf import Shelf
from assay.harness.images.uses import Uses
from assay.harness.plugins import Registry, check_part
from assay.harness.runs.keys import counters_key
from assay.harness.runs.workbench import Cluster, OpenCluster, Workbench
from assay.harness.sequences import keep_items
from assay.jobs.view import Quiet, View
from assay.jobs.workbench import ActedWorkbench, BuiltWorkbench, Planner, make_sources

if TYPE_CHECKING:
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.setup.keeper import Setter
    from assay.instances.toolchains.images import UserImages
    from assay.instances.trees.sources import Sources

Pair = tuple[Instance, Prediction]

RUNS_AGAIN: Mapping[str, Literal["pair", "sealed"]] = {CounterChoice.PAIR: "pair", CounterChoice.SEALED: "sealed"}


class WorkplaceSettings(TypedDict, total=False):
    """The arguments of a ``Workplace``, which has what they mean."""

    engine: str
    mirrors: Sequence[str | Path]
    recipes: Sequence[str | Path]
    toolchains: "UserImages | Mapping[str, Mapping[str, str]]"
    environment: EnvironmentChoice | str
    registry: str
    push: bool
    disk: str
    build_limits: str
    gpus: int | None
    gpu_kind: str
    cdi: Sequence[str | Path]
    timeout: float | None
    setup: bool
    strict: bool
    fail_fast: bool
    counter: CounterChoice | str
    jobs: int
    spares: int
    executor: str
    address: str
    view: View


@dataclass(eq=False, kw_only=True)
class Workplace(Closing):
    """The settings of evaluations, and the workbench that is opened with them at first use; safe in several threads."""

    engine: str = "docker"
    """Name of the container engine."""
    mirrors: Sequence[str | Path] = ()
    """Folders of local clones."""
    recipes: Sequence[str | Path] = ()
    """Folders of the user's own recipes."""
    toolchains: "UserImages | Mapping[str, Mapping[str, str]]" = field(default_factory=dict)
    """The user's toolchain images, by language and version."""
    environment: EnvironmentChoice | str = EnvironmentChoice.AUTO
    """``recipe``, ``published``, or ``auto``: the row's image if the engine has it already, else the recipe's."""
    registry: str = ""
    """``HOST:PORT/prefix`` of the registry that is asked for images before they are built."""
    push: bool = False
    """Send images that are built to the registry."""
    disk: str = ""
    """Limit of the disk that images take, such as ``40GB``; those not used for longest go."""
    build_limits: str = ""
    """Limits of each step of an image build, such as ``seconds=900,processes=512,memory=4GB,disk=10GB``."""
    gpus: int | None = None
    """Cards that containers may be given; None for all that CUDA_VISIBLE_DEVICES shows here. On Ray, those of each
    slot, and None for none."""
    gpu_kind: str = NVIDIA
    """Kind of the cards in specs of CDI."""
    cdi: Sequence[str | Path] = ()
    """Folders of such specs beside the usual ones."""
    timeout: float | None = None
    """Limit of the test command in seconds, in place of the plans' own."""
    setup: bool = False
    """Search for the recipe of a repository that none names; what is found is kept in the cache and used again."""
    strict: bool = False
    """Count results that only a log shows, or that root's tests wrote, as none."""
    fail_fast: bool = False
    """Run fail-to-pass tests first, and no others where one of them fails; for no leaderboard."""
    counter: CounterChoice | str = CounterChoice.BESIDE
    """``beside`` runs known counter-tests after the tests; ``pair`` those of what would be resolved, in a container of
    their own; ``sealed``, in one more, the tests without their answers."""
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Evaluations at once on this machine."""
    spares: int = 0
    """Containers that wait for evaluations of what was evaluated last; none where ``disk`` has a limit."""
    executor: str = "local"
    """``local``, or ``ray`` for the nodes of a Ray cluster, which do as many at once as they offer slots."""
    address: str = "auto"
    """Address of the cluster; ``auto`` finds the one that this machine belongs to."""
    view: View = field(default_factory=Quiet)
    """Shows builds and progress to a person."""
    _bench: Workbench | None = field(default=None, init=False, repr=False)
    _images: BuiltWorkbench | None = field(default=None, init=False, repr=False)
    _warm: WarmEngine | None = field(default=None, init=False, repr=False)
    _closed: bool = field(default=False, init=False, repr=False)
    _opening: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def bench(self) -> Workbench:
        """The workbench; opening it removes dead containers. Raises EngineUnavailable, PluginError, RunStopped."""
        with self._opening:
            if self._bench is None:
                if self._closed:
                    raise RunStopped("the workplace is closed")
                self._bench = self._open()
            return self._bench

    @property
    def images(self) -> BuiltWorkbench | None:
        """The open workbench if it builds images, None if instances are acted out or evaluated on other machines.

        Raises as ``bench`` does.
        """
        return self._images if self.bench else None

    def tasks(self, pairs: Sequence[Pair], *, runs_empty: bool = False) -> Sequence[Task]:
        """Plan the evaluation of each pair; ``runs_empty`` runs the tests on an empty patch too."""
        return keep_items(self.task(*pair, runs_empty=runs_empty) for pair in pairs)

    def task(self, instance: Instance, prediction: Prediction, *, runs_empty: bool = False) -> Task:
        """Plan one evaluation; raises DataError for an instance without the earlier runs that its rule needs."""
        check_stages(instance)
        settled = self.bench.settle(instance)
        benchmark = find_benchmark(settled.rule)
        task = benchmark.plan(self.bench, settled, prediction)
        task = replace(
            task,
            plan=self._limit(task.plan),
            beside=task.beside and self._limit(task.beside),
            runs_empty=runs_empty,
            fail_fast=self.fail_fast,
            allows_fuzz=benchmark.allows_fuzz,
            counter=RUNS_AGAIN.get(str(self.counter), ""),
            label_test=benchmark.label_test,
        )
        return replace(task, counters=self._find_counters(task))

    def _find_counters(self, task: Task) -> CounterSet | None:
        """Return the counter-tests that run beside a task's tests, if any are known."""
        known = None
        if self.counter == CounterChoice.BESIDE and has_counters():
            with suppress(DataError):  # its evaluation says so
                known = load_counters(counters_key(task))
        return known if known and known.tests else None

    def _limit(self, plan: TestPlan) -> TestPlan:
        plan = plan.model_copy(update={"strict": self.strict})
        if self.timeout is None:
            return plan
        return plan.model_copy(update={"limits": plan.limits.model_copy(update={"seconds": float(self.timeout)})})

    def make_sources(self) -> "Sources":
        """Return the trees of repositories as this machine finds them, also where no image is built."""
        return make_sources([Path(folder).expanduser() for folder in self.mirrors], self.toolchains)

    def setter(self, folder: Path | None = None) -> "Setter":
        """Return the search for recipes, which keeps them in a folder, by default in the cache; raises UserError."""
        images = self.images
        if images is None:
            raise UserError(f"the engine {self.engine} builds nothing; set-up needs one that does, such as docker")
        return self._setter(images.engine, images.sources, images.builder, folder)

    def _setter(
        self, engine: Engine, sources: "Sources", builder: "ImageBuilder", folder: Path | None = None
    ) -> "Setter":
        from assay.instances.setup.keeper import Setter

        kept = folder or sources.cache / "setup"
        return Setter(engine, sources, builder, kept, self.toolchains, note=self.view.say)

    def expect(self, task: Task, labels: Mapping[str, str]) -> None:
        """Have a container wait for a task that is probably evaluated first; raises EnvironmentFailure, or EngineError.

        Does nothing without ``spares``, or where as many are expected already.
        """
        bench = self.bench
        if self._warm is not None:
            with bench.image(task.instance, "") as image:
                self._warm.expect(BoxSpec(image, task.plan.limits, labels))

    def end_spares(self) -> None:
        """Remove the containers that wait, and open none ahead any more."""
        if self._warm is not None:
            self._warm.end()

    def close(self) -> None:
        """End every container and build that is under way; nothing can be evaluated here any more."""
        with self._opening:  # by another thread, perhaps: what it would begin afterwards has to end, too
            self._closed = True
        if self._bench is not None:
            self._bench.abort()

    def _open(self) -> Workbench:
        from assay.instances.environments.recipes import check_recipes

        if self.executor != "local":
            return self._open_cluster()
        for folder in self.mirrors:
            check_folder(Path(folder).expanduser(), "folder of mirrors")
        for folder in self.recipes:
            check_recipes(Path(folder).expanduser())
        limit = parse_size(self.disk) if self.disk else None
        engine = open_engine(self.engine)
        engine.build_limits = read_build_limits(self.build_limits)
        engine.cards = make_pool(engine, self.gpus, self.gpu_kind, [Path(each).expanduser() for each in self.cdi])
        for name in engine.reap():
            self.view.say(f"removed {name}, left behind by a dead process")
        recipes = tuple(Path(folder).expanduser() for folder in self.recipes)
        planner = Planner(engine, recipes, self.toolchains)
        warmed = self._warm_up(engine)
        if isinstance(engine, ActingEngine):
            return ActedWorkbench(cast("ActingEngine", warmed), planner)
        from assay.instances.environments.image_builder import ImageBuilder

        sources = self.make_sources()
        registry = None
        if self.registry:
            locks = sources.cache / "moving"
            registry = ImageRegistry(engine, locks, parse_prefix(self.registry), self.push, self.view.note)
        shelf = Shelf(engine, Uses(sources.cache / "uses"), registry, limit, self.view.note)
        builder = ImageBuilder(
            engine, sources, toolchains=self.toolchains, recipes=recipes, shelf=shelf, note=self.view.note
        )
        setter = self._setter(engine, sources, builder) if self.setup else None
        self._images = BuiltWorkbench(warmed, planner, sources, builder, EnvironmentChoice(self.environment), setter)
        return self._images

    def _warm_up(self, engine: Engine) -> Engine:
        """Return the engine, perhaps as one that opens containers ahead; those would hold images that have to go."""
        if not self.spares or self.disk:
            return engine
        self._warm = WarmEngine(engine, self.spares, self.jobs)
        return cast("Engine", self._warm)

    def _open_cluster(self) -> Workbench:
        connect = EXECUTORS.resolve(self.executor)
        settings = {name: getattr(self, name) for name in THERE}
        for name in PATHS:
            settings[name] = tuple(Path(each).expanduser().absolute() for each in getattr(self, name))
        settings["gpus"] = self.gpus or 0
        cluster = connect(partial(open_there, settings), self.address, self.view.say, settings["gpus"])
        for protocol in (Workbench, Cluster):
            check_part(f"executor {self.executor}", protocol, cluster)
        return cluster


PATHS = ("mirrors", "recipes", "cdi")
THERE = ("engine", "toolchains", "environment", "registry", "push", "disk", "build_limits", "setup", "gpu_kind")
"""Settings that the workbench of a node depends on."""
EXECUTORS = Registry[OpenCluster]("executor", "assay.executors", {"ray": "assay.harness.runs.ray_cluster:RayCluster"})


def open_there(settings: Mapping[str, Any]) -> Workbench:
    """Open a workbench on a node of a cluster; raises EngineUnavailable."""
    return Workplace(**settings).bench
