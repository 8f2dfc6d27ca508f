"""The images below an instance's, each with its package lock and build files, as far as this machine knows them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.instances.environments.images_lock import Layer, UsedImage, make_lock
from assay.viewer.text import cut_lines, readable

LONGEST = 16 * 1024
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@-]{0,250}")


@dataclass(frozen=True, slots=True)
class ShownLayer:
    """One image of a chain."""

    name: str
    packages: str
    """Debian packages of a toolchain, in words; empty for other images."""
    files: tuple[tuple[str, str], ...]
    """Name and text of the Dockerfile and the build files; the package lock is one of them."""


def find_layers(image: str, cache: Path) -> tuple[ShownLayer, ...]:
    """Return the images that an image stands on, from the top; none if it was not built on this machine."""
    if not _IMAGE.fullmatch(image):
        return ()
    lock = make_lock({"": UsedImage(image=image)}, cache)
    return tuple(_show(layer, lock.texts) for layer in _walk_chain(image, lock.layers))


def _walk_chain(image: str, layers: Mapping[str, Layer]) -> Iterator[Layer]:
    """Yield a chain of images, then those of services."""
    left, name = dict(layers), image
    while name in left:
        layer = left.pop(name)
        yield layer
        name = layer.parent
    yield from left.values()


def _show(layer: Layer, texts: Mapping[str, str]) -> ShownLayer:
    files = {name: texts.get(key, "") for name, key in layer.files.items()}
    if layer.dockerfile:
        files["Dockerfile"] = layer.dockerfile
    base = layer.toolchain
    return ShownLayer(
        layer.name,
        f"{base.origin}: {', '.join(base.packages)}" if base else "",
        tuple((readable(name), _part(text)) for name, text in sorted(files.items())),
    )


def _part(text: str) -> str:
    shown = cut_lines(readable(text, LONGEST))
    return shown if len(text) <= LONGEST else f"{shown}\n\u2026 ({len(text) - LONGEST:,} more characters)"
