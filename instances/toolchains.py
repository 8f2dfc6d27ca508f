"""Toolchain images: operating system and language version, the first layer under every environment.

Where one comes from is settable: a local image, a public image pinned by digest, or (the default) a bootstrap from
Debian packages, for machines that reach no container registry.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Recipe
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EnvironmentFailure, ImageMissing

SUITES = {"3.9": "bullseye", "3.11": "bookworm", "3.13": "trixie"}
"""Python version to the Debian release that carries it."""
RELEASED = {
    "3.8": datetime(2019, 10, 14, tzinfo=UTC),
    "3.9": datetime(2020, 10, 5, tzinfo=UTC),
    "3.10": datetime(2021, 10, 4, tzinfo=UTC),
    "3.11": datetime(2022, 10, 24, tzinfo=UTC),
    "3.12": datetime(2023, 10, 2, tzinfo=UTC),
    "3.13": datetime(2024, 10, 7, tzinfo=UTC),
}
"""First day of each Python: packages from before it were never meant to run there."""
PACKAGES = ("python3", "python3-venv", "git", "patch", "procps", "ca-certificates")
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
BOOTSTRAP_SECONDS = 1800
REMEDY = "install it (apt-get install mmdebstrap) or name a toolchain image in assay.toml: [toolchains.python]"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A toolchain image by name; ``identity`` tells its content and goes into the names of all images over it."""

    name: str
    identity: str
    labels: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    """Debian release to bootstrap from; empty for an image that somebody else made."""


def toolchain(recipe: Recipe, images: Mapping[str, str], engine: Engine) -> Toolchain:
    """Say which image a recipe's language version comes from, without making it.

    ``images`` maps language versions to images of the user's choice: a local name, or ``name@sha256:...`` that is
    pulled when it is not here. Raises EnvironmentFailure if there is no way to get that version.
    """
    chosen = images.get(recipe.python)
    if chosen:
        return _foreign(chosen, recipe.python, engine)
    suite = SUITES.get(recipe.python)
    if suite is None:
        raise EnvironmentFailure(
            f"Python {recipe.python} cannot be bootstrapped from Debian packages (only {', '.join(SUITES)});"
            " name an image for it in assay.toml: [toolchains.python]"
        )
    inputs = "\n".join(("python", recipe.python, suite, *PACKAGES, *LEFT_OUT))
    name = f"assay/toolchain-python:{recipe.python}-{sha256(inputs.encode()).hexdigest()[:12]}"
    labels = {f"{LABEL}.kind": "toolchain", f"{LABEL}.language": f"python-{recipe.python}"}
    return Toolchain(name, name, labels, suite)


def _foreign(name: str, version: str, engine: Engine) -> Toolchain:
    info = engine.find_image(name)
    if info is None and "@sha256:" not in name:
        raise EnvironmentFailure(f"toolchain image {name} for Python {version} is not on the engine")
    if info is None:
        try:
            info = engine.pull(name)
        except ImageMissing as error:
            raise EnvironmentFailure(f"toolchain image for Python {version}: {error}") from error
    return Toolchain(name, info.digest)


def bootstrap(wanted: Toolchain, engine: Engine, scratch: Path, log: Path) -> None:
    """Make a toolchain image from Debian packages; raises EnvironmentFailure."""
    program = shutil.which("mmdebstrap")
    if program is None:
        raise EnvironmentFailure(f"no mmdebstrap to bootstrap {wanted.name} with; {REMEDY}")
    tar = scratch / "root.tar"
    excluded = [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    command = [program, "--variant=minbase", f"--include={','.join(PACKAGES)}", *excluded, wanted.suite, str(tar)]
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
