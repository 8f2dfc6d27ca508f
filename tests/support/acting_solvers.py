"""Solvers of the tests, and a setup that runs them on the engine without containers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from assay.agents.contract import Budget, Capabilities, SolveOutcome, SolveSession
from assay.agents.llm.chat import ChatModel, Message, Speaker
from assay.agents.sampling.recorded_model import ModelDefaults
from assay.agents.sampling.solve import NoModel, SolveSetup
from assay.agents.sampling.store import SolveStore
from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.opener import WorkspaceOpener
from assay.harness.domain import Instance, Model
from assay.harness.engines.fake import FakeEngine, image_name
from benches import StubBench


class NoSettings(Model):
    """There is nothing to set."""


@dataclass
class Acting:
    """A solver that does what a test says."""

    act: Callable[[SolveSession], SolveOutcome | None]
    capabilities: Capabilities = field(default_factory=Capabilities)
    name: str = "acting"
    version: str = "1"
    Settings: ClassVar[type[Model]] = NoSettings

    def solve(self, session: SolveSession) -> SolveOutcome:
        return self.act(session) or SolveOutcome()


def fix(session: SolveSession) -> None:
    """Ask once and change one file."""
    said = session.model.ask([Message(role=Speaker.USER, content=session.task.problem_statement)], purpose="fix")
    session.workspace.write("fix.py", f"{said.content}\n".encode())


def solver_of(
    root: Path,
    agent: Any,
    instances: Sequence[Instance],
    model: ChatModel | None = None,
    *,
    budget: Budget | None = None,
    bench: Any = None,
    **defaults: Any,
) -> SolveSetup:
    """Return a solver over the engine without containers; a model answers within the sample's budget."""
    bench = bench or StubBench(FakeEngine({image_name(each): each for each in instances}))
    return SolveSetup(
        agent,
        WorkspaceOpener(bench, AgentImages(bench.engine, root / "cache"), {"assay.run": "test"}),
        SolveStore(root / "run"),
        budget or Budget(),
        ModelDefaults(**{"model": "tiny", **defaults}),
        llm=model or NoModel(),
    )
