"""Builds toolchain images from the packages of Debian with mmdebstrap."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.harness.engines.base import Engine
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.archives import SCRIPT, fetch, write_tar
from assay.instances.toolchains.images import KEPT, LEFT_OUT, Toolchain

SECONDS = 1800
MEMORY = 8 << 30
"""Bytes of memory that must be free for a root file system, of 1 to 2 GiB, to be made in memory."""
FREE = re.compile(r"MemAvailable: +(\d+) kB")
IN_MEMORY = """
if unshare --mount mount -t tmpfs tmpfs "$0" 2> /dev/null; then
    exec unshare --mount sh -c 'mount -t tmpfs tmpfs "$0" && TMPDIR=$0 exec "$@"' "$0" "$@"
fi
exec "$@"
"""
"""Runs the command with its temporary folder in memory, which takes two thirds of the time; on disk without root."""
PACKAGE = re.compile(r"([a-z0-9][a-z0-9+.-]+) ([A-Za-z0-9.+:~-]+)")  # A package and its version


def bootstrap(wanted: Toolchain, engine: Engine, scratch: Path, log: Path) -> None:
    """Build a toolchain image from packages; raises EnvironmentFailure if mmdebstrap is missing or fails."""
    program = shutil.which("mmdebstrap")
    if program is None:
        remedy = (
            "install it (apt-get install mmdebstrap) or name a toolchain image in assay.toml: [toolchains.LANGUAGE]"
        )
        raise EnvironmentFailure(f"no mmdebstrap to bootstrap {wanted.name} with; {remedy}")
    tar = scratch / "root.tar"
    log.write_bytes(b"")
    options = [
        "--variant=minbase",
        f"--include={','.join(wanted.packages)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        *(f'--essential-hook=mkdir -p "$1{folder}"' for folder in KEPT),
        *_pins(wanted.versions, scratch),
        *_unpacking(wanted, scratch),
    ]
    _run([*_place(scratch), program, *options, wanted.suite, str(tar)], wanted.suite, log)
    engine.import_image(wanted.name, tar, wanted.labels)


def preferences(versions: Iterable[str]) -> str:
    """Write apt's preferences for lines of package and version: these versions if the archive has them."""
    pairs = [found.groups() for found in map(PACKAGE.fullmatch, versions) if found]
    return "".join(f"Package: {name}\nPin: version {version}\nPin-Priority: 1001\n\n" for name, version in pairs)


def _pins(versions: Sequence[str], scratch: Path) -> list[str]:
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
    """Fetch the toolchain's archive; return the options that unpack it and run its script."""
    if wanted.archive is None:
        return []
    packed, tar = scratch / "archive", scratch / "archive.tar"
    fetch(wanted.archive, packed)
    write_tar(packed, wanted.archive, wanted.script, tar)
    packed.unlink()
    return [
        f"--customize-hook=tar-in {tar} /",
        f'--customize-hook=chroot "$1" sh -e /{SCRIPT}',
        f'--customize-hook=rm "$1/{SCRIPT}"',
    ]


def _place(scratch: Path) -> list[str]:
    """Return the words before a command that make it work in memory, if there is room."""
    free = FREE.search(Path("/proc/meminfo").read_text(encoding="ascii"))
    if free is None or int(free[1]) << 10 < MEMORY:
        return []
    folder = scratch / "root"
    folder.mkdir(exist_ok=True)
    return ["sh", "-c", IN_MEMORY, str(folder)]


def _run(command: Sequence[str], suite: str, log: Path) -> None:
    with log.open("ab") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        hint = "" if os.geteuid() == 0 else "; without root it needs user namespaces: run as root or name an image"
        problem = f"mmdebstrap of {suite} failed with exit code {done.returncode}{hint}"
        raise EnvironmentFailure(problem, log_path=str(log), tail=tail)
