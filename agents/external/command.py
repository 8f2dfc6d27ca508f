"""Solver that runs a command-line agent, described by an adapter, in the instance's container.

The program is in a mounted folder and reaches the model only through the proxy: over a mounted Unix socket, to which
``bridge`` forwards an address of the loopback interface. Each of its questions counts as the sample's: it is metered,
recorded, a step of the trajectory, and refused beyond the budget.
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

from assay.agents.contract import Capabilities, CommandResult, Host, SolutionStatus, SolveOutcome, SolveSession
from assay.agents.external import bridge
from assay.agents.external.adapter import Adapter, fill, load_adapter
from assay.agents.external.importers import import_trajectory
from assay.agents.external.install import RUNTIME, build_mounts, tool_folder
from assay.agents.external.session_model import SessionModel
from assay.agents.llm.errors import BudgetExceeded, RequestRefused
from assay.agents.llm.proxy.dialects import DIALECTS
from assay.agents.llm.proxy.server import Proxy
from assay.harness.domain import Model
from assay.harness.errors import AssayError, UserError

MODEL = "/run/model"  # folder in the container with the proxy's socket and the bridge
HOME = "/tmp/agent"  # folder in the container for the program's own files, which must not be in the tree
PORT = 41700  # port of the bridge on the container's own loopback interface
GRACE = 10.0
"""Seconds to end after the first question that the budget refused, for a program to save its work."""
SOCKET, BRIDGE = "socket", "bridge.py"
VERSION_SECONDS = 120.0
OUTPUT_BYTES = 4 * 1024 * 1024
LOG_BYTES = 64 * 1024 * 1024  # limit on all files of a program that are kept
KEPT = "kept"
"""Folder for these files; the program chooses their names, and must not replace the harness's own files."""
MAX_LOGS = 200
ERROR_CHARACTERS = 1500  # length of the end of a program's output in the error


class CommandSettings(Model):
    adapter: str
    """Name of one of Assay's adapters, or path of a YAML file."""
    version: str = ""
    """Version of the program instead of the adapter's."""
    arguments: tuple[str, ...] = ()
    """"$@" of the adapter's shell commands."""
    shown_model: str = ""
    """Model name for the program, for programs that behave differently by name."""
    seconds: float | None = Field(default=None, gt=0)
    """Time limit if the run's budget has none."""


