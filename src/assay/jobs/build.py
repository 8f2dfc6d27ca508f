"""The images of a data set, built ahead of time or fetched; as every front door does it."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from assay.harness.domain import Instance
from assay.harness.errors import UserError
from assay.harness.runs.each import Done, do_for_each
from assay.jobs.workbench import BuiltWorkbench
from assay.jobs.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Built:
    done: tuple[Done, ...]
    built: tuple[str, ...] = ()
    """Images that were built, each once."""
    pulled: tuple[str, ...] = ()
    """Images that came from the registry."""
    seconds: float = 0.0

    @property
    def failed(self) -> tuple[Done, ...]:
        return tuple(each for each in self.done if each.error)


def list_patches(instance: Instance) -> tuple[str | None, ...]:
    """Return patches that together need all images of an instance: none, an empty one, and one of manifests."""
    return (None, "", instance.gold_patch)


@dataclass(frozen=True, slots=True)
class Images:
    """The images of instances at one workplace."""

    place: Workplace = field(default_factory=Workplace)

    @property
    def bench(self) -> BuiltWorkbench:
        """The open workbench; raises UserError if its engine has no images, EngineUnavailable if none answers."""
        if self.place.images is None:
            name = self.place.bench.engine.name
            raise UserError(f"the engine {name} has no images to move; name one with containers")
        return self.place.images

    def build(self, instances: Sequence[Instance]) -> Built:
        """Build images of instances and gold patches, even if some fail. Raises RunStopped, EngineUnavailable."""
        bench = self.place.bench
        began = time.monotonic()

        def build(instance: Instance) -> str:
            settled = bench.settle(instance)
            if self.place.push:  # what it reads of the tree is sent, too
                bench.aim(bench.plan(settled), settled)
            with ExitStack() as held:
                own, *_ = [held.enter_context(bench.image(settled, patch)) for patch in list_patches(settled)]
                return own

        done = self.each(instances, "building", build)
        images = self.place.images
        built, pulled = (images.builder.shelf.built, images.builder.shelf.pulled) if images else ([], [])
        return Built(tuple(done), tuple(built), tuple(pulled), time.monotonic() - began)

    def each(self, instances: Sequence[Instance], verb: str, do: Callable[[Instance], str]) -> list[Done]:
        with self.place.view.doing(len(instances), verb) as progress:
            return do_for_each(instances, do, self.place.jobs, progress, abort=self.place.bench.abort)
