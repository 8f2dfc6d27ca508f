"""Makes single images: finds each by name, in the engine or a registry, and builds it if it is nowhere."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from assay.harness.domain import ImageSpec
from assay.harness.engines.base import Engine, ImageInfo
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.images.shelf import Shelf
from assay.instances.environments.build_context import write_context
from assay.instances.toolchains.ensure import Make, SharedFailures, ensure
from assay.instances.toolchains.host import write_secrets
from assay.instances.toolchains.images import Toolchain
from assay.instances.toolchains.make import make_toolchain
from assay.instances.trees.sources import Sources


class LayerMaker:
    """Makes images; safe to use from several threads and processes on one cache.

    What fails is not tried again: all who share an image share its failure.
    """

    def __init__(self, engine: Engine, sources: Sources, shelf: Shelf, note: Callable[[str], None]) -> None:
        """Create a maker; it starts nothing.

        Args:
            engine: where images are looked up and built.
            sources: of repository trees; its cache also keeps logs.
            shelf: where images are found.
            note: called with one line before and after every slow step.
        """
        self.engine, self.sources, self.shelf, self.note = engine, sources, shelf, note
        self.failures = SharedFailures()
        self._aborted = threading.Event()

    @property
    def is_aborted(self) -> bool:
        """Whether no further step is started."""
        return self._aborted.is_set()

    def abort(self) -> None:
        """Start no further step; calls that need one raise EnvironmentFailure."""
        self._aborted.set()

    def begin(self, what: str, place: str = "") -> None:
        """Note that a step begins, with its place among others; raises EnvironmentFailure after ``abort``."""
        if self.is_aborted:
            raise EnvironmentFailure(f"interrupted before {what}")
        self.note(f"{what}{place}")

    def pulled(self, name: str) -> ImageInfo:
        """Return an image of other origin after pulling it if need be; raises EnvironmentFailure."""
        found = self.engine.find_image(name)
        if found is None:
            self.note(f"pulling {name}")
            try:
                found = self.engine.pull(name)
            except ImageMissing as error:
                raise EnvironmentFailure(str(error)) from error
        return found

    def toolchain(self, base: Toolchain) -> None:
        """Make a toolchain, unless it is somebody's image; raises EnvironmentFailure."""
        if base.is_made:
            self._ensure(base.name, partial(make_toolchain, base, self.engine))

    def layer(self, spec: ImageSpec, place: str = "") -> None:
        """Make an image over its parent; ``place`` is noted beside its name. Raises EnvironmentFailure."""
        self._ensure(spec.name, partial(self._build, spec), place)

    def chain(self, base: Toolchain, specs: Sequence[ImageSpec]) -> None:
        """Make a toolchain and the images over it, from the lowest up; raises EnvironmentFailure."""
        self.toolchain(base)
        for number, spec in enumerate(specs, 2):  # the toolchain is the first
            self.layer(spec, f" (layer {number} of {len(specs) + 1})")

    def _ensure(self, name: str, make: Make, place: str = "") -> None:
        if not self.shelf.has(name):
            self.shelf.make_room()
            note = partial(self.begin, place=place)
            if ensure(name, self.engine, self.sources.cache, make, note, self.failures):
                self.shelf.added(name)

    def _build(self, spec: ImageSpec, scratch: Path, log: Path) -> None:
        context = scratch / "context"
        write_context(spec, self.sources, context)
        secrets = write_secrets(scratch) if spec.fetches else {}
        self.engine.build(spec.name, context, log, secrets=secrets, labels=spec.labels)