@dataclass(frozen=True, slots=True)
class _Paths:
    python: str
    bridge: str
    socket: str
    home: str
    port: int

    def values(self, adapter: Adapter, session: SolveSession, proxy: Proxy, model: str) -> dict[str, str]:
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
    """A command-line agent as a solver."""

    Settings: ClassVar[type[Model]] = CommandSettings

    def __init__(self, settings: CommandSettings) -> None:
        """Read the adapter. Raises UserError if there is none or it is wrong."""
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
        """Install the program unless the cache has it. Raises EnvironmentFailure, or UserError without containers."""
        if not host.engine.has_containers:
            raise UserError(f"{self.name} runs in a container, and the engine 'fake' has none; use --engine docker")
        self._mounts = build_mounts(self.adapter, host)

    def mounts(self, scratch: Path) -> Mapping[str, str]:
        shutil.copyfile(bridge.__file__, scratch / BRIDGE)
        (scratch / BRIDGE).chmod(0o644)
        return {**self._mounts, str(scratch): MODEL}

    def solve(self, session: SolveSession) -> SolveOutcome:
        """Run the program and keep its files; its exit code and the session's questions decide the outcome.

        Raises BudgetExceeded or ModelError if the last question had no answer, which ended the work.
        """
        with _paths(session) as (paths, unix_socket):
            name = self.settings.shown_model or session.recorder.agent.model_name or "model"
            model = SessionModel(session)
            log = None
            if session.logs is not None:
                session.logs.mkdir(parents=True, exist_ok=True)
                log = session.logs / "proxy.jsonl"
            dialects = [DIALECTS[self.adapter.speaks]]
            with Proxy(model, [name], log=log, unix_socket=unix_socket, dialects=dialects) as proxy:
                values = paths.values(self.adapter, session, proxy, name)
                result, version = self._run(session, paths, values)
            model.finish()
            self._keep_files(session, values, result)
        return self._outcome(result, model, version)

    def _run(self, session: SolveSession, paths: _Paths, values: Mapping[str, str]) -> tuple[CommandResult, str]:
        env = self._env(session, values)
        self._write_files(session, values)
        version = ""
        if self.adapter.version_command:
            result = session.workspace.exec(_bash(self.adapter.version_command), seconds=VERSION_SECONDS, env=env)
            if result.exit_code != 0:
                return result, ""
            version = "".join(result.output.strip().splitlines()[-1:])[:200]
        inner = shlex.join(["bash", "-o", "pipefail", "-c", self.adapter.run, self.name, *self.settings.arguments])
        command = f"{paths.python} -I {paths.bridge} {paths.port} {paths.socket} {GRACE} {inner}"
        seconds = session.budget.llm.seconds or self.settings.seconds or self.adapter.seconds
        return session.workspace.exec(command, seconds=seconds, env=env, output_bytes=OUTPUT_BYTES), version

    def _env(self, session: SolveSession, values: Mapping[str, str]) -> dict[str, str]:
        env = {f"ASSAY_{name.upper()}": value for name, value in values.items()}
        env["ASSAY_STEPS"] = str(session.budget.steps or "")
        return env | {name: fill(text, values) for name, text in self.adapter.env.items()}

    def _write_files(self, session: SolveSession, values: Mapping[str, str]) -> None:
        session.workspace.exec(f"mkdir -p {shlex.quote(values['logs'])}")
        issue = {"issue": session.task.problem_statement, "root": values["root"]}
        session.workspace.write(values["instruction"], fill(self.adapter.instruction, issue).encode())
        for path, content in self.adapter.files.items():
            session.workspace.write(fill(path, values), fill(content, values).encode())

    def _keep_files(self, session: SolveSession, values: Mapping[str, str], result: CommandResult) -> None:
        folder = session.logs
        if result.exit_code is None or folder is None:
            return
        redaction = session.recorder.redaction
        (folder / "output.txt").write_text(redaction.text(result.output), encoding="utf-8", errors="replace")
        remaining = LOG_BYTES
        for path in dict.fromkeys(
            path for each in self.adapter.logs for path in _matching(session, fill(each, values))
        ):
            content = session.workspace.read(path)
            remaining -= len(content or b"")
            if content is not None and remaining >= 0:
                (folder / KEPT).mkdir(exist_ok=True)
                name = str(PurePosixPath(path.removeprefix(values["home"]).removeprefix("/logs"))).strip("/")
                (folder / KEPT / name.replace("/", "_")).write_bytes(redaction.content(content))
        own = self.adapter.trajectory
        if own is not None:
            for path in _matching(session, fill(own.file, values))[:1]:
                self._import(session, own.importer, path)

    def _import(self, session: SolveSession, importer: str, path: str) -> None:
        """The agent's name in the record is the adapter's."""
        content = session.workspace.read(path)
        if content is None or session.logs is None:
            return
        try:
            read = import_trajectory(importer, content, path)
        except UserError as error:
            problem = session.recorder.redaction.text(f"{error}\n")
            (session.logs / "own-trajectory.problem.txt").write_text(problem, encoding="utf-8")
            return
        named = read.model_copy(update={"agent": read.agent.model_copy(update={"name": self.name})})
        text = session.recorder.redaction.json(named.model_dump_json(exclude_none=True))
        (session.logs / "own-trajectory.json").write_text(text, encoding="utf-8")

    def _outcome(self, result: CommandResult, model: SessionModel, version: str) -> SolveOutcome:
        """Return the outcome. The program's output never decides; the error only repeats what it suggests."""
        if result.timed_out:
            return SolveOutcome(status=SolutionStatus.LIMIT_TIME, error=f"{self.name} took too long")
        if model.is_out_of_steps:
            return SolveOutcome(status=SolutionStatus.LIMIT_STEPS, error=str(model.unanswered))
        refused = type(model.unanswered) is RequestRefused
        if model.unanswered is not None and not refused and (result.exit_code != 0 or _stops(model.unanswered)):
            raise model.unanswered
        extra = {"reported_version": version, "questions": model.answered}
        if result.exit_code == 0:
            return SolveOutcome(extra=extra)
        why = f"{self.name} ended with exit code {result.exit_code}"
        if result.exit_code is None:
            why = f"the container ended while {self.name} was running"
        hints = self.adapter.suggestions(result.output)
        if refused:
            why += f"; its last question was refused: {model.unanswered}"
        if hints:
            why += f"; its output suggests {', '.join(hints)}"
        last = result.output.strip()[-ERROR_CHARACTERS:]
        return SolveOutcome(status=SolutionStatus.AGENT_ERROR, error=f"{why}\n{last}".strip(), extra=extra)


def _stops(error: AssayError) -> bool:
    """Return whether an unanswered question ends the work even if the program exits with 0."""
    return isinstance(error, BudgetExceeded | UserError) or getattr(error, "is_infrastructure", False)


@contextmanager
def _paths(session: SolveSession) -> Iterator[tuple[_Paths, Path]]:
    """Yield the paths for a sample's program, and the path of its proxy's socket on the host."""
    if session.scratch is not None:
        inside = _Paths(f"{RUNTIME}/bin/python3", f"{MODEL}/{BRIDGE}", f"{MODEL}/{SOCKET}", HOME, PORT)
        yield inside, session.scratch / SOCKET
        return
    with tempfile.TemporaryDirectory(prefix="agent-") as name:  # the workspace is a folder of this machine
        path = Path(name) / SOCKET
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = int(server.getsockname()[1])
        yield _Paths(sys.executable, bridge.__file__, str(path), f"{name}/home", port), path


def _bash(text: str) -> str:
    return shlex.join(["bash", "-o", "pipefail", "-c", text])


def _matching(session: SolveSession, pattern: str) -> list[str]:
    """Return the paths in the workspace that a glob pattern matches, sorted; ``**`` matches folders at any depth."""
    quoted = "".join(each if each in "*?" else shlex.quote(each) for each in pattern)
    listed = session.workspace.exec(_bash(f'shopt -s globstar nullglob; for f in {quoted}; do echo "$f"; done'))
    return sorted(line for line in listed.output.splitlines() if line.startswith("/"))[:MAX_LOGS]
