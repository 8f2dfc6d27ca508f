"""The names of images that have been worked out, so that neither tree nor lock nor network is needed again.

What is kept of an instance is a few small files of the cache. They travel with its image: another machine that has them
finds the image by the instance alone.
"""

import io
import json
import tarfile
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Instance, Recipe, RowScript
from assay.harness.engines.base import LABEL
from assay.harness.engines.tars import pack_tar
from assay.harness.files import code_edition, hash_code, replace_file
from assay.harness.images.registry import ImageRegistry
from assay.instances.environments.files_to_run import targets_file
from assay.instances.environments.images_lock import Layer, layer_file, read_layers
from assay.instances.toolchains.buildfiles import all_build_files
from assay.instances.toolchains.images import UserImages
from assay.instances.trees.assets import asset_file
from assay.instances.trees.facts import facts_file
from assay.instances.trees.sources import time_file, tree_ref

ABOUT = {"id", "dataset", "origin", "problem_statement", "hints", "facts"}
"""Fields about an instance's subject and origin, or that follow from others and the recipe."""
LABELS = {"fail_to_pass", "pass_to_pass", "quarantined", "stages", "log_format", "test_id", "rule"}
"""Fields about tests that count; no image depends on them."""


ROOT = Path(__file__).parents[2]
IMAGE_ROOMS = ("environments", "toolchains", "trees")
BESIDE = {
    *("environments/contents.py", "environments/drift.py", "environments/images_lock.py", "environments/rebuild.py"),
    *("environments/known_images.py", "trees/diff.py", "trees/mirroring.py"),
}
"""Modules of these rooms that only record, compare or move what others decide; an image built again keeps its name."""


@dataclass(frozen=True, slots=True)
class KnownImages:
    cache: Path

    def find(self, key: str) -> str:
        """Return the name of the image that a key stands for, if what it is made of is known, too; else ""."""
        try:
            name = str(json.loads(self._file(key).read_bytes())["image"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""
        return name if layer_file(name, self.cache).is_file() else ""

    def keep(self, key: str, name: str) -> None:
        replace_file(self._file(key), json.dumps({"image": name}).encode())

    def read_layers(self, name: str) -> list[Layer]:
        """Return the layers of an image, from the top, with its services."""
        return list(read_layers(name, self.cache))

    def read_files(self, key: str, instance: Instance, recipe: Recipe) -> dict[str, bytes]:
        """Return the files of the cache that an evaluation of an instance needs, by path below it."""
        paths = [self._file(key), targets_file(instance, recipe, self.cache)]
        paths += [time_file(tree_ref(instance), self.cache), facts_file(tree_ref(instance), self.cache)]
        paths += [layer_file(layer.name, self.cache) for layer in self.read_layers(self.find(key))]
        paths += [asset_file(asset, self.cache) for asset in instance.assets]
        return {str(path.relative_to(self.cache)): path.read_bytes() for path in paths if path.is_file()}

    def adopt(self, files: Mapping[str, bytes]) -> None:
        """Put files of another machine's cache into this one, without replacing any."""
        for path, content in files.items():
            place = self.cache / path
            if place.parent.name in FOLDERS and place.parent.parent == self.cache and not place.exists():
                replace_file(place, content)

    def _file(self, key: str) -> Path:
        return self.cache / "known" / f"{key}.json"


PARCEL = "assay/known"  # repository of the images by which files travel through a registry
FOLDERS = frozenset({"known", "targets", "times", "facts", "images", "assets"})
"""Folders of the cache that travel; nothing else is accepted from another machine."""


def make_known_key(instance: Instance, recipe: Recipe, toolchains: UserImages) -> str:
    """Return a hash of all that an image's name depends on; equal on machines with the same version of Assay.

    The recipe is the one with all variants, so that a machine without the tree finds out what the tree says.
    """
    if isinstance(instance.environment, RowScript):  # no image depends on what runs its tests
        instance = instance.model_copy(update={"environment": None})
    fields = instance.model_dump_json(exclude=ABOUT | LABELS)
    images = sorted(toolchains.get(recipe.language, {}).items())
    layout = code_edition(ROOT / "instances/environments/images_lock.py")  # the form in which images are kept
    code = (image_edition(), layout)
    return sha256(repr((fields, recipe.model_dump_json(), images, code)).encode()).hexdigest()[:32]


@cache
def image_edition(root: Path = ROOT) -> str:
    """Return the hash of the code and data that decide what an image holds and which tests are run in it."""
    instances = root / "instances"
    modules = [file for room in IMAGE_ROOMS for file in sorted((instances / room).rglob("*.py"))]
    deciding = [file for file in modules if str(file.relative_to(instances)) not in BESIDE]
    return sha256(repr((hash_code(*deciding, root / "harness/languages"), *all_build_files())).encode()).hexdigest()


def send_known(registry: ImageRegistry, key: str, files: Mapping[str, bytes]) -> None:
    """Put the files of an instance into a registry, as an image that holds nothing else; raises EngineError."""
    name = f"{PARCEL}:{key}"
    with tempfile.TemporaryDirectory() as scratch, registry.alone(f"parcel {key}"):
        tar = Path(scratch) / "files.tar"
        tar.write_bytes(pack_tar(files))
        registry.engine.import_image(name, tar, {f"{LABEL}.kind": "known"})
        try:
            registry.push(name)
        finally:
            registry.engine.remove_image(name)


def fetch_known(registry: ImageRegistry, key: str) -> dict[str, bytes]:
    """Return the files that ``send_known`` put into a registry; raises EngineError."""
    name = f"{PARCEL}:{key}"
    with registry.alone(f"parcel {key}"):
        if not registry.pull(name):
            return {}
        try:
            with registry.engine.save([name]) as saved:
                return read_layer_files(b"".join(saved))
        finally:
            registry.engine.remove_image(name)


def read_layer_files(saved: bytes) -> dict[str, bytes]:
    """Return the files in the layers of a small image that an engine has saved, by path."""
    found: dict[str, bytes] = {}
    for content in read_tar_files(saved).values():
        with suppress(tarfile.ReadError):
            found |= read_tar_files(content)
    return found


def read_tar_files(packed: bytes) -> dict[str, bytes]:
    """Return the files of a tar archive by path; raises tarfile.ReadError if it is none."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        files = ((member.name, tar.extractfile(member)) for member in tar if member.isreg())
        return {name: file.read() for name, file in files if file}
