"""A sample that is solved on another machine: what goes there, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.agents.contract import Agent, Budget, Host, InstallableAgent, Solution, SolutionStatus
from assay.agents.llm.chat import ChatModel
from assay.agents.llm.prices import Prices
from assay.agents.sampling.recorded_model import ModelDefaults
from assay.agents.sampling.solve import SolveJob, SolveResult, SolveSetup, solve
from assay.agents.sampling.store import SolveStore
from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.opener import WorkspaceOpener
from assay.harness.errors import AttemptLost, UserError
from assay.harness.files import default_cache
from assay.harness.runs.workbench import Cluster, Workbench


@dataclass(frozen=True, slots=True)
class SolvedAway:
    """What a worker answers; only the driver writes the run's folder."""

    result: SolveResult | UserError
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Content of the sample's folder, by path."""


@dataclass(frozen=True, slots=True)
class DistantSolver:
    """All of a solver that is the same on every machine; it can be pickled, if the agent can."""

    agent: Agent
    budget: Budget
    defaults: ModelDefaults
    seed: int
    llm: ChatModel
    """Asks the run's model from anywhere."""
    prices: Prices
    labels: Mapping[str, str]
    toolchains: Mapping[str, Mapping[str, str]]

    def solve(self, job: SolveJob, bench: Workbench) -> SolvedAway:
        """Solve a sample on this machine; what a person must fix is an answer, since it ends the run."""
        cache = default_cache()
        with TemporaryDirectory(prefix="assay-solve-") as name:
            images = AgentImages(bench.engine, cache) if bench.engine.has_containers else None
            workspaces, store = WorkspaceOpener(bench, images, self.labels), SolveStore(Path(name))
            setup = SolveSetup(
                self.agent, workspaces, store, self.budget, self.defaults, self.seed, self.llm, self.prices
            )
            try:
                if isinstance(self.agent, InstallableAgent) and images is not None:
                    self.agent.prepare(Host(bench.engine, cache, self.toolchains))
                result = solve(job, setup)
            except UserError as error:
                return SolvedAway(error)
            folder = store.folder(job.instance.id, job.sample)
            kept = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
            return SolvedAway(result, {str(path.relative_to(folder)): path.read_bytes() for path in kept})


def solve_away(job: SolveJob, solver: DistantSolver, cluster: Cluster, store: SolveStore) -> SolveResult:
    """Have a worker solve a sample, another one if that is lost, and keep its files here.

    Raises UserError as ``solve`` does, and RunStopped if the cluster was aborted.
    """
    try:
        solved = cluster.attempt(partial(solver.solve, job))
    except AttemptLost as error:
        who = {"instance_id": job.instance.id, "sample": job.sample, "agent": solver.agent.name}
        lost = Solution.model_validate({**who, "status": SolutionStatus.INFRA_ERROR, "error": str(error)})
        return SolveResult(lost, is_final=False, is_worth_another_try=True)
    if isinstance(solved.result, UserError):
        raise solved.result
    store.replace_sample(job.instance.id, job.sample, solved.files)
    return solved.result
