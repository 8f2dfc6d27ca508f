"""The contract between the harness and a solver: what a solver gets, what it may do, what it leaves.

A solver never sees an ``Instance``. It gets an ``AgentTask``, an allow-list, and a ``Workspace``, a tree in which it
may do what it likes. The harness, not the solver, takes the patch from the workspace, after a limit or a crash as well.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from pydantic import Field

from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.chat import Answer, Message, ResponseFormat, Tool
from assay.agents.trajectory import Recorder, Trajectory
from assay.harness.domain import Model, Status
from assay.harness.engines.base import Engine

ROOT = "/testbed"
"""Where the repository lies in an agent's container."""


class AgentTask(Model):
    """Everything that a solver may know about an instance: an allow-list, and no field more.

    No id, no link, no hidden test and no gold patch is here; hints only for a solver that declares them as an oracle.
    """

    repo: str
    """Owner and name, or the name of the package."""
    language: str
    problem_statement: str
    root: str = ROOT
    hints: str = ""


class Oracle(StrEnum):
    """What a solver may declare to need and should not have; a run with one is exported to no leaderboard."""

    GOLD_PATCH = "gold_patch"
    FAIL_TO_PASS = "fail_to_pass"
    PASS_TO_PASS = "pass_to_pass"
    HINTS = "hints"
    INSTANCE_ID = "instance_id"
    """Which instance it is, for what plays back what somebody else did."""


class Oracles(Model):
    """What a solver is told because its capabilities declare it; all else is empty."""

    gold_patch: str = Field(default="", repr=False)
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    instance_id: str = ""


class Capabilities(Model):
    """What a solver needs."""

    oracle: frozenset[Oracle] = frozenset()
    needs_model: bool = True
    languages: frozenset[str] = frozenset()
    """Those it is good for; empty for all."""


class SolutionStatus(StrEnum):
    """How a solver's work ended. Only ``infra_error`` is tried again; a patch is kept in every case."""

    SUBMITTED = "submitted"
    EMPTY = "empty"
    """It ended as it should, without a change."""
    LIMIT_COST = "limit_cost"
    """Of money, tokens or calls."""
    LIMIT_STEPS = "limit_steps"
    LIMIT_TIME = "limit_time"
    CONTEXT_EXCEEDED = "context_exceeded"
    FORMAT_ERROR = "format_error"
    """The model did not keep to the form of an answer, too often."""
    AGENT_ERROR = "agent_error"
    INFRA_ERROR = "infra_error"


AgentStatus = Literal[
    SolutionStatus.SUBMITTED,
    SolutionStatus.EMPTY,
    SolutionStatus.LIMIT_COST,
    SolutionStatus.LIMIT_STEPS,
    SolutionStatus.LIMIT_TIME,
    SolutionStatus.CONTEXT_EXCEEDED,
    SolutionStatus.FORMAT_ERROR,
    SolutionStatus.AGENT_ERROR,
]
"""The statuses that a solver may report; only the harness can say that the infrastructure failed."""


class Candidate(Model):
    """One patch among several that a solver chose from."""

    patch: str = Field(repr=False)
    key: str = Field(default="", repr=False)
    """Its normalised form: equal keys are equal votes."""
    source: str = ""
    """Where it comes from, such as ``locations 2, sample 7``."""
    votes: int = 0
    scores: Mapping[str, float] = Field(default_factory=dict)
    """Such as ``regression_failed`` or ``reproduction``."""
    reason: str = ""
    """Why it is empty or was left out."""


class Budget(Model):
    """What a solver may use for one sample of one instance; None is no limit."""

    llm: BudgetLimits = Field(default_factory=BudgetLimits)
    """Money, tokens, calls, and seconds of the whole."""
    steps: int | None = Field(default=None, gt=0)
    command_seconds: float = Field(default=60.0, gt=0)
    """Of one command in the workspace."""


