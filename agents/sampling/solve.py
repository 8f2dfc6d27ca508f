"""The story of one sample of one instance: a task and a workspace go to a solver, and a solution comes out.

The harness takes the difference from the workspace itself, after a limit, a crash or an exception of the solver as
well. Only what the infrastructure does wrong is worth another try.
"""

import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.agents.contract import (
    Agent,
    Budget,
    Installed,
    Outcome,
    Session,
    Solution,
    SolutionStatus,
    Usage,
)
from assay.agents.llm.budget import BudgetLimits, Ledger
from assay.agents.llm.chat import Answer, ChatModel, Request
from assay.agents.llm.errors import BudgetExceeded, ContextTooLong, ModelError
from assay.agents.sampling.habitat import Habitat
from assay.agents.sampling.junk import junk
from assay.agents.sampling.scan import scan
from assay.agents.sampling.store import SolveStore
from assay.agents.sampling.talk import Defaults, ModelTalk
from assay.agents.sampling.task import make_task, oracles
from assay.agents.sampling.workspaces.checkout import TreeWorkspace
from assay.agents.trajectory import AgentInfo, FinalMetrics, Recorder, Step, Trajectory
from assay.harness.domain import Instance
from assay.harness.errors import AssayError, EngineError, EnvironmentFailure, ImageMissing, UserError

Within = Callable[[BudgetLimits], tuple[ChatModel, Ledger]]
"""Gives the run's model under the limits of one sample."""


class RunBudgetExceeded(BudgetExceeded):
    """The budget of the whole run leaves no room for a call; with a larger one the sample goes on where it was."""


class NoModel:
    """Stands for the model of a run without one."""

    def complete(self, request: Request) -> Answer:  # noqa: ARG002 - the Protocol names it
        """Refuse."""
        raise UserError("this solver asks a model; name one with --model (and --base-url)")


def no_model(limits: BudgetLimits) -> tuple[ChatModel, Ledger]:
    """Return a model that refuses every question."""
    return NoModel(), Ledger(limits)


@dataclass(frozen=True, slots=True)
class Job:
    """One sample of one instance."""

    instance: Instance
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Solver:
    """What all samples of a run share."""

    agent: Agent
    habitat: Habitat
    store: SolveStore
    budget: Budget = field(default_factory=Budget)
    defaults: Defaults = field(default_factory=lambda: Defaults(model="none"))
    seed: int = 0
    within: Within = no_model

    @property
    def model(self) -> str:
        """The model's name; empty for a solver without one."""
        return self.defaults.model if self.agent.capabilities.needs_model else ""


@dataclass(frozen=True, slots=True)
class Solved:
    """A solution, and what the run has to know beside it."""

    solution: Solution
    is_final: bool = True
    is_worth_another_try: bool = False


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a solver's work ended, and the patch that was taken then."""

    status: SolutionStatus
    error: str = ""
    outcome: Outcome = field(default_factory=Outcome)
    """What the solver itself reported; a solver that raised reported nothing."""
    is_final: bool = True
    is_worth_another_try: bool = False
    patch: str = ""
    command_seconds: float = 0.0


def solve(job: Job, solver: Solver) -> Solved:
    """Solve one sample of one instance in a fresh workspace.

    Raises:
        UserError: something that a person must mend, such as the model's key; it would meet every sample.
    """
    return _Sample(job, solver).solve()


class _Sample:
    """One sample at work: its folder, its conversation and its trajectory."""

    def __init__(self, job: Job, solver: Solver) -> None:
        self._job, self._solver = job, solver
        self._began = time.monotonic()
        self._folder = solver.store.open_sample(job.instance.id, job.sample)
        info = AgentInfo(name=solver.agent.name, version=solver.agent.version, model_name=solver.model or None)
        self._recorder = Recorder(self._folder / "trajectory.json", info, session_id=f"{job.instance.id}-{job.sample}")
        model, self._ledger = solver.within(solver.budget.llm)
        seed = None if solver.defaults.seed is None else solver.defaults.seed + job.sample
        defaults = solver.defaults.model_copy(update={"seed": seed})
        self._talk = ModelTalk(model, self._recorder, defaults, sample=job.sample)

    def solve(self) -> Solved:
        """Open a workspace, let the solver work in it, and take what it left."""
        instance = self._job.instance
        try:
            with (
                _scratch(self._solver) as (scratch, mounts),
                self._solver.habitat.open(instance, mounts) as workspace,
            ):
                ending = self._work(workspace, scratch)
        except UserError:
            raise
        except Exception as error:  # the infrastructure's, or a mistake of ours: it must not cost the others theirs
            self._log(traceback.format_exc())
            ending = _not_begun(error)
        return Solved(self._solution(ending), ending.is_final, ending.is_worth_another_try)

    def _work(self, workspace: TreeWorkspace, scratch: Path | None) -> _Ending:
        """Let the solver work, and take the difference whatever became of it."""
        job, solver = self._job, self._solver
        task = make_task(job.instance, solver.agent.capabilities, workspace.root)
        solver.store.save_task(job.instance.id, job.sample, task)
        session = Session(
            task=task,
            workspace=workspace,
            talk=self._talk,
            recorder=self._recorder,
            budget=solver.budget,
            seed=solver.seed + job.sample,
            scratch=scratch,
            logs=self._folder / "logs",
            oracles=oracles(job.instance, solver.agent.capabilities),
        )
        try:
            outcome = solver.agent.solve(session)
            ending = _Ending(outcome.status, outcome.error, outcome)
        except UserError:
            raise
        except Exception as error:
            self._log(traceback.format_exc())
            ending = _ended_by(error, workspace)
        patch = ending.outcome.patch
        if patch is None:
            patch = "" if workspace.is_gone else workspace.diff()
        return replace(ending, patch=patch, command_seconds=workspace.command_seconds)

    def _solution(self, ending: _Ending) -> Solution:
        outcome, instance = ending.outcome, self._job.instance
        seconds = {"seconds": time.monotonic() - self._began, "command_seconds": ending.command_seconds}
        usage = self._talk.usage.model_copy(update=seconds)
        trajectory = _finish(self._recorder, usage, ending)
        return Solution(
            instance_id=instance.id,
            sample=self._job.sample,
            agent=self._solver.agent.name,
            model=self._solver.model,
            status=_status(ending.status, ending.patch),
            patch=ending.patch,
            candidates=outcome.candidates,
            usage=usage,
            steps=_steps(trajectory),
            suspect_access=scan(trajectory, instance.repo.rpartition("/")[2]) if trajectory else (),
            junk=junk(ending.patch, instance.language),
            error=ending.error,
            trajectory=trajectory,
        )

    def _log(self, text: str) -> None:
        self._solver.store.log(self._job.instance.id, self._job.sample, text)


