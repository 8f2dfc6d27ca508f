"""A run of a solver from the command line: puts the parts together, runs, shows."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.agents.contract import Agent, Budget, Host, InstallableAgent, Solution, SolutionStatus
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.cassette import Mode
from assay.agents.registry import make_agent
from assay.agents.sampling.recorded_model import ModelDefaults
from assay.agents.sampling.run import RunBudgetModel, SolveProgress, SolveRunner, mask_volatile, recorded_spending
from assay.agents.sampling.solve import ModelWithin, SolveJob, SolveSetup, no_model
from assay.agents.sampling.store import SolveStore, prediction_name
from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.opener import WorkspaceOpener
from assay.cli import console, exits, solved
from assay.cli.config import toolchain_images
from assay.cli.options import EnvironmentChoice
from assay.cli.session import Session, run_name, until_interrupt
from assay.cli.workbench import Workbench, describe, make_sources, open_workbench
from assay.harness.domain import Instance, Model, Prediction
from assay.harness.errors import UserError
from assay.harness.runs.executors import find_executor

if TYPE_CHECKING:
    from assay.agents.llm.client import Endpoint
    from assay.harness.runs.report import RunReport

LOCAL = "local"
"""The model that runs on this machine."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked to solve, and within which limits."""

    agent: str
    settings: tuple[str, ...] = ()
    model: str = ""
    base_url: str = ""
    cassette: Path | None = None
    prices: Path | None = None
    samples: int = 1
    budget: Budget = Budget()  # noqa: RUF009 - frozen
    total_cost: float | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


def budget(
    cost: float | None,
    tokens: int | None,
    calls: int | None,
    seconds: float | None,
    *,
    steps: int | None,
    command_seconds: float,
) -> Budget:
    """Return the limits of one sample; None is no limit."""
    limits = BudgetLimits(cost=cost, tokens=tokens, calls=calls, seconds=seconds)
    return Budget(llm=limits, steps=steps, command_seconds=command_seconds)


def run_id(dataset: str, choice: Choice) -> str:
    """Return the name of a run after its data set, agent and, if there is one, model."""
    return run_name(dataset, *filter(None, (choice.agent, choice.model)))