class Outcome(Model):
    """What a solver itself tells of its work."""

    status: AgentStatus = SolutionStatus.SUBMITTED
    patch: str | None = Field(default=None, repr=False)
    """The patch it chose among its candidates; None: the workspace is the answer, as it stands."""
    candidates: tuple[Candidate, ...] = Field(default=(), repr=False)
    error: str = ""
    extra: Mapping[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What became of a command in a workspace."""

    exit_code: int | None
    """As the shell tells it; 124 and ``timed_out`` when it took too long, None when the workspace is gone."""
    output: str
    """Standard output and error as they came; head and tail only when ``truncated``."""
    seconds: float = 0.0
    timed_out: bool = False
    truncated: bool = False


class Workspace(Protocol):
    """A tree at the base commit, in a container or a folder, that a solver may change.

    Paths are relative to the root of the repository, or absolute.
    """

    root: str

    def exec(
        self,
        command: str,
        *,
        seconds: float = 60.0,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        output_bytes: int = 1024 * 1024,
    ) -> CommandResult:
        """Run a shell command in the root of the repository, in a shell of its own: nothing but files survives it.

        A command that takes too long is killed with all it started; the workspace stays. Raises EngineError.
        """
        ...

    def read(self, path: str) -> bytes | None:
        """Return a file's content; None if there is no regular file of that name."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Write a file, with the folders above it."""
        ...

    def files(self) -> tuple[str, ...]:
        """Return the paths of all files that git does not ignore, sorted."""
        ...

    def texts(self, suffixes: Sequence[str] = ()) -> dict[str, str]:
        """Return path to text of all such files, or of those with these suffixes, at once; no binary files."""
        ...

    def diff(self) -> str:
        """Return the difference from the base tree, new files included, whatever was committed or staged."""
        ...

    def apply(self, patch: str) -> bool:
        """Apply a patch to the tree as it stands; returns False, and changes nothing, if it does not apply."""
        ...

    def snapshot(self) -> str:
        """Keep the present state of the files that git does not ignore; return its name."""
        ...

    def restore(self, snapshot: str) -> None:
        """Go back to a state; the base tree is the state ``base``."""
        ...

    def fork(self, snapshot: str) -> AbstractContextManager["Workspace"]:
        """Open another workspace in a state of this one; it is gone when its context ends."""
        ...

    def run_tests(self, files: Sequence[str] = (), *, extra: Mapping[str, bytes] | None = None) -> dict[str, Status]:
        """Run test files of the tree in its present state, in a fresh container; the tree's own tests, no hidden one.

        Args:
            files: paths of test files; all that the project has when empty.
            extra: files laid into the tree for this run only, path to content.

        Raises:
            UserError: nobody can say how: a folder without a runner, or a published image, whose script runs hidden
                tests. TestsNotRunError (an AssayError): the difference cannot be applied, such as one with a symbolic
                link. EngineError: the engine failed.
        """
        ...


class Asking(Model):
    """How a question is asked; None leaves it to the run's setting or to the endpoint."""

    temperature: float | None = None
    max_tokens: int | None = None
    """Of the answer."""
    tools: tuple[Tool, ...] = ()
    stop: tuple[str, ...] = ()
    response_format: ResponseFormat | None = None
    extra: Mapping[str, Any] = Field(default_factory=dict)
    """Parameters that the endpoint knows beyond these."""


USUAL = Asking()


class Talk(Protocol):
    """How a solver asks its model: metered, recorded, and every question is a step of the trajectory."""

    def ask(self, messages: Sequence[Message], how: Asking = USUAL, *, purpose: str = "") -> Answer:
        """Ask once; ``messages`` is the whole conversation. The same question again is another sample of it.

        The answer is a step of the trajectory, told with its ``purpose`` in a word or two.

        Raises:
            ModelError: there is no answer. BudgetExceeded: a limit leaves no room for the call.
        """
        ...

    def samples(
        self, messages: Sequence[Message], count: int, how: Asking = USUAL, *, purpose: str = ""
    ) -> list[Answer]:
        """Ask the same question several times."""
        ...


@dataclass(frozen=True, slots=True)
class Session:
    """All that a solver works with for one sample of one instance."""

    task: AgentTask
    workspace: Workspace
    talk: Talk
    recorder: Recorder
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    scratch: Path | None = None
    """Folder of the host for this sample alone, the one that ``Installed.mounts`` was asked with; gone afterwards."""
    logs: Path | None = None
    """Folder of the run for files that a solver leaves beside its trajectory; None: nobody keeps them."""
    oracles: Oracles = field(default_factory=Oracles)
    """Empty but for what the solver's capabilities declare; hints are in the task."""


class Agent(Protocol):
    """A solver.

    It is a class that takes its ``Settings``; ``agents.AGENTS`` names it. It raises nothing that it can tell as an
    outcome, and lets ``BudgetExceeded``, ``ModelError`` and ``EngineError`` through: the harness knows their status.
    """

    Settings: ClassVar[type[Model]]
    """What a user may set, as ``--set key=value``."""
    name: str
    version: str
    capabilities: Capabilities

    def solve(self, session: Session) -> Outcome:
        """Work on one instance; what is left in the workspace counts, also if this raises."""
        ...


@dataclass(frozen=True, slots=True)
class Host:
    """Where programs of others are installed, before any work begins."""

    engine: Engine
    cache: Path
    """Folder that keeps what was installed for the next run."""
    toolchains: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The user's own images: language to version to name."""
    note: Callable[[str], None] = lambda _text: None
    """Told of every step that takes time, in one line each."""


@runtime_checkable
class Installed(Protocol):
    """A solver that needs something of the host in its container; what a solver may have beyond ``Agent``."""

    def prepare(self, host: Host) -> None:
        """Install what is missing, once before a run; raises UserError or EnvironmentFailure."""
        ...

    def mounts(self, scratch: Path) -> Mapping[str, str]:
        """Return what a sample's container mounts read-only: path on the host to path in the container.

        Args:
            scratch: an empty folder for this sample alone that every user may enter; its path is short (a socket
                comes to lie in it). The solver finds it as ``Session.scratch``.
        """
        ...


class Usage(Model):
    """What one sample of one instance took."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None if the price of a call is unknown."""
    paid: float | None = 0.0
    """Of it, what was not answered from the recording."""
    seconds: float = 0.0
    model_seconds: float = 0.0
    command_seconds: float = 0.0


class Solution(Model):
    """What came of one sample of one instance, as the harness saw it."""

    instance_id: str
    sample: int = 0
    agent: str
    model: str = ""
    status: SolutionStatus
    patch: str = Field(default="", repr=False)
    candidates: tuple[Candidate, ...] = Field(default=(), repr=False)
    usage: Usage = Field(default_factory=Usage)
    steps: int = 0
    """Of the agent, in its trajectory."""
    suspect_access: tuple[str, ...] = ()
    """What the trajectory shows of looking for the answer."""
    junk: tuple[str, ...] = ()
    """Files that the patch adds or changes and that look like by-products; told, never taken out."""
    error: str = ""
    attempts: int = 1
    trajectory: Trajectory | None = Field(default=None, repr=False, exclude=True)
