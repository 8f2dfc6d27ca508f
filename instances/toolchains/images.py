"""Toolchain images: operating system and language version, the first layer under every environment.

An image comes from one of three places: a local image, a public image pinned by digest, or (the default) a bootstrap
from Debian packages, for machines that reach no container registry.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.instances.toolchains.versions import LanguageVersion, versions_of

EVERYWHERE = ("git", "patch", "procps", "ca-certificates")
"""Packages of every toolchain: what applying patches and ending runs needs."""
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
KEPT = ("/usr/share/man/man1",)
"""A folder inside ``LEFT_OUT`` that is created empty: the set-up of some packages (Java's) writes links into it."""
BOOTSTRAP_SECONDS = 1800

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
    """Debian release to bootstrap from; empty for a user's image."""
    packages: tuple[str, ...] = ()


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
            f"{language} {version} cannot be bootstrapped from Debian packages (only {bootstrapped});"
            f" name an image for it in assay.toml: [toolchains.{language}]"
        )
    packages = (*found.packages, *EVERYWHERE)
    inputs = "\n".join((found.suite, *packages, *LEFT_OUT, *KEPT))
    shared = languages.find(language).DOCKERFILES
    name = f"assay/toolchain-{shared}:{version}-{sha256(inputs.encode()).hexdigest()[:12]}"
    labels = {f"{LABEL}.kind": "toolchain", f"{LABEL}.language": f"{language}-{version}"}
    return Toolchain(name, name, labels, found.suite, packages)


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


def bootstrap(wanted: Toolchain, engine: Engine, scratch: Path, log: Path) -> None:
    """Build a toolchain image from Debian packages with mmdebstrap.

    Args:
        wanted: a toolchain with a Debian release.
        engine: where the image is imported.
        scratch: an empty folder with room for the image.
        log: file for mmdebstrap's output.

    Raises:
        EnvironmentFailure: mmdebstrap is missing or fails.
    """
    program = shutil.which("mmdebstrap")
    if program is None:
        remedy = (
            "install it (apt-get install mmdebstrap) or name a toolchain image in assay.toml: [toolchains.LANGUAGE]"
        )
        raise EnvironmentFailure(f"no mmdebstrap to bootstrap {wanted.name} with; {remedy}")
    tar = scratch / "root.tar"
    excluded = [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    folders = [f'--essential-hook=mkdir -p "$1{folder}"' for folder in KEPT]
    options = ["--variant=minbase", f"--include={','.join(wanted.packages)}", *excluded, *folders]
    command = [program, *options, wanted.suite, str(tar)]
    with log.open("wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=BOOTSTRAP_SECONDS, check=False)
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise EnvironmentFailure(
            f"mmdebstrap of {wanted.suite} failed with exit code {done.returncode}{_hint()}",
            log_path=str(log),
            tail=tail,
        )
    engine.import_image(wanted.name, tar, wanted.labels)


def _hint() -> str:
    return "" if os.geteuid() == 0 else "; without root it needs user namespaces: run as root or name an image"