@dataclass(frozen=True, slots=True)
class SolveRun:
    """The settings of a run; ``solve_and_show`` does it and prints what came out."""

    choice: Choice
    run_id: str
    runs_dir: Path
    jobs: int = 1
    engine: str = "docker"
    executor: str = "threads"
    environment: EnvironmentChoice = EnvironmentChoice.AUTO
    mirrors: tuple[Path, ...] = ()
    recipes: tuple[Path, ...] = ()
    fresh: bool = False

    def solve_and_show(self, instances: Sequence[Instance], *, evaluates: bool, as_json: bool) -> int:
        """Solve the instances and print what came out; return the exit code that this deserves."""
        agent, settings = make_agent(self.choice.agent, self.choice.settings)
        solutions = self.solve(instances, agent, settings)
        reports = self._evaluate(instances, agent, solutions) if evaluates else []
        self._show(solutions, reports, as_json=as_json)
        failed = any(each.status is SolutionStatus.INFRA_ERROR for each in solutions)
        failed = failed or any(report.infra_failure_instances for report in reports)
        return exits.INFRASTRUCTURE if failed else 0

    def solve(self, instances: Sequence[Instance], agent: Agent, settings: Model) -> list[Solution]:
        """Solve every sample of the instances that is not finished; return the solutions of all."""
        store = SolveStore(self._session().store.root)
        with store.locked(), self._model(agent, store) as within, self._watched(len(instances)) as (progress, note):
            bench = open_workbench(
                self.engine,
                instances,
                mirrors=self.mirrors,
                recipes=self.recipes,
                environment=self.environment,
                note=note,
            )
            for name in bench.engine.reap():
                console.say(f"removed {name}, left behind by a process that is gone")
            settled = [bench.settle(instance) for instance in instances]
            solver = self._solver(bench, store, agent, within, note)
            runner = SolveRunner(
                solver,
                find_executor(self.executor),
                settings.model_dump(mode="json"),
                jobs=self.jobs,
                fresh=self.fresh,
                progress=progress,
                abort=bench.abort,
            )
            self._begin(bench, store, agent, settled)
            jobs = [SolveJob(instance, sample) for sample in range(self.choice.samples) for instance in settled]
            solutions = until_interrupt(partial(runner.execute, jobs))
            store.finish(settled, solutions)
        return solutions

    def _solver(
        self, bench: Workbench, store: SolveStore, agent: Agent, within: ModelWithin, note: Callable[[str], None]
    ) -> SolveSetup:
        """Put the solver together, and install what it needs on the host."""
        cache = make_sources().cache
        habitat = WorkspaceOpener(bench, AgentImages(bench.engine, cache, note), {"assay.run": self.run_id})
        if isinstance(agent, InstallableAgent) and habitat.has_containers:
            agent.prepare(Host(bench.engine, cache, toolchain_images(), note))
        choice = self.choice
        defaults = ModelDefaults(
            model=choice.model or "none",
            temperature=choice.temperature,
            max_tokens=choice.max_tokens,
            seed=choice.seed,
        )
        return SolveSetup(agent, habitat, store, choice.budget, defaults, choice.seed or 0, within)

    @contextmanager
    def _model(self, agent: Agent, store: SolveStore) -> Iterator[ModelWithin]:
        """Open the model with its layers; a solver without one gets none."""
        from assay.agents.llm.stack import Setup, Stack

        choice = self.choice
        if not agent.capabilities.needs_model:
            yield no_model
            return
        if not choice.model:
            raise UserError(f"the agent {choice.agent} asks a model; name one with --model (and --base-url)")
        recording = choice.cassette or store.recording
        with ExitStack() as opened:
            endpoint, mode = self._endpoint(opened)
            setup = Setup(
                endpoint=endpoint,
                limits=BudgetLimits(cost=choice.total_cost),
                spent=recorded_spending(store.recording),
                cassette=recording,
                mode=mode,
                prices=choice.prices,
            )
            stack = opened.enter_context(Stack(setup, normalise=mask_volatile))
            stack.model = RunBudgetModel(stack.model)
            yield stack.within

    def _endpoint(self, opened: ExitStack) -> "tuple[Endpoint, Mode]":
        """Return where the model answers; a cassette that is there is replayed if nobody says where."""
        from assay.agents.llm.ask import OPENAI, usual_endpoint
        from assay.agents.llm.client import Endpoint

        choice = self.choice
        if choice.model == LOCAL and not choice.base_url:
            from assay.agents.llm.local import serve

            return opened.enter_context(serve()), Mode.AUTO
        try:
            return usual_endpoint(choice.base_url), Mode.AUTO
        except UserError:
            if choice.cassette is None or not choice.cassette.is_file():
                raise
            return Endpoint(base_url=OPENAI), Mode.REPLAY

    def _begin(self, bench: Workbench, store: SolveStore, agent: Agent, instances: Sequence[Instance]) -> None:
        choice = self.choice
        settings = {
            "kind": "solve",
            "agent": f"{agent.name} {agent.version}",
            "agent_settings": " ".join(choice.settings),
            "oracle": oracle_of(agent),
            "samples": str(choice.samples),
            "budget": choice.budget.model_dump_json(exclude_none=True),
            "temperature": str(choice.temperature),
            "seed": str(choice.seed),
            "executor": self.executor,
            "jobs": str(self.jobs),
        }
        name = prediction_name(agent.name, choice.model if agent.capabilities.needs_model else "")
        store.begin(describe(self.run_id, instances, bench, name, settings))

    def _session(self) -> Session:
        """Return the session that has the same folder."""
        return Session(self.run_id, self.runs_dir)

    def _evaluate(
        self, instances: Sequence[Instance], agent: Agent, solutions: Sequence[Solution]
    ) -> "list[RunReport]":
        """Evaluate the patches of each sample, as a run of its own beside this one."""
        by_id = {instance.id: instance for instance in instances}
        reports = []
        for sample in range(self.choice.samples):
            pairs = [(by_id[each.instance_id], _prediction(each)) for each in solutions if each.sample == sample]
            session = Session(
                run_id=f"{self.run_id}.evaluated{f'-{sample}' if sample else ''}",
                runs_dir=self.runs_dir,
                engine=self.engine,
                executor=self.executor,
                jobs=self.jobs,
                mirrors=self.mirrors,
                recipes=self.recipes,
                environment=self.environment,
                oracle=oracle_of(agent),
            )
            report, _ = session.run(pairs, [instance.id for instance in instances])
            reports.append(report)
        return reports

    def _show(self, solutions: Sequence[Solution], reports: "Sequence[RunReport]", *, as_json: bool) -> None:
        if as_json:
            told = {
                "run": self.run_id,
                "solutions": [each.model_dump(mode="json", exclude={"candidates"}) for each in solutions],
                "evaluations": [report.model_dump(mode="json") for report in reports],
            }
            console.print_json(json.dumps(told))
            return
        rows = [solved.row(each, reports) for each in solutions]
        columns = [name for name in rows[0] if any(row[name] for row in rows)]
        console.print_rows(columns, [[row[name] for name in columns] for row in rows])
        for each in solutions:
            solved.tell_doubts(each)
        print(solved.sum_line(solutions), f"· {self.runs_dir / self.run_id}")

    @contextmanager
    def _watched(self, instances: int) -> Iterator[tuple[SolveProgress, console.Notes]]:
        """Show how the run goes on."""
        notes = console.Notes()
        total = instances * self.choice.samples
        with console.live_line(total, self.run_id) as line:
            if line is not None:
                notes.listener = line
            yield solved.progress(total, line), notes


def oracle_of(agent: Agent) -> str:
    """Return what a solver is told of the answer, as a run's manifest names it; empty for an honest one."""
    return ", ".join(sorted(agent.capabilities.oracle))


def _prediction(solution: Solution) -> Prediction:
    model = prediction_name(solution.agent, solution.model)
    return Prediction(instance_id=solution.instance_id, model=model, patch=solution.patch)
