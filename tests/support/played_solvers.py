"""Run a solver on a few files with a scripted model."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.agents.contract import Agent, AgentTask, Budget, SolveOutcome, SolveSession
from assay.agents.llm.budget import Ledger
from assay.agents.llm.chat import Answer, Request
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.sampling.workspaces.folder import FolderWorkspace, folder_workspace
from assay.agents.trajectory import AgentInfo, Step, Trajectory, TrajectoryRecorder


@dataclass
class Played:
    """A finished run: outcome, requests, workspace and trajectory."""

    outcome: SolveOutcome
    asked: list[Request]
    workspace: FolderWorkspace
    trajectory: Trajectory
    """Read from disk."""

    @property
    def actions(self) -> list[Step]:
        """Return the steps that did something."""
        return [step for step in self.trajectory.steps if step.tool_calls]

    def said(self, number: int) -> str:
        """Return the last message of a question."""
        return str(self.asked[number].messages[-1].content)

    def file(self, path: str) -> str:
        """Return a file as the solver left it."""
        return (self.workspace.read(path) or b"").decode()


class Player:
    """A tree, a model and a recorder; what they are stays to be looked at, also if the solver raises."""

    def __init__(
        self, folder: Path, files: Mapping[str, str], lines: Iterable[str | Answer], budget: Budget | None = None
    ) -> None:
        self.asked: list[Request] = []
        self.workspace = folder_workspace(folder / "tree", files)
        self._lines: Iterator[str | Answer] = iter(lines)
        self._record = folder / "trajectory.json"
        self._recorder = TrajectoryRecorder(self._record, AgentInfo(name="played", version="1"))
        self._budget = budget or Budget()

    def play(self, agent: Agent, statement: str, language: str = "python") -> Played:
        """Let a solver work on the files; every line answers one question of it."""
        ledger = Ledger(self._budget.llm)
        recorded = RecordedModel(Scripted(self._answer), self._recorder, ModelDefaults(model="toy"), ledger)
        task = AgentTask(repo="acme/toy", language=language, problem_statement=statement, root=self.workspace.root)
        outcome = agent.solve(SolveSession(task, self.workspace, recorded, self._recorder, self._budget))
        trajectory = Trajectory.model_validate_json(self._record.read_bytes())
        return Played(outcome, self.asked, self.workspace, trajectory)

    def _answer(self, request: Request) -> str | Answer:
        self.asked.append(request)
        return next(self._lines)
