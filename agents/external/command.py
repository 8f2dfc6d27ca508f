"""A command-line agent of others, as an adapter describes it, in the container of an instance.

The program lies in a folder that the container mounts, and reaches the model through the metering proxy alone: over a
Unix socket that is mounted too, and an address on the loopback interface that ``bridge`` serves. Every question that it
asks is one of this sample's: metered, recorded, a step of the trajectory, and refused beyond the budget.
"""

import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import ClassVar

from pydantic import Field

from assay.agents.contract import Capabilities, CommandResult, Host, Outcome, Session, SolutionStatus
from assay.agents.external import bridge
from assay.agents.external.adapters import Adapter, fill, load_adapter
from assay.agents.external.importers import import_trajectory
from assay.agents.external.installed import RUNTIME, mounts_of, tool_folder
from assay.agents.external.overheard import Overheard
from assay.agents.llm.errors import BudgetExceeded, RequestRefused
from assay.agents.llm.proxy.dialects import DIALECTS
from assay.agents.llm.proxy.server import Proxy
from assay.harness.domain import Model
from assay.harness.errors import AssayError, UserError

MODEL = "/run/model"
"""Folder in the container with the way to the model."""
HOME = "/tmp/agent"
"""Folder in the container for what a program keeps; the tree is no place for it."""
PORT = 41700
"""Of the container's own loopback interface, which nobody else uses."""
GRACE = 10.0
"""Seconds that a program has after the first question that the budget refused; it may save its work meanwhile."""
SOCKET, BRIDGE = "socket", "bridge.py"
VERSION_SECONDS = 120.0
OUTPUT_BYTES = 4 * 1024 * 1024
LOG_BYTES = 64 * 1024 * 1024
"""Of all files of a program that are kept."""
KEPT = "kept"
"""Folder of these: their names are the program's choice, and must not stand in for what the harness tells."""
MOST_LOGS = 200
LEFT = 1500
"""Characters of a program's last words that are told."""


class CommandSettings(Model):
    """Which program, and what of its adapter a run says otherwise."""

    adapter: str
    """Name of one that comes with Assay, or path of a YAML file."""
    version: str = ""
    """Another version of the program than the adapter's."""
    arguments: tuple[str, ...] = ()
    """Given to the adapter's shell text as "$@"."""
    shown_model: str = ""
    """Name of the model as the program hears it, where the real one would lead it astray."""
    seconds: float | None = Field(default=None, gt=0)
    """How long it may take, where the run's budget does not say."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where things lie for one sample's program, and by which port it reaches the model."""

    python: str
    bridge: str
    socket: str
    home: str
    port: int

    def values(self, adapter: Adapter, session: Session, proxy: Proxy, model: str) -> dict[str, str]:
        """Return what an adapter's placeholders stand for."""
        return {
            "base_url": f"http://127.0.0.1:{self.port}/v1",
            "origin": f"http://127.0.0.1:{self.port}",
            "token": proxy.token,
            "model": model,
            "home": self.home,
            "logs": f"{self.home}/logs",
            "tool": tool_folder(adapter.name),
            "root": session.workspace.root,
            "instruction": f"{self.home}/instruction.md",
        }


