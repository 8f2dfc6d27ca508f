"""A run of a solver over many samples: resume, solve, save."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from assay.agents.contract import Solution
from assay.agents.llm.budget import Spent
from assay.agents.llm.cassette import CassetteEntry
from assay.agents.llm.cassette_key import without_volatile
from assay.agents.llm.chat import Answer, ChatModel, Request
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.sampling.solve import RunBudgetExceeded, SolveJob, SolveResult, SolveSetup, solve
from assay.agents.sampling.store import SavedSolution
from assay.agents.sampling.task import make_task, oracles
from assay.harness.errors import EngineError
from assay.harness.runs.dispatch import Crew
from assay.harness.runs.executors import Executor
from assay.version import __version__

_DATES = (
    (re.compile(r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \w+)? \d{4}\b"), "<date>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[+-]\d{4}|Z)?"), "<date>"),
    (re.compile(r"\b[A-Z][a-z]{2} [ \d]\d (?:\d\d:\d\d|[ \d]\d{4})\b"), "<date>"),
    (re.compile(r"\b\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "<time>"),
)
"""Formats of ``date``, ``stat``, ``ls`` and logs."""


def mask_volatile(text: str) -> str:
    """Return a command's output without what differs between executions: ids, temporary paths, durations, dates."""
    text = without_volatile(text)
    for pattern, name in _DATES:
        text = pattern.sub(name, text)
    return text


class RunBudgetModel:
    """A run's model whose BudgetExceeded becomes RunBudgetExceeded, to tell it from a sample's own budget."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def complete(self, request: Request) -> Answer:
        """Return the answer; raises RunBudgetExceeded where the model raises BudgetExceeded."""
        try:
            return self._model.complete(request)
        except BudgetExceeded as error:
            raise RunBudgetExceeded(str(error), limit=error.limit) from error


def recorded_spending(recording: Path) -> Spent:
    """Return the total spending for the answers in a cassette."""
    spent = Spent()
    with suppress(FileNotFoundError), recording.open("rb") as file:
        for line in file:
            with suppress(ValueError):  # a line cut off by a crash; the cassette itself reports it
                answer = CassetteEntry.model_validate_json(line).answer
                took = answer.usage + answer.wasted
                unpriced = int(took.cost is None)
                spent += Spent(calls=1, tokens=took.tokens, cost=took.cost or 0.0, unpriced_calls=unpriced)
    return spent


@dataclass(frozen=True, slots=True)
class SolveProgress:
    """Callbacks for the progress of a run; called from any thread."""

    started: Callable[[SolveJob], None] = lambda _job: None
    finished: Callable[[Solution, bool], None] = lambda _solution, _reused: None
    """Called with the solution and whether it was saved before this run."""


@dataclass(frozen=True, slots=True)
class SolveRunner:
    """Solves samples and saves the solutions in the run's store."""

    solver: SolveSetup
    executor: Executor
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings of the solver, part of a sample's key."""
    jobs: int = 1
    fresh: bool = False
    """Solve finished samples again."""
    progress: SolveProgress = field(default_factory=SolveProgress)
    abort: Callable[[], None] | None = None
    """Ends all running work at once; the engine's ``abort`` by default."""
    pause: float = 0.5
    """Seconds before a second attempt, doubled before the third."""

    def execute(self, jobs: Sequence[SolveJob]) -> list[Solution]:
        """Solve the unfinished samples and return the solutions of all jobs, in their order.

        Raises:
            KeyboardInterrupt: interrupted; finished samples are saved, and the same call resumes.
            UserError: a person must fix something; finished samples are saved.

        In the main thread a second interrupt, or work that does not end after the first, ends the process with 130.
        """
        known = {} if self.fresh else self._known(jobs)
        pending = [job for job in jobs if _name(job) not in known]
        self._note("planned", count=str(len(jobs)), known=str(len(known)))
        engine = self.solver.workspaces.bench.engine
        crew = Crew(self.executor, self.jobs, self.abort or engine.abort, self.pause)
        for solution in crew.run(partial(self._work, crew), pending):
            known[f"{solution.instance_id}/{solution.sample}"] = solution
        with suppress(EngineError):
            engine.reap()
        return [known[_name(job)] for job in jobs]

    def _known(self, jobs: Sequence[SolveJob]) -> dict[str, Solution]:
        known = {}
        for job in jobs:
            saved = self.solver.store.find(job.instance.id, job.sample, self.key(job), self.solver.budget)
            if saved is not None:
                known[_name(job)] = saved.solution
                self.progress.finished(saved.solution, True)
        return known

    def key(self, job: SolveJob) -> str:
        """Return the hash of a sample's inputs; the budget and the model's answers are not part of it."""
        solver, capabilities = self.solver, self.solver.agent.capabilities
        plan = solver.workspaces.bench.plan(job.instance)
        instance = job.instance
        source = (instance.repo, instance.base_commit, instance.archive, instance.base)
        parts = (
            [solver.agent.name, solver.agent.version, __version__, plan.environment, repr(source)],
            json.dumps(self.settings, sort_keys=True, default=str),
            solver.defaults.model_dump_json(),
            make_task(instance, capabilities, plan.workdir).model_dump_json(),
            oracles(instance, capabilities).model_dump_json(),
            [solver.seed, job.sample],
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _work(self, crew: Crew, job: SolveJob) -> Solution:
        with crew.at_work(_name(job)):
            self.progress.started(job)
            solved = crew.attempt(partial(self._attempt, job), lambda solved: self._failed(job, solved))
        solution, solver = solved.solution, self.solver
        solver.store.save(
            SavedSolution(key=self.key(job), budget=solver.budget, is_final=solved.is_final, solution=solution)
        )
        self._note("finished", job, status=solution.status)
        self.progress.finished(solution, False)
        return solution

    def _attempt(self, job: SolveJob, number: int) -> SolveResult:
        self._note("started", job)
        solved = solve(job, self.solver)
        return replace(solved, solution=solved.solution.model_copy(update={"attempts": number}))

    def _failed(self, job: SolveJob, solved: SolveResult) -> bool:
        """Return whether to retry, and note a retry in the journal."""
        if solved.is_worth_another_try:
            self._note("failed", job, error=solved.solution.error[:500])
        return solved.is_worth_another_try

    def _note(self, event: str, job: SolveJob | None = None, **facts: str) -> None:
        # Resuming needs solutions, not the journal; on a full disk, saving the solution reports the failure.
        with suppress(OSError):
            if job is not None:
                facts = {"sample": str(job.sample), **facts}
            self.solver.store.run.journal(event, job.instance.id if job else "", **facts)


def _name(job: SolveJob) -> str:
    return f"{job.instance.id}/{job.sample}"
