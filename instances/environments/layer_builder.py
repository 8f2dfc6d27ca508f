"""Builds single images: finds each by name, on the engine or in a registry, and builds it if it is nowhere."""

import threading
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import ImageSpec
from assay.harness.engines.base import BoxSpec, Engine, ImageInfo
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.files import replace_file
from assay.harness.images.shelf import Shelf
from assay.instances.environments.build_context import write_context
from assay.instances.toolchains.ensure import SharedFailures, ensure
from assay.instances.toolchains.host import write_secrets
from assay.instances.toolchains.images import Toolchain
from assay.instances.toolchains.make import make_toolchain
from assay.instances.trees.sources import Sources

LONGEST = 1024 * 1024  # bytes of a script that an image holds


class LayerBuilder:
    """Builds images; safe to use from several threads and processes on one cache.

    What fails is not tried again: all who share an image share its failure.
    """

    def __init__(self, engine: Engine, sources: Sources, shelf: Shelf, note: Callable[[str], None]) -> None:
        self.engine, self.sources, self.shelf, self.note = engine, sources, shelf, note
        self.failures = SharedFailures()
        self._aborted = threading.Event()

    @property
    def is_aborted(self) -> bool:
        return self._aborted.is_set()

    def abort(self) -> None:
        """Start no further step; calls that need one raise EnvironmentFailure."""
        self._aborted.set()

    def begin(self, step: str) -> None:
        """Note that a step begins; raises EnvironmentFailure after ``abort``."""
        if self.is_aborted:
            raise EnvironmentFailure(f"interrupted before {step}")
        self.note(step)

    def pull(self, name: str) -> ImageInfo:
        """Return an image of other origin after pulling it if need be; raises EnvironmentFailure."""
        info = self.engine.find_image(name)
        if info is None:
            self.note(f"pulling {name}")
            try:
                info = self.engine.pull(name)
            except ImageMissing as error:
                raise EnvironmentFailure(str(error)) from error
            self.note(f"pulled {name}")
        return info

    def read_file(self, image: str, path: str) -> str:
        """Return a file of an image of other origin, pulled if need be and read once; raises EnvironmentFailure."""
        info = self.pull(image)
        kept = self.sources.cache / "scripts" / sha256(f"{info.digest} {path}".encode()).hexdigest()[:32]
        if not kept.is_file():
            with self.engine.open(BoxSpec(image)) as box:
                files = box.get(path, LONGEST)
            if not files:
                raise EnvironmentFailure(f"{image} has no {path}, with which its tests are run")
            replace_file(kept, next(iter(files.values())))
        return kept.read_text("utf-8", errors="replace")

    def build_chain(self, base: Toolchain, chains: Sequence[Sequence[ImageSpec]]) -> Sequence[ImageSpec]:
        """Build a toolchain and, over it, the first of some chains of images that can be built; return that chain.

        A chain over the trees of neighbours can fail: an older tree may not go with the packages of a newer one. Raises
        EnvironmentFailure if the last chain fails, or the image below all of them.
        """
        self.build(base)
        for specs in chains:
            try:
                for number, spec in enumerate(specs, 2):  # the toolchain is the first
                    self.build(spec, f" (layer {number} of {len(specs) + 1})")
            except EnvironmentFailure as error:
                if specs is chains[-1] or self.is_aborted or specs[0].name in self.failures:
                    raise
                self.note(f"{specs[-1].name} cannot share the trees of its neighbours: {error}")
            else:
                return specs
        raise AssertionError  # the last chain is built, or raises

    def build(self, image: Toolchain | ImageSpec, place: str = "") -> None:
        """Build a toolchain, unless it is somebody's image, or an image over its parent; ``place`` is for the notes.

        Nothing happens if the engine or the registry has it. Raises EnvironmentFailure, also after ``abort``.
        """

        def make(scratch: Path, log: Path) -> None:
            if isinstance(image, Toolchain):
                make_toolchain(image, self.engine, scratch, log)
                return
            write_context(image, self.sources, scratch / "context")
            secrets = write_secrets(scratch) if image.fetches else {}
            self.engine.build(image.name, scratch / "context", log, secrets=secrets, labels=image.labels)

        if (isinstance(image, Toolchain) and not image.is_made) or self.shelf.has(image.name):
            return
        self.shelf.make_room()
        cache, note = self.sources.cache, lambda line: self.begin(f"{line}{place}")
        if ensure(image.name, self.engine, cache, make, note, self.failures):
            self.shelf.record_built(image.name)
