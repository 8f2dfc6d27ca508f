"""One run of a solver, as every front door does it: open the model, solve every sample, evaluate the patches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assay.agents.contract import Agent, Host, InstallableAgent, Solution
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.local import NAME as LOCAL
from assay.agents.llm.local import find_weights
from assay.agents.llm.prices import load_prices
from assay.agents.llm.server import IDLE, ModelServer, check_command
from assay.agents.registry import make_agent
from assay.agents.sampling.away import DistantSolver
from assay.agents.sampling.coverage import CandidateCoverage, list_rounds, measure_coverage
from assay.agents.sampling.run import SolveRunner, mask_volatile, read_spending
from assay.agents.sampling.solve import NoModel, SolveJob, SolveSetup
from assay.agents.sampling.store import EVALUATED, SAMPLES, TOTAL, SolveStore, make_prediction, prediction_name
from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.opener import WorkspaceOpener
from assay.harness.domain import INFRASTRUCTURE, DatasetRef, Instance, Model, Prediction
from assay.harness.errors import UserError
from assay.harness.runs.control import listen
from assay.harness.runs.crew import Progress
from assay.harness.runs.manifest import ORACLE, SHARD, RunKind
from assay.harness.runs.report import RunReport
from assay.harness.runs.shards import Shard, cut, estimate_seconds
from assay.harness.runs.workbench import Workbench
from assay.jobs.evaluate import EvaluationRun, manifest
from assay.jobs.solver_settings import SolveSettings, check_roles, open_endpoints
from assay.jobs.view import Quiet, View
from assay.jobs.workbench import make_sources
from assay.jobs.workplace import Workplace

if TYPE_CHECKING:
    from assay.agents.llm.stack import Stack


class SolveView(View, Protocol):
    """A View that also shows the progress of samples."""

    def solving(self, total: int, title: str, /) -> AbstractContextManager[Progress[SolveJob, Solution]]: ...


class QuietSolving(Quiet):
    solving = Quiet.evaluating


@dataclass(frozen=True, slots=True)
class SolverRun:
    """The settings of a solver's run; ``solve`` and then ``evaluate`` do it."""

    settings: SolveSettings
    run_id: str
    runs_dir: Path
    place: Workplace = field(default_factory=Workplace)
    fresh: bool = False
    view: SolveView = field(default_factory=QuietSolving)
    shard: Shard | None = None
    """The part of the instances that is solved; all of them if None."""
    evaluates: bool = False
    """Whether each patch is evaluated where it was made, as soon as it is there; ``evaluate`` then finds it."""
    durations: Mapping[str, float] = field(default_factory=dict)
    """Seconds by instance id, by which shards are balanced; each shard of a run needs the same."""

    def make_agent(self) -> tuple[Agent, Model]:
        """Raise UserError for an unknown agent or setting."""
        return make_agent(self.settings.agent, self.settings.agent_settings)

    def solve(self, instances: Sequence[Instance], agent: Agent, agent_settings: Model) -> list[Solution]:
        """Solve every unfinished sample of the instances; return all solutions. Raises RunStopped, or UserError.

        ``instances`` are those of the whole run, and the solutions those of this shard.
        """
        store = SolveStore(EvaluationRun(self.run_id, self.runs_dir).store.root)
        shard, mine, limits = self._part(instances)
        given = self.settings.list_inputs(instances[0], str(self.place.environment))
        given[SHARD] = f"{shard} (cut {shard.cut})" if shard else ""
        about = {"given": given, "shards": (shard,) if shard else (), "instance_ids": sorted(each.id for each in mine)}
        total = len(mine) * self.settings.samples
        with store.lock(given), listen(store.run) as steering, self.view.solving(total, self.run_id) as progress:
            bench = self.place.bench
            settled = [bench.settle(instance) for instance in mine]
            jobs = [SolveJob(instance, sample) for sample in range(self.settings.samples) for instance in settled]
            runner = SolveRunner(
                self._solver(bench, store, agent),
                agent_settings.model_dump(mode="json"),
                jobs=self.place.jobs,
                fresh=self.fresh,
                steering=steering,
            )
            is_due = runner.has_work(jobs)
            with (
                self._model(agent, store, limits, is_due) as stack,
                self._ahead(agent, mine if is_due else (), runner.stopped.is_set) as then,
            ):
                if is_due:
                    self._probe(stack)
                    self._install(bench, agent)
                self._begin(bench, store, agent, instances[0].dataset, about)
                with self._away(runner.setup, stack) as away:
                    setup = replace(runner.setup, llm=stack.model, prices=stack.prices) if stack else runner.setup
                    runner = replace(runner, setup=setup, away=away, then=then, interrupt=partial(self._give_up, stack))
                    solutions = runner.execute(jobs, progress)
            store.finish(settled, solutions)
            if bench.cluster is not None:
                self.view.say(bench.cluster.summary())
        return solutions

    def _part(self, instances: Sequence[Instance]) -> tuple[Shard | None, Sequence[Instance], BudgetLimits]:
        """Return the shard, its instances, and its share of the run's budget: as large as its share of instances."""
        total = self.settings.total
        if self.shard is None:
            return None, instances, total
        seconds = estimate_seconds((each.id for each in instances), (), self.durations)
        shard, mine = self.shard.select_ids(seconds)
        before = sum(len(part) for part in cut(seconds, shard.of)[: shard.number - 1])
        share = total.share(before, before + len(mine), len(instances))
        return shard, [each for each in instances if each.id in mine], share

    def evaluate(self, instances: Sequence[Instance], agent: Agent, solutions: Sequence[Solution]) -> list[RunReport]:
        """Evaluate the patches of each sample, as a run of its own beside this one; return their reports."""
        by_id = {instance.id: instance for instance in instances}
        reports = []
        for sample in range(self.settings.samples):
            of_sample = [each for each in solutions if each.sample == sample]
            pairs = [(by_id[each.instance_id], make_prediction(each, name_oracles(agent))) for each in of_sample]
            report, _ = self._evaluation(sample).evaluate(pairs, [each.instance_id for each in of_sample])
            reports.append(report)
        return reports

    def evaluate_candidates(
        self, instances: Sequence[Instance], agent: Agent, solutions: Sequence[Solution]
    ) -> CandidateCoverage:
        """Evaluate all patches that the solver chose from, in as many runs as an instance has distinct ones."""
        by_id = {instance.id: instance for instance in instances}
        judged: dict[tuple[str, str], bool | None] = {}
        model, oracle = f"{agent.name}.candidates", name_oracles(agent)
        for number, patches in enumerate(list_rounds(solutions)):
            pairs = [
                (by_id[name], Prediction(instance_id=name, model=model, patch=patch, oracle=oracle))
                for name, patch in patches.items()
            ]
            run = self._make_evaluation(f"{self.run_id}.candidates-{number}")
            _, verdicts = run.evaluate(pairs, list(patches))
            for verdict in verdicts:
                fails = verdict.outcome in INFRASTRUCTURE
                judged[verdict.instance_id, patches[verdict.instance_id]] = None if fails else verdict.resolved
        return measure_coverage(solutions, judged)

    def _evaluation(self, sample: int) -> EvaluationRun:
        return self._make_evaluation(name_evaluated(self.run_id, sample))

    def _make_evaluation(self, name: str) -> EvaluationRun:
        return EvaluationRun(name, self.runs_dir, self.place, kind=RunKind.EVALUATE_SOLVED)

    @contextmanager
    def _ahead(
        self, agent: Agent, instances: Sequence[Instance], is_stopped: Callable[[], bool]
    ) -> Iterator[Callable[[Solution], None]]:
        """Yield a function that evaluates a solution's patch at once, or does nothing if that is not wanted."""
        if not (self.evaluates and instances):
            yield lambda _solution: None
            return
        by_id = {each.id: each for each in instances}
        with ExitStack() as held:
            runs = [
                held.enter_context(self._evaluation(sample).ahead(len(instances), is_stopped))
                for sample in range(self.settings.samples)
            ]

            def evaluate(solution: Solution) -> None:
                prediction = make_prediction(solution, name_oracles(agent))
                runs[solution.sample]((by_id[solution.instance_id], prediction))

            yield evaluate

    @contextmanager
    def _away(self, setup: SolveSetup, stack: "Stack | None") -> Iterator[DistantSolver | None]:
        """Yield the solver as the workers of a cluster get it; None without a cluster."""
        cluster = setup.workspaces.bench.cluster
        if cluster is None:
            yield None
            return
        from assay.agents.llm.distant import ModelDoor

        with ModelDoor(stack.model if stack else NoModel(), cluster.host) as door:
            yield DistantSolver(
                setup.agent,
                setup.budget,
                setup.defaults,
                setup.seed,
                door.model,
                stack.prices if stack else setup.prices,
                setup.workspaces.labels,
                self.place.toolchains,
            )

    def check(self, agent: Agent) -> None:
        """Check first of all that a model can be asked, and has a price where one is needed; raises UserError."""
        settings = self.settings
        if not agent.capabilities.needs_model:
            return
        check_roles(settings.agent, agent.capabilities.roles, settings.models)
        prices = load_prices(settings.prices, settings.own_prices)
        limits = {"--cost": settings.budget.llm.cost, "--total-cost": settings.total.cost}
        if settings.serve and settings.base_url:
            raise UserError("--serve starts a server, and --base-url names one that runs; give one of the two")
        if settings.serve:
            check_command(settings.serve)
        for each in settings.models.values():
            own = {**limits, f"models.{each.name}.cost": each.cost}
            prices.check(each.endpoint_name, [name for name, limit in own.items() if limit is not None])
            if each.base_url or settings.serve:
                continue
            if each.name == LOCAL and not settings.base_url:
                find_weights()
            else:
                from assay.agents.llm.ask import endpoint_and_mode

                endpoint_and_mode(settings.base_url, settings.cassette)

    def _probe(self, stack: "Stack | None") -> None:
        """Ask each model once; none if the user names a recording, which may hold every answer."""
        if stack is not None and self.settings.cassette is None:
            models = self.settings.models.items()
            roles = {(each.base_url, each.endpoint_name): (role, each.endpoint_name) for role, each in models}
            remarks = [stack.probe(name, role) for role, name in roles.values()]
            for remark in filter(None, remarks):
                self.view.say(remark)

    def _give_up(self, stack: "Stack | None") -> None:
        if stack is not None:
            self.view.say("interrupted: no longer waiting for the model, removing the containers")
            stack.abort()

    def _install(self, bench: Workbench, agent: Agent) -> None:
        if isinstance(agent, InstallableAgent) and bench.cluster is None and bench.engine.has_containers:
            cache = make_sources(toolchains=self.place.toolchains).cache
            agent.prepare(Host(bench.engine, cache, self.place.toolchains, self.view.note))

    def _solver(self, bench: Workbench, store: SolveStore, agent: Agent) -> SolveSetup:
        """Return the setup without its model."""
        cache = make_sources(toolchains=self.place.toolchains).cache
        images = AgentImages(bench.engine, cache, self.view.note) if bench.cluster is None else None
        workspaces = WorkspaceOpener(bench, images, {"assay.run": self.run_id})
        settings = self.settings
        return SolveSetup(
            agent,
            workspaces,
            store,
            settings.budget,
            settings.defaults,
            settings.seed or 0,
        )

    @contextmanager
    def _model(self, agent: Agent, store: SolveStore, limits: BudgetLimits, is_due: bool) -> "Iterator[Stack | None]":
        """Open the model with its layers, and start its server if anything is to be asked; None without a model."""
        self.check(agent)
        if not agent.capabilities.needs_model:
            yield None
            return
        from assay.agents.llm.stack import ModelSetup, Stack

        settings = self.settings
        with ExitStack() as held:
            server, base_url = None, settings.base_url
            if settings.serve and is_due:
                self.view.say(f"starting the model server; its log is {store.server_log}")
                wait = settings.serve_wait
                server = held.enter_context(
                    ModelServer(settings.serve, store.server_log, wait=wait, note=self.view.say)
                )
            if settings.serve:
                base_url = server.url if server else IDLE
            endpoints, mode = held.enter_context(open_endpoints(settings.models, base_url, settings.cassette))
            setup = ModelSetup(
                endpoint=endpoints.get("") or next(iter(endpoints.values())),
                roles={role: each for role, each in endpoints.items() if role},
                own_prices=settings.own_prices,
                limits=limits,
                spent=read_spending(store.recording),
                cassette=settings.cassette or store.recording,
                mode=mode,
                prices=settings.prices,
            )
            yield held.enter_context(Stack(setup, normalise=mask_volatile, note=self.view.note, server=server))

    def _begin(
        self, bench: Workbench, store: SolveStore, agent: Agent, dataset: DatasetRef, about: Mapping[str, object]
    ) -> None:
        settings = self.settings
        facts = {
            "agent": f"{agent.name} {agent.version}",
            "agent_settings": " ".join(settings.agent_settings),
            ORACLE: name_oracles(agent),
            SAMPLES: str(settings.samples),
            "budget": settings.budget.model_dump_json(exclude_none=True),
            EVALUATED: "yes" if self.evaluates else "no",
            TOTAL: settings.total.model_dump_json(exclude_none=True),
            "temperature": str(settings.temperature),
            "seed": str(settings.seed),
            "jobs": str(self.place.jobs),
        }
        if settings.named:
            facts["models"] = " ".join(
                f"{role or 'all'}={each.endpoint_name}" for role, each in settings.models.items()
            )
        label = settings.defaults.label if settings.models and agent.capabilities.needs_model else ""
        run = manifest(self.run_id, dataset, bench, prediction_name(agent.name, label), facts)
        store.begin(run.model_copy(update={"kind": RunKind.SOLVE, **about}))


def name_evaluated(run: str, sample: int) -> str:
    """Return the name of the run that evaluates a sample of a solver's run."""
    return f"{run}.evaluated{f'-{sample}' if sample else ''}"


def name_oracles(agent: Agent) -> str:
    """Return the parts of the answer that a solver is given, as run.json names them; empty for an honest solver."""
    return ", ".join(sorted(agent.capabilities.oracle))
