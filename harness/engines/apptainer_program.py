"""The command line of apptainer, or of singularity, which has the same."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.harness.errors import EngineError, EngineUnavailable

NAMES = ("apptainer", "singularity")
SECONDS = 120.0  # A command that only starts or ends something has failed by then
ABSENT = "neither apptainer nor singularity is on the PATH; install one, or load the module that has it"
NO_USERS = (
    "{} runs without root here, and user {} has no {} of their own, which the tests' user needs beside root: ask the "
    "administrator for a line in {} (useradd and usermod --add-subuids write it), or run as root"
)
KEPT = ("PATH", "HOME", "USER", "LANG", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "TMPDIR")
"""The environment of the program, without the variables that change its containers."""


@dataclass(frozen=True, slots=True)
class ApptainerProgram:
    """The program, and how it becomes root in its containers."""

    path: str
    as_root: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``apptainer`` or ``singularity``."""
        return Path(self.path).name

    def command(self, *words: str | Path) -> list[str]:
        return [self.path, "--quiet", *map(str, words)]

    def environment(self, scratch: str | Path = "") -> dict[str, str]:
        """Return its variables; ``scratch`` is the folder it writes to while it makes an image."""
        found = {name: os.environ[name] for name in KEPT if name in os.environ}
        for kind in ("CACHEDIR", "TMPDIR") if scratch else ():
            found |= {f"{name.upper()}_{kind}": str(scratch) for name in NAMES}
        return found

    def run(self, *words: str | Path, seconds: float = SECONDS, at: str | Path = "") -> str:
        """Run it to its end and return its output; raises EngineError with its last line."""
        try:
            done = subprocess.run(
                self.command(*words),
                env=self.environment(at),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(f"{self.name} {words[0]} failed: {error}") from error
        if done.returncode:
            raise EngineError(f"{self.name} {words[0]} failed ({done.returncode}): {last_line(done.stderr)}")
        return done.stdout.decode(errors="replace")


def find_program(variables: Mapping[str, str] = os.environ) -> ApptainerProgram:
    """Find the program on the PATH; raises EngineUnavailable if there is none, or it could only be one user."""
    found = next((path for name in NAMES if (path := shutil.which(name, path=variables.get("PATH")))), None)
    if found is None:
        raise EngineUnavailable(ABSENT)
    if os.geteuid() == 0:
        return ApptainerProgram(found)
    import pwd

    me = pwd.getpwuid(os.geteuid())
    for file, kind in (("/etc/subuid", "users"), ("/etc/subgid", "groups")):
        if not _has_range(Path(file), {me.pw_name, str(me.pw_uid)}):
            raise EngineUnavailable(NO_USERS.format(Path(found).name, me.pw_name, kind, file))
    return ApptainerProgram(found, ("--fakeroot",))


def _has_range(file: Path, names: set[str]) -> bool:
    try:
        return any(line.split(":")[0] in names for line in file.read_text().splitlines())
    except OSError:
        return False


def last_line(printed: bytes) -> str:
    """Return the last line of a program's output, without colours."""
    lines = printed.decode(errors="replace").replace("\x1b[0m", "").replace("\x1b[31m", "").strip().splitlines()
    return lines[-1].strip() if lines else "it printed nothing"
