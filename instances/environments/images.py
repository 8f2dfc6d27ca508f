"""The chain of images under an instance, as content: pure, so that the same inputs give the same names everywhere."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from assay.harness import languages
from assay.harness.domain import ImageSpec, Instance, Recipe, TreeRef
from assay.harness.engines.base import LABEL, SERVICE_LABEL
from assay.instances.environments.pins.project import BuildSystem
from assay.instances.environments.pins.pypi import bounds, cutoff, exports
from assay.instances.toolchains.buildfiles import build_text, runner_texts
from assay.instances.toolchains.images import Toolchain
from assay.instances.trees.sources import tree_key, tree_ref

APT = (
    "RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends {packages}"
    " && apt-get clean && rm -rf /var/lib/apt/lists/*"
)


@dataclass(frozen=True, slots=True)
class Packages:
    """What a lock adds to the images over a toolchain: files of their build contexts, by name."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Of the environment, and decide its name."""
    bounds: Mapping[str, str] = field(default_factory=dict)
    """Of the environment, and stay out of its name: what is installed is the lock, and instances of different days
    share it."""
    tree: TreeRef | None = None
    """The tree over which packages are fetched; the lock is all of it that counts."""
    project: Mapping[str, str] = field(default_factory=dict)
    """Of the instance."""


def python_packages(instance: Instance, recipe: Recipe, lock: str, system: BuildSystem) -> Packages:
    """Return what a lock of exact Python versions adds; ``system`` says how the project is built."""
    project = exports(instance, recipe) + (
        f"BACKEND={shlex.quote(system.backend)}\nBACKEND_PATH={shlex.quote(':'.join(system.backend_path))}\n"
    )
    return Packages(
        files={"requirements.txt": lock},
        bounds={"bounds": "\n".join(bounds(cutoff(instance, recipe)))},
        project={"install.py": build_text("install.py", "python"), "project.sh": project},
    )


def manifest_packages(instance: Instance, recipe: Recipe, lock: str) -> Packages:
    """Return what the digests of a tree's own package files add: the tree itself, for the language's client."""
    date = {"cutoff": cutoff(instance, recipe) + "\n"}
    return Packages(
        files={"manifests.txt": lock}, bounds=date, tree=tree_ref(instance) if lock or recipe.fetch else None
    )


def image_chain(
    instance: Instance,
    recipe: Recipe,
    toolchain: Toolchain,
    packages: Packages,
    services: Mapping[str, str] | None = None,
) -> tuple[ImageSpec, ImageSpec]:
    """Return the environment image and, over it, the instance image.

    Args:
        instance: what the images are for.
        recipe: its recipe, variant settled.
        toolchain: the image below both.
        packages: what its lock adds.
        services: image of each service beside the tests, by the service's name.
    """
    environment = environment_spec(recipe, toolchain, packages)
    return environment, instance_spec(instance, recipe, environment, packages, services or {})


def service_spec(instance: Instance, recipe: Recipe, toolchain: Toolchain, lock: str) -> ImageSpec:
    """Return the image of a service beside an instance's tests: packages on the same toolchain, and no project."""
    alone = recipe.model_copy(update={"system_packages": (), "faketime": ""})
    return environment_spec(alone, toolchain, python_packages(instance, recipe, lock, BuildSystem()))


def environment_spec(recipe: Recipe, toolchain: Toolchain, packages: Packages) -> ImageSpec:
    """Return the image with a recipe's packages; instances with the same lock share it."""
    language = recipe.language
    names = (*recipe.system_packages, *(["faketime"] if recipe.faketime else []))
    system = " ".join(shlex.quote(name) for name in names)
    dockerfile = build_text("environment.Dockerfile", language)
    dockerfile = dockerfile.replace("@SYSTEM_PACKAGES@", APT.format(packages=system) if system else "")
    dockerfile = dockerfile.replace("@PARENT@", toolchain.name)
    fetch = _lines(recipe.fetch) or build_text("fetch.sh", language)
    files = {"environment.sh": build_text("environment.sh"), "fetch.sh": fetch, **packages.files}
    return ImageSpec(
        name=f"assay/env-{languages.find(language).DOCKERFILES}:{_content_hash(dockerfile, toolchain.identity, files)}",
        dockerfile=dockerfile,
        parent=toolchain.name,
        files={**files, **packages.bounds},
        tree=packages.tree,
        fetches=True,
        labels={f"{LABEL}.kind": "environment", f"{LABEL}.language": language},
    )


def instance_spec(
    instance: Instance, recipe: Recipe, parent: ImageSpec, packages: Packages, services: Mapping[str, str]
) -> ImageSpec:
    """Return the image with an instance's base tree, as one commit, and the project installed or pre-built.

    Its labels name the images of the services that run beside it.
    """
    dockerfile = build_text("instance.Dockerfile").replace("@PARENT@", parent.name)
    files = {"instance.sh": build_text("instance.sh"), "install.sh": build_text("install.sh", recipe.language)}
    files |= {f"runner/{name}": text for name, text in runner_texts(recipe.language).items()}
    files |= packages.project
    if recipe.install:
        files["commands.sh"] = _lines(recipe.install)
    tree = tree_ref(instance)
    beside = {f"{SERVICE_LABEL}{name}": image for name, image in sorted(services.items())}
    below = tree_key(tree) + (repr(beside) if beside else "")
    owner_name = "__".join(_docker_part(part) for part in instance.repo.split("/"))
    return ImageSpec(
        name=f"assay/instance-{owner_name}:{_content_hash(dockerfile, below, files)}",
        dockerfile=dockerfile,
        parent=parent.name,
        files=files,
        tree=tree,
        labels={f"{LABEL}.kind": "instance", f"{LABEL}.repo": instance.repo, **beside},
    )


def _lines(commands: tuple[str, ...]) -> str:
    return "".join(f"{command}\n" for command in commands)


def _content_hash(dockerfile: str, below: str, files: Mapping[str, str]) -> str:
    return sha256(repr((dockerfile, below, sorted(files.items()))).encode()).hexdigest()[:16]


def _docker_part(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"
