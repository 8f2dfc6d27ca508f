"""The images of a data set on their way: into one file or a registry and out again, as every front door does it."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay.harness.domain import Instance
from assay.harness.engines import oci_layout as layout
from assay.harness.engines.oci_layout import ArchivedImage
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EngineError, EnvironmentFailure, UserError
from assay.harness.images.oci.reading import ArchiveReader, open_archive
from assay.harness.images.oci.writing import ArchiveWriter
from assay.harness.images.registry import ImageRegistry, parse_prefix
from assay.harness.runs.each import Done
from assay.jobs.build import Images, list_patches
from assay.version import __version__

if TYPE_CHECKING:
    from assay.jobs.workbench import BuiltWorkbench

Item = TypeVar("Item")
BATCH = 4 * 10**9
"""Bytes of layers that an engine packs or unpacks at once: it needs as much room beside the images."""


@dataclass(frozen=True, slots=True)
class Shipped:
    done: tuple[Done, ...] = ()
    """One of each instance, in their order; none where a file names the images."""
    images: tuple[str, ...] = ()
    """Images in the file, or on this engine now."""
    moved: tuple[str, ...] = ()
    size: int = 0
    """Bytes of the file."""
    seconds: float = 0.0

    @property
    def failed(self) -> tuple[Done, ...]:
        return tuple(each for each in self.done if each.error)


@dataclass(frozen=True, slots=True)
class Shipping:
    """Moves images to and from the engine of a workplace."""

    images: Images = field(default_factory=Images)

    def export(self, instances: Sequence[Instance], file: Path) -> Shipped:
        """Write the images of instances into one file, building missing ones.

        A call that was interrupted continues where it stopped. Instances whose image cannot be built are left out.

        Raises:
            UserError: the file is a folder. RunStopped: a signal ended it. EngineError: the engine failed.
            OSError: the file cannot be written.
        """
        if file.is_dir():
            raise UserError(f"{file} is a folder; name a file in it")
        began, bench = time.monotonic(), self.images.bench
        with ExitStack() as held:
            names: dict[str, None] = {}

            def build(instance: Instance) -> str:
                settled = _read_tree_files(bench, instance)
                made = [held.enter_context(bench.image(settled, patch)) for patch in list_patches(instance)]
                names.update(dict.fromkeys(made))
                return made[0]

            done = self.images.each(instances, "building", build)
            ready = [each for each, one in zip(instances, done, strict=True) if not one.error]
            if not ready:
                return Shipped(tuple(done), seconds=time.monotonic() - began)
            wanted = _all_images(bench, sorted(names))
            with ArchiveWriter(file) as writer:
                moved = self._save(bench, wanted, writer)
                cache = pack_tar(_cache_files(bench, ready))
                writer.finish(wanted, cache, {layout.ASSAY_VERSION: __version__})
        return Shipped(tuple(done), tuple(wanted), tuple(moved), file.stat().st_size, time.monotonic() - began)

    def load(self, file: Path) -> Shipped:
        """Add the images of a file to the engine, after checking every byte; raises Damaged, EngineError, OSError."""
        from assay.instances.environments.known_images import read_tar_files

        began, bench = time.monotonic(), self.images.bench
        with open_archive(file) as archive:
            self._check(archive)
            images, cache = archive.contents.images, archive.contents.cache
            files = read_tar_files(archive.read(cache)) if cache else {}
            missing = [each for each in images if not _is_there(bench, each)]
            done = 0
            with bench.builder.shelf.uses.hold() as hold:
                hold.add(*(each.name for each in images))
                for batch in _batches(missing, lambda each: {layer.digest: layer.size for layer in each.layers}):
                    done += len(batch)
                    bench.engine.load(
                        self._show_bytes(archive.stream_images(batch), f"loading image {done} of {len(missing)}")
                    )
            lost = [each.name for each in missing if bench.engine.find_image(each.name) is None]
        if lost:
            raise EngineError(f"the engine took the archive, but does not have {lost[0]}")
        bench.builder.known.adopt(files)
        names, moved = (tuple(each.name for each in some) for some in (images, missing))
        return Shipped((), names, moved, file.stat().st_size, time.monotonic() - began)

    def push(self, instances: Sequence[Instance], prefix: str) -> Shipped:
        """Send images of instances to a registry, each once, building missing ones; raises UserError, RunStopped."""
        began, bench = time.monotonic(), self.images.bench
        registry = self._registry(bench, prefix)
        once, names = _Once(registry.push), dict[str, str]()
        sent = set[str]()

        def send_files(key: str, files: Mapping[str, bytes]) -> None:
            from assay.instances.environments.known_images import send_known

            if key not in sent:
                send_known(registry, key, files)
                sent.add(key)

        def push(instance: Instance) -> str:
            settled = _read_tree_files(bench, instance)
            for patch in list_patches(instance):
                with bench.image(settled, patch) as image:
                    for name in _all_images(bench, [image]):
                        once(name)
                files = bench.builder.read_files(settled, patch)
                keys = {bench.builder.make_key(each, patch) for each in (settled, instance)}  # also before its date
                for key in keys:
                    send_files(key, files)
                names[instance.id] = names.get(instance.id) or image
            return names[instance.id]

        done = self.images.each(instances, "pushing", push)
        return Shipped(tuple(done), tuple(once.done), tuple(once.done), seconds=time.monotonic() - began)

    def pull(self, instances: Sequence[Instance], prefix: str) -> Shipped:
        """Fetch the images of instances from a registry; builds nothing. Raises UserError, or RunStopped."""
        began, bench = time.monotonic(), self.images.bench
        bench.builder.shelf.registry = registry = self._registry(bench, prefix)

        def pull(instance: Instance) -> str:
            settled = bench.settle(instance)
            names = [bench.builder.find_image(settled, patch) for patch in list_patches(instance)]
            if not all(names):
                raise EnvironmentFailure(
                    f"{registry.prefix} has no image of {instance.id} as this version of Assay makes it; push it first"
                )
            return names[0]

        done = self.images.each(instances, "pulling", pull)
        names = tuple(dict.fromkeys(one.result for one in done if one.result))
        return Shipped(tuple(done), names, tuple(bench.builder.shelf.pulled), seconds=time.monotonic() - began)

    def _registry(self, bench: "BuiltWorkbench", prefix: str) -> ImageRegistry:
        locks = bench.sources.cache / "moving"
        return ImageRegistry(bench.engine, locks, parse_prefix(prefix), note=self.images.place.view.note)

    def _save(self, bench: "BuiltWorkbench", names: Sequence[str], writer: ArchiveWriter) -> list[str]:
        """Add the images that a file lacks, in batches that the engine has room to pack; return their names."""
        infos = {name: bench.engine.find_image(name) for name in names}
        missing = [name for name in names if writer.images.get(name) != getattr(infos[name], "digest", "")]
        layers = {name: {layer.id: layer.size for layer in bench.engine.layers(name)} for name in missing}
        done = 0
        for batch in _batches(missing, layers.__getitem__):
            done += len(batch)
            with bench.engine.save(batch) as saved:
                writer.add(self._show_bytes(saved, f"packing image {done} of {len(missing)}"))
        return missing

    def _check(self, archive: ArchiveReader) -> None:
        blobs = archive.blobs(archive.contents.images)
        note, total, done = self.images.place.view.note, sum(blob.size for blob in blobs), 0
        said = 0.0

        def show(size: int) -> None:
            nonlocal done, said
            done += size
            if time.monotonic() - said > self.images.place.view.every:
                said = time.monotonic()
                note(f"checking: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

        archive.check(show)

    def _show_bytes(self, chunks: Iterable[bytes], what: str) -> Iterator[bytes]:
        """Yield chunks, and say every now and then how many bytes there were."""
        view, said, done = self.images.place.view, 0.0, 0
        for chunk in chunks:
            done += len(chunk)
            if time.monotonic() - said > view.every:
                said = time.monotonic()
                view.note(f"{what}: {done / 1e6:.0f} MB")
            yield chunk


def _cache_files(bench: "BuiltWorkbench", instances: Sequence[Instance]) -> dict[str, bytes]:
    """Return the files that another machine's cache needs to evaluate instances, by path."""
    found: dict[str, bytes] = {}
    for instance in instances:
        for patch in list_patches(instance):
            found |= bench.builder.read_files(bench.settle(instance), patch)
    return dict(sorted(found.items()))


