"""Locks of environments, as every front door makes, checks and builds them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from assay.harness.domain import Instance
from assay.harness.errors import EngineError, EnvironmentFailure, UserError
from assay.harness.files import default_cache
from assay.instances.environments.contents import find_language, read_contents
from assay.instances.environments.drift import LayerState, LayerStatus, compare_layer, drop_inherited
from assay.instances.environments.images_lock import NOTE, Layer, Lock, UsedImage, add_contents, keep_lock, make_lock
from assay.instances.environments.rebuild import make_rebuild_chain
from assay.jobs.build import Images, list_patches
from assay.jobs.workplace import Workplace

if TYPE_CHECKING:
    from assay.harness.engines import Engine

Item = TypeVar("Item")
Result = TypeVar("Result")
Counted = Callable[[int, str], AbstractContextManager[Callable[[], None]]]
"""Shows progress: takes a number of items and a title; what it opens is called for each item that is done."""


@dataclass(frozen=True, slots=True)
class Locked:
    """A lock, and the instances that it lacks, each with the reason."""

    lock: Lock
    problems: Mapping[str, str]


def lock_instances(instances: Sequence[Instance], place: Workplace, counted: Counted) -> Locked:
    """Lock the environments of instances, built if need be; raises RunStopped, or EnvironmentFailure."""
    bench = place.bench
    own: dict[str, UsedImage] = {}
    grading: dict[str, tuple[UsedImage, ...]] = {}

    def build(instance: Instance) -> str:
        settled = bench.settle(instance)
        mine, *others = dict.fromkeys(_use_image(place, settled, patch) for patch in list_patches(settled))
        own[instance.id] = mine
        if others:
            grading[instance.id] = tuple(others)
        return mine.image

    done = Images(place).each(instances, "building", build)
    lock = _describe_layers(make_lock(own, default_cache(), grading), bench.engine, place.jobs, counted)
    made = datetime.now(UTC).replace(microsecond=0).isoformat()
    return Locked(lock.model_copy(update={"made": made}), {each.instance_id: each.error for each in done if each.error})


def check_images(
    lock: Lock, engine: "Engine", jobs: int, counted: Counted, *, exact: bool = False
) -> tuple[LayerState, ...]:
    """Compare all images of a lock with those of an engine, ``jobs`` at once; parents before children.

    With ``exact``, an image with another digest differs, even if it holds the same. Raises EnvironmentFailure for an
    image that cannot be looked into.
    """

    def state(layer: Layer) -> LayerState:
        return compare_layer(layer, lock, engine, lambda one: _read_layer(one, lock, engine), exact=exact)

    return drop_inherited(_each(state, _sort_layers(lock), jobs, counted, "checking"), lock)


def rebuild(lock: Lock, place: Workplace, counted: Counted) -> dict[str, str]:
    """Build what an engine lacks of a lock's images, and return each instance's problem or ""; raises UserError."""
    images = place.images
    if images is None:
        raise UserError(f"engine {place.engine} builds no images")
    keep_lock(lock, default_cache())

    def build(name: str) -> str:
        try:
            for used in lock.list_used(name):
                if used.image not in lock.layers:
                    return f"the lock has nothing of {used.image} but its name"
                images.builder.rebuild(make_rebuild_chain(lock, used.image))
                if used.key:
                    images.builder.known.keep(used.key, used.image)
        except (EnvironmentFailure, EngineError) as error:
            return str(error)
        return ""

    return dict(zip(lock.instances, _each(build, lock.instances, place.jobs, counted, "building"), strict=True))


def select(lock: Lock, ids: Sequence[str]) -> Lock:
    """Return a lock with some of its instances and their images; raises UserError for one that it lacks."""
    for name in ids:
        if name not in lock.instances:
            raise UserError(f"the lock has no instance {name}")
    chosen = dict.fromkeys(ids or lock.instances)
    own = {name: lock.instances[name] for name in chosen}
    grading = {name: lock.grading[name] for name in chosen if name in lock.grading}
    some = lock.model_copy(update={"instances": own, "grading": grading})
    layers = {layer.name: layer for used in some.used for layer in lock.chain(used.image)}
    return some.model_copy(update={"layers": layers})


def list_notes(lock: Lock) -> Iterator[str]:
    """Yield a line for each image that is not as of its instances' date, or was not on the engine."""
    for layer in lock.layers.values():
        if not layer.digest:
            yield f"{layer.name}: is not on the engine, so the lock has its build files but not what it holds"
        if layer.fetches and NOTE in layer.contents:
            yield f"{layer.name}: {lock.texts[layer.contents[NOTE]].strip()}"


def is_as_locked(states: Iterable[LayerState]) -> bool:
    return not any(state.status in {LayerStatus.MISSING, LayerStatus.DIFFERS} for state in states)


def _use_image(place: Workplace, instance: Instance, patch: str | None) -> UsedImage:
    with place.bench.image(instance, patch) as image:
        info = place.bench.engine.find_image(image)
        key = place.images.builder.make_key(instance, patch) if place.images else ""
        return UsedImage(image=image, digest=info.digest if info else "", key=key)


def _describe_layers(lock: Lock, engine: "Engine", jobs: int, counted: Counted) -> Lock:

    def describe(layer: Layer) -> tuple[str, Mapping[str, str]]:
        info = engine.find_image(layer.name)
        return (info.digest, _read_layer(layer, lock, engine)) if info else ("", {})

    found = _each(describe, lock.layers.values(), jobs, counted, "reading images")
    held = dict(zip(lock.layers, found, strict=True))
    return add_contents(lock, held)


def _read_layer(layer: Layer, lock: Lock, engine: "Engine") -> dict[str, str]:
    return read_contents(engine, layer.name, find_language(layer, lock))


def _sort_layers(lock: Lock) -> list[Layer]:
    """Return all images of a lock, parents before children; of some it has nothing but name and digest."""
    named = {each.image: Layer(name=each.image, below=each.digest) for each in lock.used}
    described = {layer.name: layer for name in lock.layers for layer in lock.chain(name)}
    return [*described.values(), *(layer for name, layer in named.items() if name not in described)]


def _each(
    do: Callable[[Item], Result], items: Collection[Item], jobs: int, counted: Counted, title: str
) -> list[Result]:
    with counted(len(items), title) as tick, ThreadPoolExecutor(jobs) as pool:

        def do_one(item: Item) -> Result:
            try:
                return do(item)
            finally:
                tick()

        return list(pool.map(do_one, items))
