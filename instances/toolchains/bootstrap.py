"""Builds toolchain images from the packages of Debian or Ubuntu with mmdebstrap."""

import os
import platform
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.harness.engines.base import Engine
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.archives import SCRIPT, fetch, write_tar
from assay.instances.toolchains.images import KEPT, LEFT_OUT, Toolchain

SECONDS = 1800
UBUNTU_KEYS = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
KEYS_FROM = "trixie"
"""Debian release that has Ubuntu's keys in a package: so they are verified with Debian's."""
UBUNTU_ARCHIVES = {"x86_64": "http://index.invalid/ubuntu"}
UBUNTU_PORTS = "http://index.invalid/ubuntu-ports"
PACKAGE = re.compile(r"([a-z0-9][a-z0-9+.-]+) ([A-Za-z0-9.+:~-]+)")
"""A package and its version."""
POCKETS = ("", "-updates", "-security")
SHELLS_PAGE = "/usr/share/man/man1/sh.*"
"""A manual page that Ubuntu's dash moves while it is installed, so that it has to exist."""


def bootstrap(wanted: Toolchain, engine: Engine, scratch: Path, log: Path) -> None:
    """Build a toolchain image from packages with mmdebstrap.

    Args:
        wanted: a toolchain with a release.
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
    log.write_bytes(b"")
    with tempfile.TemporaryDirectory() as folder:
        keys = _ubuntu_keys(program, Path(folder), log) if wanted.distribution == "ubuntu" else None
        options = [*_options(wanted), *_pins(wanted.versions, scratch), *_unpacking(wanted, scratch)]
        _run([program, *options, *_source(wanted, tar, keys)], wanted.suite, log)
    engine.import_image(wanted.name, tar, wanted.labels)


def _options(wanted: Toolchain) -> list[str]:
    included = (*wanted.packages, "apt") if wanted.distribution == "ubuntu" else wanted.packages
    kept = [SHELLS_PAGE] if wanted.distribution == "ubuntu" else []
    return [
        "--variant=minbase",
        f"--include={','.join(included)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        *(f"--dpkgopt=path-include={pattern}" for pattern in kept),
        *(f'--essential-hook=mkdir -p "$1{folder}"' for folder in KEPT),
        *(f'--customize-hook=ln -s {target} "$1{path}"' for path, target in wanted.links),
    ]


def preferences(versions: Iterable[str]) -> str:
    """Return apt's preferences for some packages, each a line of name and version: these versions if it has them."""
    pairs = [found.groups() for found in map(PACKAGE.fullmatch, versions) if found]
    return "".join(f"Package: {name}\nPin: version {version}\nPin-Priority: 1001\n\n" for name, version in pairs)


def _pins(versions: Sequence[str], scratch: Path) -> list[str]:
    """Return the options by which packages are taken in exact versions, as far as the archive has them."""
    if not versions:
        return []
    file = scratch / "assay"
    file.write_text(preferences(versions), encoding="utf-8")
    return [
        '--setup-hook=mkdir -p "$1/etc/apt/preferences.d"',
        f"--setup-hook=copy-in {shlex.quote(str(file))} /etc/apt/preferences.d",
        '--customize-hook=rm "$1/etc/apt/preferences.d/assay"',
    ]


def _unpacking(wanted: Toolchain, scratch: Path) -> list[str]:
    """Return mmdebstrap's options that unpack the toolchain's archive, which is fetched, and run its script."""
    if wanted.archive is None:
        return []
    zipped, tar = scratch / "archive.zip", scratch / "archive.tar"
    fetch(wanted.archive, zipped)
    write_tar(zipped, wanted.archive, wanted.script, tar)
    zipped.unlink()
    return [
        f"--customize-hook=tar-in {tar} /",
        f'--customize-hook=chroot "$1" sh -e /{SCRIPT}',
        f'--customize-hook=rm "$1/{SCRIPT}"',
    ]


def _source(wanted: Toolchain, tar: Path, keys: Path | None) -> list[str]:
    """Return mmdebstrap's arguments: release, output and, other than for Debian, where packages come from."""
    if keys is None:
        return [wanted.suite, str(tar)]
    archive = UBUNTU_ARCHIVES.get(platform.machine(), UBUNTU_PORTS)
    lines = [f"deb {archive} {wanted.suite}{pocket} main universe" for pocket in POCKETS]
    return [f"--keyring={keys}", wanted.suite, str(tar), *lines]


def _ubuntu_keys(program: str, folder: Path, log: Path) -> Path:
    """Return the file with Ubuntu's keys: the machine's own, or the one in Debian's package of them.

    It is readable for all, since apt verifies as a user of its own.
    """
    if UBUNTU_KEYS.is_file():
        return UBUNTU_KEYS
    folder.chmod(0o755)
    tar = folder / "keys.tar"
    _run([program, "--variant=extract", "--include=ubuntu-archive-keyring", KEYS_FROM, str(tar)], KEYS_FROM, log)
    keys = folder / UBUNTU_KEYS.name
    with tarfile.open(tar) as package:
        found = package.extractfile(f".{UBUNTU_KEYS}")
        keys.write_bytes(found.read() if found else b"")
    keys.chmod(0o644)
    return keys


def _run(command: Sequence[str], suite: str, log: Path) -> None:
    with log.open("ab") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        problem = f"mmdebstrap of {suite} failed with exit code {done.returncode}{_hint()}"
        raise EnvironmentFailure(problem, log_path=str(log), tail=tail)


def _hint() -> str:
    return "" if os.geteuid() == 0 else "; without root it needs user namespaces: run as root or name an image"
