"""The content of ``images.lock``: each image of a run down to its toolchain, with locks and build files.

Whenever an image's content is worked out, it is kept in the cache under the image's name. That name ends in a hash of
the content, so a lock can be checked without the machine that made it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from pydantic import Field, ValidationError

from assay.harness.domain import ImageSpec, Model, TreeRef
from assay.harness.engines.base import SERVICE_LABEL
from assay.harness.errors import DataError
from assay.harness.files import read_model, replace_file
from assay.instances.environments.image_specs import content_hash
from assay.instances.toolchains.images import Toolchain
from assay.instances.trees.sources import tree_key

LOCKED = "locked"
"""Folder of an image's contents, and then of a build context, with the files by which a language's client fetches the
same packages again."""
NOTE = f"{LOCKED}/note"
"""Name of the sentence in an image's contents about packages that are not as of the date."""
DEBIAN = "debian"
"""Name of the list of Debian packages in a layer's contents; a line has package and version."""


class Layer(Model):
    """One image as content; for a toolchain, the packages or the image that it was made from."""

    name: str
    parent: str = ""
    below: str = ""
    """Stands for the parent's content in the hash; a toolchain's own identity."""
    dockerfile: str = ""
    files: dict[str, str] = Field(default_factory=dict)
    """Build files, path to text (in a Lock: to the hash of the text); the package lock is one of them."""
    unnamed: dict[str, str] = Field(default_factory=dict)
    """Build files that do not count for the name."""
    tree: TreeRef | None = None
    """The tree that went into the build."""
    over: TreeRef | None = None
    """The tree that the parent holds already."""
    fetches: bool = False
    """Whether the build reached package indexes."""
    labels: dict[str, str] = Field(default_factory=dict)
    toolchain: Toolchain | None = None
    """Source of a toolchain; None for other images, such as one that the user named."""
    digest: str = ""
    """The engine's digest of the image; another build of the same content has another one."""
    contents: dict[str, str] = Field(default_factory=dict)
    """Lists of what the image holds, name to text as in ``files``: Debian packages, the language's packages, the
    commit, and the files of the folder ``LOCKED``."""

    @property
    def services(self) -> tuple[str, ...]:
        return tuple(image for label, image in self.labels.items() if label.startswith(SERVICE_LABEL))


class UsedImage(Model):
    image: str
    digest: str = ""
    key: str = ""
    """Stands for the instance, its recipe and settings: an evaluation with the same ones finds the image by it."""

    @property
    def has_valid_key(self) -> bool:
        """Whether the key, which becomes the name of a file, is a hash or empty."""
        return re.fullmatch("[0-9a-f]*", self.key) is not None


class Lock(Model):
    """Environments by instance, and all that they are made of; the content of ``images.lock``."""

    made: str = ""
    """Time of the lock, as ISO text in UTC; empty in a bundle, whose bytes do not depend on the day."""
    instances: dict[str, UsedImage] = Field(default_factory=dict)
    grading: dict[str, tuple[UsedImage, ...]] = Field(default_factory=dict)
    """Images for patches, by instance, where the test patch or they themselves change manifests."""
    layers: dict[str, Layer] = Field(default_factory=dict)
    texts: dict[str, str] = Field(default_factory=dict)
    """The build files, by their SHA-256."""

    @property
    def used(self) -> tuple[UsedImage, ...]:
        return tuple(image for name in {**self.instances, **self.grading} for image in self.list_used(name))

    @property
    def undescribed(self) -> tuple[str, ...]:
        """Images whose name alone is known, such as an engine's without containers."""
        return tuple(sorted({each.image for each in self.used} - self.layers.keys()))

    def list_used(self, instance_id: str) -> tuple[UsedImage, ...]:
        """Return the images in which an instance is tested, its own first."""
        own = (self.instances[instance_id],) if instance_id in self.instances else ()
        return (*own, *self.grading.get(instance_id, ()))

    def chain(self, name: str) -> tuple[Layer, ...]:
        """Return the layers of an image, each after all that it needs: its parent's chain and its services'."""
        ordered: dict[str, Layer] = {}
        self._add_chain(name, ordered, ())
        return tuple(ordered.values())

    def get_texts(self, files: Mapping[str, str]) -> dict[str, str]:
        return {name: self.texts[key] for name, key in files.items()}

    def _add_chain(self, name: str, ordered: dict[str, Layer], above: tuple[str, ...]) -> None:
        layer = self.layers.get(name)
        if layer is None or name in ordered or name in above:
            return
        for below in (layer.parent, *layer.services):
            self._add_chain(below, ordered, (*above, name))
        ordered[name] = layer


