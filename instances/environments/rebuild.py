"""Builds images from a lock alone: no data set, no recipe, and nothing is resolved again."""

from collections.abc import Sequence
from dataclasses import replace

from assay.harness.domain import ImageSpec
from assay.instances.environments.drift import REBUILT
from assay.instances.environments.image_specs import APT
from assay.instances.environments.images_lock import DEBIAN, Layer, Lock, make_locked_toolchain, make_spec
from assay.instances.toolchains.bootstrap import preferences
from assay.instances.toolchains.images import Toolchain

PREFERENCES = "/etc/apt/preferences.d/assay"
INSTALL, CLEAN = APT.removeprefix("RUN ").partition("{packages}")[::2]
"""Begin and end of the command that installs a recipe's Debian packages."""


def make_rebuild_chain(lock: Lock, image: str) -> tuple[Toolchain | ImageSpec, ...]:
    """Return an image of a lock and all below it, the lowest first, to be built again."""
    return tuple(_make_rebuild(layer, lock) for layer in lock.chain(image))


def _make_rebuild(layer: Layer, lock: Lock) -> Toolchain | ImageSpec:
    if not layer.dockerfile:
        return make_locked_toolchain(layer, lock)
    spec = make_spec(layer, lock)
    dockerfile = _pin_versions(spec.dockerfile, _list_added(layer, lock))
    return replace(spec, dockerfile=dockerfile, labels={**spec.labels, REBUILT: "1"})


def _list_added(layer: Layer, lock: Lock) -> Sequence[str]:
    """Return the Debian packages, with versions, that an image has and its parent has not."""
    parent = lock.layers.get(layer.parent, Layer(name=""))
    before, after = (lock.get_texts(each.contents).get(DEBIAN, "").splitlines() for each in (parent, layer))
    return [line for line in after if line not in set(before)]


def _pin_versions(dockerfile: str, versions: Sequence[str]) -> str:
    """Return a Dockerfile whose Debian packages are taken in these versions, as far as the archive has them."""
    if not versions or INSTALL not in dockerfile:
        return dockerfile
    wanted = preferences(versions).replace("\n", "\\n")
    pinned = dockerfile.replace(INSTALL, f"printf '{wanted}' > {PREFERENCES} && {INSTALL}")
    return pinned.replace(CLEAN, f"{CLEAN} {PREFERENCES}")
