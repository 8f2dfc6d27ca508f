"""Toolchain images: operating system and language version, the first layer under every environment.

Where one comes from is settable: a local image, a public image pinned by digest, or (the default) a bootstrap from
Debian packages, for machines that reach no container registry. ``dockerfiles/<language>/toolchains.yaml`` says which
versions there are.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from hashlib import sha256
from pathlib import Path

import yaml

from assay.harness import languages
from assay.harness.domain import Model, Recipe
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.instances.environments.toolchains.buildfiles import build_text

EVERYWHERE = ("git", "patch", "procps", "ca-certificates")
"""Packages of every toolchain: what applying patches and ending runs needs."""
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
KEPT = ("/usr/share/man/man1",)
"""An empty folder of those left out, which the set-up of some packages (Java's) writes links into."""
BOOTSTRAP_SECONDS = 1800

Images = Mapping[str, Mapping[str, str]]
"""The user's own toolchain images: language to version to image name."""


class Version(Model):
    """One version of a language."""

    suite: str = ""
    """Debian release to bootstrap from; empty for a version that only an image of the user's can carry."""
    packages: tuple[str, ...] = ()
    released: date | None = None


class Versions(Model):
    """The versions of one language."""

    default: str
    versions: dict[str, Version]
    locks: tuple[str, ...] = ()
    """Names of files that fix all packages of a build; without one, packages are taken as of the instance's date."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A toolchain image by name; ``identity`` tells its content and goes into the names of all images over it."""

    name: str
    identity: str
    labels: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    """Debian release to bootstrap from; empty for an image that somebody else made."""
    packages: tuple[str, ...] = ()


@cache
def versions_of(language: str) -> Versions:
    """Return the versions of a language that there are toolchains for; raises EnvironmentFailure if there are none."""
    return Versions.model_validate(yaml.safe_load(build_text("toolchains.yaml", language)))


def toolchain(recipe: Recipe, images: Images, engine: Engine) -> Toolchain:
    """Say which image a recipe's language version comes from, without making it.

    ``images`` names images of the user's choice: a local name, or ``name@sha256:...`` that is pulled when it is not
    here. Raises EnvironmentFailure if there is no way to get that version.
    """
    language, known = recipe.language, versions_of(recipe.language)
    version = recipe.toolchain or known.default
    chosen = images.get(language, {}).get(version)
    if chosen:
        return _foreign(chosen, f"{language} {version}", engine)
    found = known.versions.get(version, Version())
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


def _foreign(name: str, version: str, engine: Engine) -> Toolchain:
    info = engine.find_image(name)
    if info is None and "@sha256:" not in name:
        raise EnvironmentFailure(f"toolchain image {name} for {version} is not on the engine")
    if info is None:
        try:
            info = engine.pull(name)
        except ImageMissing as error:
            raise EnvironmentFailure(f"toolchain image for {version}: {error}") from error
    return Toolchain(name, info.digest)


def bootstrap(wanted: Toolchain, engine: Engine, scratch: Path, log: Path) -> None:
    """Make a toolchain image from Debian packages; raises EnvironmentFailure."""
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
    return "" if os.geteuid() == 0 else "; without root it needs user namespaces, so run as root or name an image"