def read_lock(path: Path) -> Lock:
    """Read a lock from a file; raises DataError that names the first problem."""
    remedy = "make it again with: assay images lock"
    try:
        lock = Lock.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(f"is no lock of this version of Assay: {first['msg']}", file=str(path), field=field) from error
    if not lock.instances:
        raise DataError(f"has no instance; {remedy}", file=str(path), field="instances")
    for problem in check_lock(lock):
        raise DataError(f"{problem}; {remedy}", file=str(path))
    return lock


def keep_layer(spec: ImageSpec, cache: Path) -> None:
    _keep(
        Layer(
            name=spec.name,
            parent=spec.parent,
            below=spec.below,
            dockerfile=spec.dockerfile,
            files={name: text for name, text in spec.files.items() if name not in spec.unnamed},
            unnamed={name: spec.files[name] for name in spec.unnamed},
            tree=spec.tree,
            over=spec.over,
            fetches=spec.fetches,
            labels=dict(spec.labels),
        ),
        cache,
    )


def make_spec(layer: Layer, lock: Lock) -> ImageSpec:
    """Return the image that a layer of a lock describes; its build fetches by the files in the folder ``locked``."""
    held = lock.get_texts(layer.contents)
    unnamed = lock.get_texts(layer.unnamed)
    unnamed |= {name: text for name, text in held.items() if name.startswith(f"{LOCKED}/")}
    return ImageSpec(
        name=layer.name,
        dockerfile=layer.dockerfile,
        parent=layer.parent,
        files={**lock.get_texts(layer.files), **unnamed},
        tree=layer.tree,
        over=layer.over,
        fetches=layer.fetches,
        labels=layer.labels,
        below=layer.below,
        unnamed=frozenset(unnamed),
    )


def keep_toolchain(toolchain: Toolchain, cache: Path) -> None:
    made = toolchain if toolchain.is_made else None
    labels = dict(toolchain.labels)
    _keep(Layer(name=toolchain.name, below=toolchain.identity, labels=labels, toolchain=made), cache)


def make_locked_toolchain(layer: Layer, lock: Lock) -> Toolchain:
    """Return the toolchain that a layer of a lock describes, with the exact versions of its Debian packages."""
    versions = lock.get_texts(layer.contents).get(DEBIAN, "").splitlines()
    base = layer.toolchain or Toolchain(layer.name, layer.below)
    return replace(base, name=layer.name, identity=layer.below, versions=tuple(versions))


def keep_lock(lock: Lock, cache: Path) -> None:
    for layer in lock.layers.values():
        texts = {"files": lock.get_texts(layer.files), "unnamed": lock.get_texts(layer.unnamed)}
        _keep(layer.model_copy(update={**texts, "digest": "", "contents": {}}), cache)


def make_lock(
    used: Mapping[str, UsedImage], cache: Path, grading: Mapping[str, tuple[UsedImage, ...]] = MappingProxyType({})
) -> Lock:
    """Make a lock of the images that the cache knows, for instances and for their patches."""
    layers: dict[str, Layer] = {}
    texts: dict[str, str] = {}
    lock = Lock(instances=dict(sorted(used.items())), grading=dict(sorted(grading.items())))
    for name in sorted({each.image for each in lock.used}):
        for layer in read_layers(name, cache, layers.keys()):
            layers[layer.name] = _move_texts_out(layer, texts)
    return lock.model_copy(update={"layers": dict(sorted(layers.items())), "texts": texts})


