"""The two workbenches: environments that are built, and instances that an engine acts out."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.choices import EnvironmentChoice
from assay.harness.domain import UNKNOWN_TIME, Instance, PublishedImage, Recipe, RowScript, TestPlan
from assay.harness.engines import ActingEngine, Engine
from assay.harness.errors import EnvironmentFailure
from assay.harness.runs.keys import engine_edition

if TYPE_CHECKING:
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.leaks.audit import ImageReport
    from assay.instances.setup.keeper import Setter
    from assay.instances.toolchains.images import UserImages
    from assay.instances.trees.sources import Sources

NO_RECIPE = TestPlan(command="exit 1\n")
"""Stands for the plan of an instance whose recipe cannot be read; building its image raises the reason."""
ACTED_OUT = {
    "report_format": "status_json",
    "report_path": "/tmp/assay-report/report.json",
    "test_id": "node",
    "runner": "",
}
"""Changes to the plan of an instance that is acted out."""


@dataclass(frozen=True, slots=True)
class Planner:
    """Finds recipes and makes plans of them."""

    engine: Engine
    recipes: tuple[Path, ...] = ()
    toolchains: "UserImages" = field(default_factory=dict)

    def plan(self, instance: Instance, files: Sequence[str] | None = None) -> TestPlan:
        """Return how an instance's own tests, or some test files of its tree, are run."""
        from assay.instances.environments.known_images import image_edition
        from assay.instances.environments.plan import make_plan
        from assay.instances.environments.recipes import find_recipe, has_recipe

        try:
            recipe = find_recipe(instance, self.recipes)
        except EnvironmentFailure:
            return NO_RECIPE
        made_from = repr((self.engine.name, recipe.model_dump_json(), sorted(self.toolchains.items()), image_edition()))
        made_from_hash = hashlib.sha256(made_from.encode()).hexdigest()
        keys = {"environment": made_from_hash, "engine": engine_edition(self.engine)}
        by_defaults = not has_recipe(instance, self.recipes)
        return make_plan(instance, recipe, files).model_copy(update={**keys, "by_defaults": by_defaults})


@dataclass(frozen=True, slots=True)
class BuiltWorkbench:
    """Builds the environments of instances as images; see the Workbench Protocol for its methods."""

    engine: Engine
    planner: Planner
    sources: "Sources"
    builder: "ImageBuilder"
    environment: EnvironmentChoice = EnvironmentChoice.AUTO
    setter: "Setter | None" = None
    cluster: None = None

    def settle(self, instance: Instance) -> Instance:
        """Keep the row's image if that is the choice; date an instance whose row has no date; find a missing recipe.

        What the recipe's variants ask of the tree is asked.
        Files that the clones lack are named, unless the image of the whole tree is here or in the registry.
        """
        from assay.instances.trees.sources import fill_date

        if instance.created_at == UNKNOWN_TIME:
            self.builder.fetch_known(instance)
        kept = self.builder.read_script(instance) if self._keeps_image(instance) else keep_script(instance)
        dated = fill_date(kept, self.sources)
        lacking = self._find_lacking(dated)
        settled = self._choose_script(self._set_up(dated.model_copy(update={"lacking": lacking})))
        settled = self._ask_tree(settled)
        whole = settled.model_copy(update={"lacking": ()})
        with suppress(EnvironmentFailure):  # raised again, too
            return whole if lacking and self.builder.find_image(whole) else settled
        return settled

    def _choose_script(self, instance: Instance) -> Instance:
        """Return the instance without its row's script if a recipe is there, else with the commands that it may run."""
        from assay.instances.environments.recipes import has_recipe
        from assay.instances.environments.row_commands import MANAGERS
        from assay.instances.trees.facts import find_scripts
        from assay.instances.trees.sources import tree_ref

        if not isinstance(instance.environment, RowScript) or instance.environment.build:
            return instance
        if has_recipe(instance, self.planner.recipes):
            return instance.model_copy(update={"environment": None})
        row = instance.environment.model_copy(update={"scripts": {}})
        if any(name in row.eval_script for name in MANAGERS):
            self.builder.fetch_known(instance)
            with suppress(EnvironmentFailure):  # building the image raises it again
                row = row.model_copy(update={"scripts": find_scripts(tree_ref(instance), self.sources)})
        return instance.model_copy(update={"environment": row})

    def _ask_tree(self, instance: Instance) -> Instance:
        """Return the instance with what its recipe's variants ask of its tree; nothing if the tree cannot be had."""
        from assay.instances.environments.recipes import read_recipe
        from assay.instances.trees.facts import find_facts
        from assay.instances.trees.sources import tree_ref

        facts = None
        with suppress(EnvironmentFailure):  # building the image raises it again
            variants = read_recipe(instance, self.planner.recipes).variants
            if asked := [variant.where for variant in variants if variant.where]:
                self.builder.fetch_known(instance)
                facts = find_facts(asked, tree_ref(instance), self.sources)
        return instance.model_copy(update={"facts": facts})

    def plan(self, instance: Instance) -> TestPlan:
        return self.planner.plan(instance)

    def plan_files(self, instance: Instance, files: Sequence[str]) -> TestPlan:
        return self.planner.plan(instance, files)

    def aim(self, plan: TestPlan, instance: Instance) -> TestPlan:
        from assay.instances.environments.files_to_run import load_files_to_run
        from assay.instances.environments.lacking import check_lacking
        from assay.instances.environments.recipes import find_recipe
        from assay.instances.environments.row_commands import read_commands

        if isinstance(instance.environment, PublishedImage) or read_commands(instance):
            return plan
        self.builder.fetch_known(instance)
        recipe = find_recipe(instance, self.planner.recipes)
        check_lacking(instance, recipe)
        aimed = self.planner.plan(instance, load_files_to_run(instance, recipe, self.sources))
        return plan.model_copy(update={"command": aimed.command, "targets": aimed.targets})

    def assets(self, instance: Instance) -> Callable[[], Mapping[str, bytes]]:
        from assay.instances.trees.assets import Assets

        return Assets(instance.assets, self.sources)

    def image(self, instance: Instance, patch: str | None = None) -> AbstractContextManager[str]:
        return self.builder.image(instance, patch)

    def audit(self, instance: Instance) -> "ImageReport":
        return self.builder.audit(instance)

    def describe(self) -> dict[str, str]:
        return self.engine.describe()

    def hash_surroundings(self) -> str:
        """Hash the images of the engine, and the times of all files of the clones that are asked."""
        images = self.engine.hash_images()
        return f"{engine_edition(self.engine)} {images} {self.sources.hash_clones()}" if images else ""

    def reap(self) -> None:
        self.engine.reap()

    def abort(self) -> None:
        self.builder.abort()
        _abort_engine(self.engine)

    def _find_lacking(self, instance: Instance) -> tuple[str, ...]:
        from assay.instances.trees.sources import tree_ref

        if not isinstance(instance.environment, PublishedImage):
            with suppress(EnvironmentFailure):  # building the image raises it again
                return self.sources.find_lacking(tree_ref(instance))
        return ()

    def _set_up(self, instance: Instance) -> Instance:
        from assay.instances.environments.recipes import has_recipe
        from assay.instances.setup.row_build import complete_build

        instance = complete_build(instance, self.sources)
        if self.setter is None or has_recipe(instance, self.planner.recipes):
            return instance
        found = self.setter.find_recipe(instance.model_copy(update={"environment": None}))
        return instance.model_copy(update={"environment": found or instance.environment})

    def _keeps_image(self, instance: Instance) -> bool:
        if self.environment is EnvironmentChoice.AUTO and isinstance(instance.environment, PublishedImage):
            return self.engine.find_image(instance.environment.image) is not None
        return self.environment is EnvironmentChoice.PUBLISHED