def _read_tree_files(bench: "BuiltWorkbench", instance: Instance) -> Instance:
    """Return an instance as it is evaluated, after keeping what its evaluation reads of its repository."""
    settled = bench.settle(instance)
    bench.aim(bench.plan(settled), settled)
    bench.assets(settled)()
    return settled


def _all_images(bench: "BuiltWorkbench", images: Sequence[str]) -> list[str]:
    """Return images with all that is below them and beside them on the engine, the lowest first, each once."""
    known = bench.builder.known
    names = dict.fromkeys(layer.name for image in images for layer in reversed(known.read_layers(image)))
    return [name for name in names if bench.engine.find_image(name) is not None]


def _is_there(bench: "BuiltWorkbench", image: ArchivedImage) -> bool:
    found = bench.engine.find_image(image.name)
    return found is not None and found.digest in {image.digest, f"sha256:{image.manifest.digest}"}


def _batches(items: Sequence[Item], layers_of: Callable[[Item], Mapping[str, int]]) -> Iterator[list[Item]]:
    """Yield items whose layers together, each once, have at most BATCH bytes, or one item alone."""
    batch: list[Item] = []
    layers: dict[str, int] = {}
    for item in items:
        layers |= layers_of(item)
        if batch and sum(layers.values()) > BATCH:
            yield batch
            batch, layers = [], dict(layers_of(item))
        batch.append(item)
    if batch:
        yield batch


class _Once:
    """Calls a function once for each name, whichever thread comes first; the others wait."""

    def __init__(self, function: Callable[[str], None]) -> None:
        self.done: dict[str, None] = {}
        self._function = function
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._guard = threading.Lock()

    def __call__(self, name: str) -> None:
        with self._guard:
            lock = self._locks[name]
        with lock:
            if name not in self.done:
                self._function(name)
                self.done[name] = None