def add_contents(lock: Lock, held: Mapping[str, tuple[str, Mapping[str, str]]]) -> Lock:
    """Return a lock with digest and contents of each image, by its name."""
    texts, layers = dict(lock.texts), dict(lock.layers)
    for name, (digest, contents) in held.items():
        hashes = {key: _hash(text) for key, text in sorted(contents.items())}
        texts |= {hashes[key]: text for key, text in contents.items()}
        layers[name] = layers[name].model_copy(update={"digest": digest, "contents": hashes})
    return lock.model_copy(update={"layers": layers, "texts": dict(sorted(texts.items()))})


def check_lock(lock: Lock) -> Iterator[str]:
    """Yield the problems of a lock, such as an image whose name is not the hash of its content."""
    wrong = [key for key, text in lock.texts.items() if _hash(text) != key]
    yield from (f"the text {key} has another hash" for key in wrong)
    yield from (f"the key of {each.image} is no hash" for each in lock.used if not each.has_valid_key)
    yield from (f"{name} has no image of its own" for name in lock.grading.keys() - lock.instances.keys())
    for layer in lock.layers.values():
        yield from _problems(layer, lock)
        parent = lock.layers.get(layer.parent)
        if parent and not parent.dockerfile and parent.below != layer.below:
            yield f"{layer.name} was not made on the toolchain {parent.below}"


def _problems(layer: Layer, lock: Lock) -> Iterator[str]:
    files = {**layer.files, **layer.unnamed, **layer.contents}
    if {*files.values()} - lock.texts.keys():
        yield f"{layer.name} has files whose text is missing"
    elif layer.dockerfile and not layer.name.endswith(f":{_hash_layer(layer, lock)}"):
        yield f"{layer.name} is not named by the hash of its content"
    elif layer.dockerfile and not re.search(rf"(?m)^FROM {re.escape(layer.parent)}( AS |$)", layer.dockerfile):
        yield f"{layer.name} does not stand on {layer.parent}"
    elif layer.tree and not layer.fetches and not layer.below.startswith(tree_key(layer.tree)):
        yield f"{layer.name} was not made from the tree {tree_key(layer.tree)}"
    yield from _dangers(layer)


def _hash_layer(layer: Layer, lock: Lock) -> str:
    return content_hash(layer.dockerfile, layer.below, lock.get_texts(layer.files))


def _dangers(layer: Layer) -> Iterator[str]:
    """Yield names that would lead a build out of its folder or git astray."""
    for ref in (layer.tree, layer.over):
        if ref and not ref.archive and not re.fullmatch("[0-9a-f]{40}", ref.commit):
            yield f"{layer.name} has a tree without a full commit id: {ref.commit!r}"
    for name in {**layer.files, **layer.unnamed, **layer.contents}:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            yield f"{layer.name} has a file outside of its folder: {name!r}"


def read_layers(name: str, cache: Path, known: Iterable[str] = ()) -> Iterator[Layer]:
    """Yield the layers of an image and its services from the cache, from the top; leave out ``known`` ones."""
    layer = None if name in known else read_model(layer_file(name, cache), Layer)
    if layer is not None:
        yield layer
        for below in (layer.parent, *layer.services):
            if below:
                yield from read_layers(below, cache, known)


def _move_texts_out(layer: Layer, texts: dict[str, str]) -> Layer:
    moved = {}
    for field, files in (("files", layer.files), ("unnamed", layer.unnamed)):
        moved[field] = {name: _hash(text) for name, text in sorted(files.items())}
        texts |= {moved[field][name]: text for name, text in files.items()}
    return layer.model_copy(update=moved)


def _keep(layer: Layer, cache: Path) -> None:
    path = layer_file(layer.name, cache)
    if read_model(path, Layer) != layer:  # another version of Assay kept less
        replace_file(path, layer.model_dump_json().encode())


def layer_file(name: str, cache: Path) -> Path:
    """Return the cache's file with the content of an image, which may be missing."""
    return cache / "images" / f"{name.replace('/', '-').replace(':', '-')}.json"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