class Command:
    """A program of others as a solver."""

    Settings: ClassVar[type[Model]] = CommandSettings

    def __init__(self, settings: CommandSettings) -> None:
        """Read the adapter.

        Raises:
            UserError: there is none, or it is wrong.
        """
        adapter = load_adapter(settings.adapter)
        if settings.version:
            install = adapter.install.model_copy(update={"version": settings.version})
            adapter = adapter.model_copy(update={"install": install})
        self.adapter = adapter
        self.settings = settings
        self.name = adapter.name
        adapted = sha256(adapter.model_dump_json().encode()).hexdigest()[:8]
        self.version = f"{adapter.install.version} (adapter {adapted})".strip()
        self.capabilities = Capabilities(needs_model=adapter.needs_model)
        self._mounts: Mapping[str, str] = {}

    def prepare(self, host: Host) -> None:
        """Install the program unless the cache has it; raises EnvironmentFailure, or UserError without containers."""
        if host.engine.name == "fake":
            raise UserError(f"{self.name} runs in a container, and the engine 'fake' has none; use --engine docker")
        self._mounts = mounts_of(self.adapter, host)

    def mounts(self, scratch: Path) -> Mapping[str, str]:
        """Return the program, what it runs on, and the way to the model."""
        shutil.copyfile(bridge.__file__, scratch / BRIDGE)
        (scratch / BRIDGE).chmod(0o644)
        return {**self._mounts, str(scratch): MODEL}

    def solve(self, session: Session) -> Outcome:
        """Let the program work, keep what it tells, and judge by its exit code and by what the model was asked.

        Raises:
            BudgetExceeded, ModelError: the last question to the model had no answer, and the work ended with that.
        """
        with _place(session) as (place, unix_socket):
            model = self.settings.shown_model or session.recorder.agent.model_name or "model"
            asked = Overheard(session)
            log = None
            if session.logs is not None:
                session.logs.mkdir(parents=True, exist_ok=True)
                log = session.logs / "proxy.jsonl"
            dialects = [DIALECTS[self.adapter.speaks]]
            with Proxy(asked, [model], log=log, unix_socket=unix_socket, dialects=dialects) as proxy:
                values = place.values(self.adapter, session, proxy, model)
                result, reported = self._work(session, place, values)
            asked.finish()
            self._keep(session, values, result)
        return self._outcome(result, asked, reported)

    def _work(self, session: Session, place: _Place, values: Mapping[str, str]) -> tuple[CommandResult, str]:
        """Run the program; return what became of it, and which version it says it is."""
        env = self._env(session, values)
        self._lay(session, values)
        reported = ""
        if self.adapter.version_command:
            told = session.workspace.exec(_bash(self.adapter.version_command), seconds=VERSION_SECONDS, env=env)
            if told.exit_code != 0:
                return told, ""
            reported = "".join(told.output.strip().splitlines()[-1:])[:200]
        inner = shlex.join(["bash", "-o", "pipefail", "-c", self.adapter.run, self.name, *self.settings.arguments])
        command = f"{place.python} -I {place.bridge} {place.port} {place.socket} {GRACE} {inner}"
        seconds = session.budget.llm.seconds or self.settings.seconds or self.adapter.seconds
        return session.workspace.exec(command, seconds=seconds, env=env, output_bytes=OUTPUT_BYTES), reported

    def _env(self, session: Session, values: Mapping[str, str]) -> dict[str, str]:
        own = {f"ASSAY_{name.upper()}": value for name, value in values.items()}
        own["ASSAY_STEPS"] = str(session.budget.steps or "")
        return own | {name: fill(text, values) for name, text in self.adapter.env.items()}

    def _lay(self, session: Session, values: Mapping[str, str]) -> None:
        """Write the instruction and the files of the adapter."""
        session.workspace.exec(f"mkdir -p {shlex.quote(values['logs'])}")
        told = fill(self.adapter.instruction, {"issue": session.task.problem_statement, "root": values["root"]})
        session.workspace.write(values["instruction"], told.encode())
        for path, content in self.adapter.files.items():
            session.workspace.write(fill(path, values), fill(content, values).encode())

    def _keep(self, session: Session, values: Mapping[str, str], result: CommandResult) -> None:
        """Keep the program's output, the files that its adapter names, and its own trajectory in our form."""
        folder = session.logs
        if result.exit_code is None or folder is None:
            return
        (folder / "output.txt").write_text(result.output, encoding="utf-8", errors="replace")
        left = LOG_BYTES
        for path in dict.fromkeys(
            path for each in self.adapter.logs for path in _matching(session, fill(each, values))
        ):
            content = session.workspace.read(path)
            left -= len(content or b"")
            if content is not None and left >= 0:
                (folder / KEPT).mkdir(exist_ok=True)
                (folder / KEPT / _flat(path, values["home"])).write_bytes(content)
        told = self.adapter.trajectory
        if told is not None:
            for path in _matching(session, fill(told.file, values))[:1]:
                self._import(session, told.importer, path)

    def _import(self, session: Session, importer: str, path: str) -> None:
        """Keep the program's own trajectory in our form, under its own name: some write in another's form."""
        content = session.workspace.read(path)
        if content is None or session.logs is None:
            return
        try:
            told = import_trajectory(importer, content, path)
        except UserError as error:
            (session.logs / "own-trajectory.problem.txt").write_text(f"{error}\n", encoding="utf-8")
            return
        told = told.model_copy(update={"agent": told.agent.model_copy(update={"name": self.name})})
        (session.logs / "own-trajectory.json").write_text(told.model_dump_json(exclude_none=True), encoding="utf-8")

    def _outcome(self, result: CommandResult, asked: Overheard, reported: str) -> Outcome:
        """Say how it ended. The output never decides: it only suggests why, in the error's text."""
        if result.timed_out:
            return Outcome(status=SolutionStatus.LIMIT_TIME, error=f"{self.name} took too long")
        if asked.is_out_of_steps:
            return Outcome(status=SolutionStatus.LIMIT_STEPS, error=str(asked.unanswered))
        refused = type(asked.unanswered) is RequestRefused
        if asked.unanswered is not None and not refused and (result.exit_code != 0 or _stops(asked.unanswered)):
            raise asked.unanswered
        extra = {"reported_version": reported, "questions": asked.answered}
        if result.exit_code == 0:
            return Outcome(extra=extra)
        why = f"{self.name} ended with exit code {result.exit_code}"
        if result.exit_code is None:
            why = f"the container ended while {self.name} was at work"
        hints = self.adapter.suggestions(result.output)
        if refused:
            why += f"; its last question was refused: {asked.unanswered}"
        if hints:
            why += f"; its output suggests {', '.join(hints)}"
        last = result.output.strip()[-LEFT:]
        return Outcome(status=SolutionStatus.AGENT_ERROR, error=f"{why}\n{last}".strip(), extra=extra)