def _ended_by(error: Exception, workspace: TreeWorkspace) -> _Ending:
    """Say how a solver ended that raised; what it left counts all the same."""
    told = str(error) or type(error).__name__
    if isinstance(error, BudgetExceeded):
        status = SolutionStatus.LIMIT_TIME if error.limit == "seconds" else SolutionStatus.LIMIT_COST
        return _Ending(status, told, is_final=not isinstance(error, RunBudgetExceeded))
    if isinstance(error, ContextTooLong):
        return _Ending(SolutionStatus.CONTEXT_EXCEEDED, told)
    is_ours = isinstance(error, EngineError) and not workspace.is_gone
    if is_ours or (isinstance(error, ModelError) and error.is_transient):
        return _failure(told, is_worth_another_try=True)
    if not isinstance(error, AssayError):
        told = f"{type(error).__name__}: {told}"
    return _Ending(SolutionStatus.AGENT_ERROR, told)


def _not_begun(error: Exception) -> _Ending:
    """Say how a sample ended whose workspace could not be opened, or was taken from it."""
    if isinstance(error, EnvironmentFailure | ImageMissing):
        tail = getattr(error, "tail", "")
        return _failure(f"{error}\n{tail}".strip(), is_worth_another_try=False)
    told = str(error) if isinstance(error, EngineError) else f"internal error: {error!r}"
    return _failure(told, is_worth_another_try=True)


def _failure(told: str, *, is_worth_another_try: bool) -> _Ending:
    return _Ending(SolutionStatus.INFRA_ERROR, told, is_final=False, is_worth_another_try=is_worth_another_try)


def _status(status: SolutionStatus, patch: str) -> SolutionStatus:
    """Tell what was submitted from what is empty, by the patch itself."""
    if status in {SolutionStatus.SUBMITTED, SolutionStatus.EMPTY}:
        return SolutionStatus.SUBMITTED if patch.strip() else SolutionStatus.EMPTY
    return status


def _steps(trajectory: Trajectory | None) -> int:
    """Count what an agent thought of; what was done without asking a model belongs to the step before."""
    steps = trajectory.steps if trajectory else ()
    return sum(step.source == "agent" and step.llm_call_count != 0 for step in steps)


def _finish(recorder: Recorder, usage: Usage, ending: _Ending) -> Trajectory | None:
    """Write the trajectory's end; one without any step tells how it ended in a step of the harness."""
    begun = recorder.trajectory()
    if begun is None:
        recorder.add(Step(source="system", message=f"ended: {ending.status}{': ' * bool(ending.error)}{ending.error}"))
    total = FinalMetrics(
        total_prompt_tokens=usage.prompt_tokens,
        total_completion_tokens=usage.completion_tokens,
        total_cached_tokens=usage.cached_tokens,
        total_cost_usd=usage.cost,
        total_steps=len(begun.steps) if begun else 1,
    )
    return recorder.finish(final_metrics=total, extra=dict(ending.outcome.extra) or None)


@contextmanager
def _scratch(solver: Solver) -> Iterator[tuple[Path | None, Mapping[str, str]]]:
    """Give a folder for one sample alone, and what of it the solver wants to be mounted; nothing for most solvers.

    Its name tells nothing: a container sees the host's path of what is mounted.
    """
    agent = solver.agent
    if not isinstance(agent, Installed) or not solver.habitat.has_containers:
        yield None, {}
        return
    with tempfile.TemporaryDirectory(prefix="a-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder, agent.mounts(folder)
