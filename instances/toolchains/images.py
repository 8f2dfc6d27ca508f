"""Toolchain images: operating system and language version, the first layer under every environment.

An image comes from one of three places: a local image, a public image pinned by digest, or (the default) a bootstrap
from packages of Debian or Ubuntu, for machines that reach no container registry.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.instances.toolchains.buildfiles import build_text
from assay.instances.toolchains.versions import LanguageVersion, PinnedArchive, versions_of

EVERYWHERE = ("git", "patch", "procps", "ca-certificates")
"""Packages of every toolchain: what applying patches and ending runs needs."""
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
ARCHIVES_MACHINE = "x86_64"
KEPT = ("/usr/share/man/man1",)
"""A folder inside ``LEFT_OUT`` that is created empty: the set-up of some packages (Java's) writes links into it."""

UserImages = Mapping[str, Mapping[str, str]]
"""The user's own toolchain images: language to version to image name."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A toolchain image, which need not exist yet."""

    name: str
    identity: str
    """Stands for the image's content in the names of all images above it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    """Release of the distribution to bootstrap from; empty for a user's image."""
    packages: tuple[str, ...] = ()
    distribution: str = "debian"
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links to create: path and target."""
    versions: tuple[str, ...] = ()
    """Packages, each with the version that is taken if the archive still has it, as a lock says."""
    archive: PinnedArchive | None = None
    """What is unpacked over the packages, and set up by the script."""
    script: str = ""


def find_toolchain(recipe: Recipe, images: UserImages, engine: Engine) -> Toolchain:
    """Choose the image of a recipe's language version, without building it.

    Args:
        recipe: names language and version.
        images: the user's own images: a local name, or ``name@sha256:...``, which is pulled if the engine lacks it.
        engine: where a user's image must be.

    Raises:
        EnvironmentFailure: there is no such version, or the user's image is not on the engine and cannot be pulled.
    """
    language, known = recipe.language, versions_of(recipe.language)
    version = recipe.toolchain or known.default
    chosen = images.get(language, {}).get(version)
    if chosen:
        return _users_image(chosen, f"{language} {version}", engine)
    found = known.versions.get(version, LanguageVersion())
    if not found.suite:
        bootstrapped = ", ".join(name for name, each in known.versions.items() if each.suite)
        raise EnvironmentFailure(
            f"{language} {version} cannot be bootstrapped from packages (only {bootstrapped});"
            f" name an image for it in assay.toml: [toolchains.{language}]"
        )
    if found.archive and platform.machine() != ARCHIVES_MACHINE:
        problem = f"{language} {version} is an archive for {ARCHIVES_MACHINE}, and this machine is {platform.machine()}"
        raise EnvironmentFailure(f"{problem}; name an image for it in assay.toml: [toolchains.{language}]")
    packages = (*found.packages, *EVERYWHERE)
    links = tuple(sorted(found.links.items()))
    script = build_text("toolchain.sh", language) if found.archive else ""
    inputs = "\n".join((found.suite, *packages, *LEFT_OUT, *KEPT, *(f"{path} {target}" for path, target in links)))
    if found.archive:
        inputs += f"\n{found.archive.model_dump_json()}\n{script}"
    shared = languages.find(language).DOCKERFILES
    name = f"assay/toolchain-{shared}:{version}-{sha256(inputs.encode()).hexdigest()[:12]}"
    labels = {f"{LABEL}.kind": "toolchain", f"{LABEL}.language": f"{language}-{version}"}
    return Toolchain(
        name=name,
        identity=name,
        labels=labels,
        suite=found.suite,
        packages=packages,
        distribution=found.distribution,
        links=links,
        archive=found.archive,
        script=script,
    )


def _users_image(name: str, version: str, engine: Engine) -> Toolchain:
    info = engine.find_image(name)
    if info is None and "@sha256:" not in name:
        raise EnvironmentFailure(f"toolchain image {name} for {version} is not on the engine; pull it")
    if info is None:
        try:
            info = engine.pull(name)
        except ImageMissing as error:
            raise EnvironmentFailure(f"toolchain image for {version}: {error}") from error
    return Toolchain(name, info.digest)
