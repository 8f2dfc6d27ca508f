"""Compares the images of a lock with those of an engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from assay.harness.domain import Model
from assay.harness.engines.base import LABEL, Engine
from assay.instances.environments.images_lock import LOCKED, Layer, Lock

Read = Callable[[Layer], Mapping[str, str]]
"""Lists the content of a layer's image on the engine: name to text."""
REBUILT = f"{LABEL}.lock"  # label of an image that was built from a lock


class LayerStatus(StrEnum):
    """How an image on an engine compares with the lock."""

    SAME = "same"
    """The very image that was locked."""
    REBUILT = "rebuilt"
    """Another build, with the same labels, packages and commit."""
    DIFFERS = "differs"
    MISSING = "missing"


class LayerState(Model):
    image: str
    status: LayerStatus
    differences: tuple[str, ...] = ()


def compare_layer(layer: Layer, lock: Lock, engine: Engine, read: Read, *, exact: bool = False) -> LayerState:
    """Compare one image with its layer of a lock.

    ``read`` is called only if the image has another digest; with ``exact``, another digest alone is a difference.
    """
    info = engine.find_image(layer.name)
    if info is None:
        return LayerState(image=layer.name, status=LayerStatus.MISSING)
    locked = layer.digest or ("" if layer.dockerfile or layer.toolchain else layer.below)
    if locked and info.digest == locked:
        return LayerState(image=layer.name, status=LayerStatus.SAME)
    found = list(_compare_labels(_inherit_labels(layer, lock), info.labels))
    if exact or not (layer.dockerfile or layer.toolchain):
        found.append(f"its digest is {info.digest}, locked is {locked or 'none'}")
    found += _compare_contents(lock.get_texts(layer.contents), read(layer)) if layer.contents else []
    status = LayerStatus.DIFFERS if found else LayerStatus.REBUILT
    return LayerState(image=layer.name, status=status, differences=tuple(found))


def drop_inherited(states: Iterable[LayerState], lock: Lock) -> tuple[LayerState, ...]:
    """Return the states with each difference only at the lowest image that has it; parents come before children."""
    shown: dict[str, LayerState] = {}
    inherited: dict[str, set[str]] = {}
    for state in states:
        layer = lock.layers.get(state.image)
        below = inherited.get(layer.parent, set()) if layer else set()
        inherited[state.image] = below | {*state.differences}
        own = tuple(each for each in state.differences if each not in below)
        shown[state.image] = state.model_copy(update={"differences": own})
    return tuple(shown.values())


def _inherit_labels(layer: Layer, lock: Lock) -> dict[str, str]:
    """Return an image's labels, to which those of its parent belong as far as it has no others."""
    parent = lock.layers.get(layer.parent)
    return (_inherit_labels(parent, lock) if parent and layer.dockerfile else {}) | layer.labels


def _compare_labels(locked: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    own = {name for name in now if name.startswith(f"{LABEL}.")}
    for name in sorted({*locked, *own} - {REBUILT}):
        if locked.get(name) != now.get(name):
            yield f"its label {name} is {now.get(name, '')!r}, locked is {locked.get(name, '')!r}"


def _compare_contents(locked: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*locked, *now}):
        before, after = locked.get(name, ""), now.get(name, "")
        if name.startswith(f"{LOCKED}/") and before != after:
            yield f"{name} is another text"
        elif before != after:
            yield from _lines(name, _group_by_first_word(before), _group_by_first_word(after))


def _lines(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            yield f"{name}: {key} is {after.get(key) or 'missing'}, locked is {before.get(key) or 'nothing'}"


def _group_by_first_word(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found
