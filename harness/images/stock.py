"""The images that Assay made on an engine, with the bytes that each has alone, and the shared ones."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from assay.harness.engines.base import LABEL, Engine, ImageInfo, ImageLayer

KINDS = ("toolchain", "environment", "tree", "instance", "published", "grading", "agent")
"""The lowest layer first."""
READERS = 4  # images asked for at once


@dataclass(frozen=True, slots=True)
class Stocked:
    info: ImageInfo
    layers: tuple[ImageLayer, ...]

    @property
    def kind(self) -> str:
        """One of ``KINDS``, or whatever the label says."""
        return self.info.labels.get(f"{LABEL}.kind", "")

    @property
    def owner(self) -> str:
        """The repository that an image is of, or else its language."""
        return self.info.labels.get(f"{LABEL}.repo") or self.info.labels.get(f"{LABEL}.language", "")

    @property
    def size(self) -> int:
        return sum(layer.size for layer in self.layers)


@dataclass(frozen=True, slots=True)
class Stock:
    images: tuple[Stocked, ...]
    _users: Mapping[str, int] = field(default_factory=dict)
    """How many of the images have a layer, by its id."""

    @property
    def size(self) -> int:
        """Bytes of all images; a layer that several share counts once."""
        return count_bytes(self.images)

    def unique(self, images: Collection[Stocked]) -> int:
        """Count the bytes that these images have and no other has: what removing all of them frees."""
        mine = Counter(layer for image in images for layer in image.layers)
        return sum(layer.size for layer, count in mine.items() if count == self._users[layer.id])

    def without(self, name: str) -> "Stock":
        return make_stock(image for image in self.images if image.info.name != name)


def count_bytes(images: Iterable[Stocked]) -> int:
    """Count the bytes of some images; a layer that several share counts once."""
    return sum({layer.id: layer.size for image in images for layer in image.layers}.values())


def make_stock(images: Iterable[Stocked]) -> Stock:
    """Sort images by kind from the lowest, then by repository and name."""
    kinds = {kind: number for number, kind in enumerate(KINDS)}
    rows = sorted(images, key=lambda row: (kinds.get(row.kind, len(kinds)), row.owner.lower(), row.info.name))
    return Stock(tuple(rows), Counter(layer.id for row in rows for layer in row.layers))


class StockTaker:
    """Takes stock of an engine, and remembers the layers of images: they never change."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._layers: dict[str, tuple[ImageLayer, ...]] = {}

    def take(self) -> Stock:
        infos = self._engine.list_images()
        new = {info.digest: info.name for info in infos if info.digest not in self._layers}
        with ThreadPoolExecutor(READERS) as pool:
            found = zip(new, pool.map(self._engine.layers, new.values()), strict=True)
            self._layers |= {digest: layers for digest, layers in found if layers}
        return make_stock(Stocked(info, self._layers.get(info.digest, ())) for info in infos)