@dataclass(frozen=True, slots=True)
class ActedWorkbench:
    """Plans instances for an engine that acts them out; see the Workbench Protocol for its methods."""

    engine: ActingEngine
    planner: Planner
    cluster: None = None

    def settle(self, instance: Instance) -> Instance:
        own = instance.environment if isinstance(instance.environment, Recipe) else None
        return instance.model_copy(update={"environment": own})

    def plan(self, instance: Instance) -> TestPlan:
        return self.plan_files(instance, None)

    def plan_files(self, instance: Instance, files: Sequence[str] | None) -> TestPlan:
        asked = instance.model_copy(update={"facts": ()})  # there is no tree to ask
        return self.planner.plan(asked, files).model_copy(update=ACTED_OUT)

    def aim(self, plan: TestPlan, instance: Instance) -> TestPlan:  # noqa: ARG002 - the Protocol names it
        return plan

    def assets(self, instance: Instance) -> Callable[[], Mapping[str, bytes]]:  # noqa: ARG002 - the Protocol names it
        return dict

    def image(self, instance: Instance, patch: str | None = None) -> AbstractContextManager[str]:  # noqa: ARG002 - the same
        return nullcontext(self.engine.act_out(instance))

    def describe(self) -> dict[str, str]:
        return self.engine.describe()

    def hash_surroundings(self) -> str:
        return f"{self.engine.name} {engine_edition(self.engine)}"  # nothing else is asked

    def reap(self) -> None:
        pass

    def abort(self) -> None:
        _abort_engine(self.engine)


def _abort_engine(engine: Engine) -> None:
    """End every box, and the waiting for cards."""
    if engine.cards is not None:
        engine.cards.end()
    engine.abort()


def make_sources(mirrors: Sequence[Path] = (), toolchains: "UserImages | None" = None) -> "Sources":
    from assay.instances.trees.sources import Sources

    return Sources(mirrors, toolchains=toolchains or {})


def keep_script(instance: Instance) -> Instance:
    """Return an instance with its row's script in place of the image that the script is for."""
    if isinstance(instance.environment, PublishedImage):
        script, build = instance.environment.eval_script, instance.environment.build
        kept = RowScript(eval_script=script, build=build) if script else None
        return instance.model_copy(update={"environment": kept})
    return instance