def _stops(error: AssayError) -> bool:
    """Tell whether an unanswered question ends the work even of a program that says all is well."""
    return isinstance(error, BudgetExceeded | UserError) or getattr(error, "is_transient", False)


@contextmanager
def _place(session: Session) -> Iterator[tuple[_Place, Path]]:
    """Give the places of a sample's program, and the socket of its proxy on the host."""
    if session.scratch is not None:
        inside = _Place(f"{RUNTIME}/bin/python3", f"{MODEL}/{BRIDGE}", f"{MODEL}/{SOCKET}", HOME, PORT)
        yield inside, session.scratch / SOCKET
        return
    with tempfile.TemporaryDirectory(prefix="agent-") as name:  # a workspace on this machine
        path = Path(name) / SOCKET
        yield _Place(sys.executable, bridge.__file__, str(path), f"{name}/home", _free_port()), path


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _bash(text: str) -> str:
    return shlex.join(["bash", "-o", "pipefail", "-c", text])


def _matching(session: Session, pattern: str) -> list[str]:
    """Return the paths in the workspace that a pattern matches, sorted; ``**`` goes through folders."""
    listed = session.workspace.exec(
        _bash(f'shopt -s globstar nullglob; for f in {_quoted(pattern)}; do echo "$f"; done')
    )
    return sorted(line for line in listed.output.splitlines() if line.startswith("/"))[:MOST_LOGS]


def _quoted(pattern: str) -> str:
    """Quote a pattern for the shell but for its stars and question marks."""
    return "".join(each if each in "*?" else shlex.quote(each) for each in pattern)


def _flat(path: str, home: str) -> str:
    """Return a file name for a path in the container."""
    return str(PurePosixPath(path.removeprefix(home).removeprefix("/logs"))).strip("/").replace("/", "_")
