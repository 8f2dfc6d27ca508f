"""The runs that seal a task: one with a network, which is recorded, and two without one, with and without the fix."""

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from assay.harness.benchmarks.harbor.evaluate import LOGS, POWERS, REWARDS, UNFORESEEN
from assay.harness.domain import Status
from assay.harness.engines.base import Box, BoxSpec, Engine
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EnvironmentFailure
from assay.harness.reports import harbor_reward
from assay.instances.toolchains.host import FORWARDED, write_secrets
from assay.instances.verifiers.installs import FetchedPart
from assay.instances.verifiers.relay import make_options
from assay.instances.verifiers.sealed_folder import DownloadingTask, read_files

PLACE = "/assay"
KEPT, SOLVED = f"{PLACE}/kept", f"{PLACE}/solved.tar"
LARGEST = 2 * 1024 * 1024 * 1024
SOLVE = (
    "if [ -e /solution/solve.sh ]; then bash /solution/solve.sh; else git apply --allow-empty {place}/gold.patch; fi "
    "|| exit\ntar -C / -cf {solved} {carried}"
)
LOOKUP = "lookup "
"""Begins the line of a name that a program looked up for itself."""


@dataclass(frozen=True, slots=True)
class VerifierRun:
    """The end of one run of a verifier."""

    status: Status | None
    """Whether the reward is full; None if there is none."""
    refused: tuple[str, ...]
    """Downloads that it was not given."""
    output: str
    exit_code: int | None = 0

    @property
    def last_line(self) -> str:
        return next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "it prints nothing")

    def describe(self) -> str:
        words = {Status.PASSED: "a full reward", Status.FAILED: "a reward below 1", None: "no reward"}
        return f"{words[self.status]} ({'; '.join((*self.refused[:3], self.last_line))})"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Runs the verifier of a task in fresh containers of its image; failures are EnvironmentFailure."""

    engine: Engine
    task: DownloadingTask
    relay: bytes
    files: Path | None = None
    """Folder with HOST/PATH of hosts that are not asked."""

    def record(self, installs: Sequence[FetchedPart]) -> tuple[dict[str, bytes], bytes]:
        """Run the verifier on the solved task with a network; return all that it was answered, and the solved tree.

        Addresses that its scripts name and this run does not ask for are asked for, too.
        """
        task, also = self.task, "\n".join(each.what for each in installs if each.is_file)
        files = {"assay/relay": self.relay, "assay/gold.patch": task.gold_patch.encode(), "assay/also": also.encode()}
        with tempfile.TemporaryDirectory() as scratch:
            ca = write_secrets(Path(scratch)).get("ca")
            files |= {"assay/ca": ca.read_bytes()} if ca else {}
        options = {"record": KEPT, "also": f"{PLACE}/also", "carried": ":".join(task.carried)}
        options |= {"ca": f"{PLACE}/ca" if ca else "", "files": f"{PLACE}/files" if self.files else ""}
        command = shlex.join([f"{PLACE}/relay", *make_options(options), "bash", "/tests/test.sh"])
        with self._open(task.folder, files, has_network=True) as box:
            solve = SOLVE.format(place=PLACE, solved=SOLVED, carried=_list_carried(task))
            solved = self._exec(box, solve)
            if solved.exit_code:
                raise EnvironmentFailure(f"its solution ends with {solved.exit_code}: {solved.last_line}")
            ran = self._exec(box, f"chmod +x {PLACE}/relay\n{command}")
            kept, tree = box.get(KEPT, LARGEST), box.get(SOLVED, LARGEST)
        refused = kept.pop("refused", b"").decode(errors="replace").splitlines()
        if ran.status is not Status.PASSED or refused:
            problem = VerifierRun(ran.status, tuple(refused), ran.output).describe()
            raise EnvironmentFailure(f"with its solution and a network the verifier gives {problem}")
        if not tree:
            raise EnvironmentFailure(f"{_list_carried(task)} takes more than {LARGEST // 2**20:,} MB")
        return kept, tree["solved.tar"]

    def check(self, sealed: Path, tree: bytes | None) -> VerifierRun:
        """Run the verifier of a sealed task without a network, on the solved tree or on the image's own."""
        files = {SOLVED.strip("/"): tree} if tree is not None else {}
        carry = f"rm -rf {shlex.join(self.task.carried)}\ntar -C / -xf {SOLVED}\n" if tree is not None else ""
        with self._open(sealed, files, has_network=False) as box:
            return self._exec(box, "chmod +x /tests/sealed/relay\nbash /tests/test.sh", carry)

    def _open(self, folder: Path, files: Mapping[str, bytes], *, has_network: bool) -> AbstractContextManager[Box]:
        for name in ("tests", "solution") if has_network else ("tests",):
            files = {**files, **{f"{name}/{path}": text for path, text in read_files(folder / name).items()}}
        limits = self.task.limits.model_copy(update={"network": has_network, "capabilities": POWERS})
        mounts = {str(self.files.absolute()): f"{PLACE}/files"} if self.files and has_network else {}
        return self.engine.open(BoxSpec(self.task.image, limits, mounts=mounts, archive=pack_tar(files, ["assay"])))

    def _exec(self, box: Box, command: str, before: str = "") -> VerifierRun:
        limits = self.task.limits
        script = f"{before}{self.task.prepare}\n{command}\n"
        env = {name: os.environ[name] for name in FORWARDED if os.environ.get(name)} if limits.network else {}
        ran = box.exec(["bash", "-c", script], workdir="/", env=env, seconds=limits.seconds)
        if ran.timed_out or ran.disk_exceeded:
            limit = f"takes more than {limits.seconds:,.0f} s" if ran.timed_out else "fills the disk"
            raise EnvironmentFailure(f"one run of its verifier {limit}")
        found = box.get(LOGS, LARGEST)
        name = next((name for name in REWARDS if name in found), "")
        tests = harbor_reward.read_file(name, found[name].decode(errors="replace")) if name else {}
        refused = found.get(UNFORESEEN, b"").decode(errors="replace").splitlines()
        output = ran.output.decode(errors="replace")
        return VerifierRun(next(iter(tests.values()), None), tuple(refused), output, ran.exit_code)


def list_lookups(graded: VerifierRun) -> list[str]:
    """Return the names of hosts that a run looked up for itself."""
    return [line.removeprefix(LOOKUP).partition(":")[0] for line in graded.refused if line.startswith(LOOKUP)]


def _list_carried(task: DownloadingTask) -> str:
    return shlex.join(path.strip("/") for path in task.carried)
