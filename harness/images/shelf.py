"""The images of an engine as several processes share them: fetched from a registry, held, and removed for others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay.harness.engines.base import Engine
from assay.harness.errors import EngineError
from assay.harness.images.eviction import format_size, select_evictions
from assay.harness.images.registry import ImageRegistry
from assay.harness.images.stock import Stocked, StockTaker
from assay.harness.images.uses import Uses


@dataclass(slots=True)
class Shelf:
    """The images of an engine; safe in several threads and processes."""

    engine: Engine
    uses: Uses
    registry: ImageRegistry | None = None
    """Asked for images that the engine lacks."""
    limit: int | None = None
    """Bytes that all images of Assay may take."""
    note: Callable[[str], None] = lambda _text: None
    built: list[str] = field(default_factory=list)
    """Images that this process built, and ``pulled`` from the registry."""
    pulled: list[str] = field(default_factory=list)
    unsent: int = 0
    """Images that could not be sent to the registry."""
    _taker: StockTaker = field(init=False)

    def __post_init__(self) -> None:
        self._taker = StockTaker(self.engine)

    def has(self, name: str) -> bool:
        """Return whether the engine has an image, perhaps after fetching it from the registry; raises EngineError."""
        if self.engine.find_image(name) is not None:
            return True
        if self.registry is None or not self.registry.pull(name):
            return False
        self.pulled.append(name)
        self.make_room()
        return True

    def record_built(self, name: str) -> None:
        """Note that an image was built: send it to the registry if that is wanted, and make room."""
        self.built.append(name)
        if self.limit is not None:
            self._drop_build_cache()
        self.send(lambda registry: registry.push(name))
        self.make_room()

    def send(self, what: Callable[[ImageRegistry], None]) -> None:
        """Send something to the registry if that is wanted; a failure is noted and does no harm here."""
        if self.registry and self.registry.pushes:
            try:
                what(self.registry)
            except EngineError as error:
                self.unsent += 1
                self.note(str(error))

    def make_room(self) -> None:
        """Remove unused images until the others fit into the limit; raises EngineError if those in use do not fit."""
        if self.limit is None:
            return
        stock = self._taker.take()
        if stock.size <= self.limit:
            return
        self.remove(
            select_evictions(stock, self.limit, self.uses.find_held(), lambda image: self.uses.last_used(image.info))
        )
        left = self._taker.take().size
        if left > self.limit:
            problem = f"the images in use take {format_size(left)}, and --disk allows {format_size(self.limit)}"
            raise EngineError(f"{problem}: allow more, or lower --jobs")

    def remove(self, images: Sequence[Stocked]) -> list[str]:
        """Remove images that are not in use, with what their builds left; return the names of the removed ones."""
        gone = []
        for image in images:
            try:
                if self.uses.remove(self.engine, image.info.name):
                    gone.append(image.info.name)
                    self.note(f"removed {image.info.name}")
            except EngineError as error:
                self.note(f"{image.info.name} stays: {error}")
        if gone:
            self._drop_build_cache()
        return gone

    def _drop_build_cache(self) -> None:
        """Drop what builds left beside images, which may take minutes, and say so before and after."""
        self.note("dropping the build cache")
        self.note(f"dropped {format_size(self.engine.drop_build_cache())} of the build cache")
