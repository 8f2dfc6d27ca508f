"""The chain of images under an instance, as content: pure, so that the same inputs give the same names everywhere."""

import re
import shlex
from collections.abc import Mapping
from hashlib import sha256
from importlib import resources

from assay.harness.domain import ImageSpec, Instance, Recipe, TreeRef
from assay.harness.engines.base import LABEL, SERVICE_LABEL
from assay.instances.pins.project import BuildSystem
from assay.instances.pins.pypi import bounds, cutoff, exports, tree_ref
from assay.instances.toolchains import Toolchain

APT = (
    "RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends {packages}"
    " && rm -rf /var/lib/apt/lists/*"
)


def image_chain(
    instance: Instance,
    recipe: Recipe,
    toolchain: Toolchain,
    lock: str,
    system: BuildSystem,
    services: Mapping[str, str] | None = None,
) -> tuple[ImageSpec, ImageSpec]:
    """Return the environment image and, over it, the instance image.

    Args:
        instance: what the images are for.
        recipe: its recipe, variant settled.
        toolchain: the image below both.
        lock: exact versions of all packages.
        system: how the project is built.
        services: image of each service beside the tests, by the service's name.
    """
    environment = environment_spec(recipe, toolchain, lock, cutoff(instance, recipe))
    return environment, instance_spec(instance, recipe, environment, system, services or {})


def service_spec(instance: Instance, recipe: Recipe, toolchain: Toolchain, lock: str) -> ImageSpec:
    """Return the image of a service beside an instance's tests: packages on the same toolchain, and no project."""
    alone = recipe.model_copy(update={"system_packages": (), "faketime": ""})
    return environment_spec(alone, toolchain, lock, cutoff(instance, recipe))


def environment_spec(recipe: Recipe, toolchain: Toolchain, lock: str, newest: str) -> ImageSpec:
    """Return the image with a recipe's packages; instances with the same lock share it."""
    names = (*recipe.system_packages, *(["faketime"] if recipe.faketime else []))
    packages = " ".join(shlex.quote(name) for name in names)
    dockerfile = _data(recipe.language, "environment.Dockerfile")
    dockerfile = dockerfile.replace("@SYSTEM_PACKAGES@", APT.format(packages=packages) if packages else "")
    dockerfile = dockerfile.replace("@PARENT@", toolchain.name)
    files = {"environment.sh": _data(recipe.language, "environment.sh"), "requirements.txt": lock}
    labels = {f"{LABEL}.kind": "environment", f"{LABEL}.language": f"{recipe.language}-{recipe.python}"}
    return ImageSpec(
        name=f"assay/env-{recipe.language}:{_content_hash(dockerfile, toolchain.identity, files)}",
        dockerfile=dockerfile,
        parent=toolchain.name,
        # These keep build requirements of source packages in their time. They stay out of the name: what is installed
        # is the lock, and instances of different days share it.
        files={**files, "bounds": "\n".join(bounds(newest))},
        labels=labels,
    )


def instance_spec(
    instance: Instance, recipe: Recipe, parent: ImageSpec, system: BuildSystem, services: Mapping[str, str]
) -> ImageSpec:
    """Return the image with an instance's base tree, as one commit, and the project installed.

    Its labels name the images of the services that run beside it.
    """
    dockerfile = _data(recipe.language, "instance.Dockerfile").replace("@PARENT@", parent.name)
    files = {name: _data(recipe.language, name) for name in ("instance.sh", "install.py")}
    files["project.sh"] = exports(instance, recipe) + (
        f"BACKEND={shlex.quote(system.backend)}\nBACKEND_PATH={shlex.quote(':'.join(system.backend_path))}\n"
    )
    if recipe.install:
        files["install.sh"] = "".join(f"{command}\n" for command in recipe.install)
    tree = tree_ref(instance)
    beside = {f"{SERVICE_LABEL}{name}": image for name, image in sorted(services.items())}
    below = _tree_key(tree) + (repr(beside) if beside else "")
    owner_name = "__".join(_docker_part(part) for part in instance.repo.split("/"))
    return ImageSpec(
        name=f"assay/instance-{owner_name}:{_content_hash(dockerfile, below, files)}",
        dockerfile=dockerfile,
        parent=parent.name,
        files=files,
        tree=tree,
        labels={f"{LABEL}.kind": "instance", f"{LABEL}.repo": instance.repo, **beside},
    )


def _data(language: str, name: str) -> str:
    return resources.files("assay").joinpath("dockerfiles", language, name).read_text(encoding="utf-8")


def _content_hash(dockerfile: str, below: str, files: Mapping[str, str]) -> str:
    return sha256(repr((dockerfile, below, sorted(files.items()))).encode()).hexdigest()[:16]


def _tree_key(tree: TreeRef) -> str:
    return tree.archive.sha256 if tree.archive else f"{tree.repo}@{tree.commit}"


def _docker_part(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"
