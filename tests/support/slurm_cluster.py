"""A Slurm of two nodes on this machine, for as long as a test needs it."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/ensure-slurm.sh"
MISSING = "" if os.geteuid() == 0 and shutil.which("slurmctld") else "needs root and Debian's slurm-wlm"
PATIENCE = 180
"""Seconds that jobs may take on a busy machine."""


@dataclass(frozen=True)
class SlurmCluster:
    """Runs Slurm's commands in a folder, with ``assay`` on the path."""

    folder: Path
    env: dict[str, str]

    def run(self, *words: str) -> str:
        """Return what a command prints; raises CalledProcessError."""
        done = subprocess.run(words, cwd=self.folder, env=self.env, capture_output=True, text=True, check=True)
        return done.stdout

    def jobs(self) -> list[str]:
        """Return the jobs, and tasks of arrays, that have not ended."""
        return self.run("squeue", "--noheader", "--array", "--format=%i").split()

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something holds; raises AssertionError with what the jobs said."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            logs = "\n".join(path.read_text() for path in self.folder.glob("runs/.slurm/*"))
            assert time.monotonic() < deadline, f"{what}: {self.run('squeue', '--array')}\n{logs}"
            time.sleep(0.2)

    def finds(self, *words: str) -> bool:
        try:
            return bool(self.process_of(*words))
        except LookupError:
            return False

    def process_of(self, *words: str) -> int:
        """Return the process of this folder that has all of these words in its command line."""
        for path in Path("/proc").glob("[0-9]*"):
            try:
                command, folder = (path / "cmdline").read_bytes().decode().split("\0"), (path / "cwd").readlink()
            except (OSError, UnicodeDecodeError):
                continue
            if {*words} <= {*command} and folder == self.folder.resolve():
                return int(path.name)
        raise LookupError(f"no process has {words}")


@contextmanager
def started(folder: Path, **env: str) -> Iterator[SlurmCluster]:
    """Start a cluster whose jobs work in a folder, and end it with all its jobs."""
    daemons = Path(tempfile.mkdtemp(prefix="slurm-"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ports = {"ASSAY_SLURM_PORT": str(random.randrange(20_000, 30_000))}
    variables = {**os.environ, **ports, "PATH": path, "SLURM_CONF": str(daemons / "slurm.conf"), **env}
    cluster = SlurmCluster(folder, variables)
    try:
        cluster.run(str(SCRIPT), str(daemons))
        yield cluster
        cluster.run("scancel", "--user=root")
        cluster.wait(lambda: not cluster.jobs(), "cancelled jobs end")
    finally:
        cluster.run(str(SCRIPT), "--stop", str(daemons))
        shutil.rmtree(daemons, ignore_errors=True)
