"""A run of a solver over many samples: resume, solve, save."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.agents.contract import Solution
from assay.agents.llm.budget import Spent, count_spent
from assay.agents.llm.cassette import CassetteEntry
from assay.agents.llm.cassette_key import mask_ids
from assay.agents.sampling.away import DistantSolver, solve_away
from assay.agents.sampling.solve import SolveJob, SolveResult, SolveSetup, solve
from assay.agents.sampling.store import SavedSolution
from assay.agents.sampling.task import make_task, select_oracles
from assay.harness.errors import EngineError
from assay.harness.runs.control import Steering
from assay.harness.runs.crew import Progress, make_crew
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
    text = mask_ids(text)
    for pattern, name in _DATES:
        text = pattern.sub(name, text)
    return text


def read_spending(recording: Path) -> Spent:
    spent = Spent()
    with suppress(FileNotFoundError), recording.open("rb") as file:
        for line in file:
            with suppress(ValueError):  # a line cut off by a crash; the cassette itself reports it
                answer = CassetteEntry.model_validate_json(line).answer
                spent += count_spent(answer.usage + answer.wasted)
    return spent


@dataclass(frozen=True, slots=True)
class SolveRunner:
    """Solves samples and saves the results in the solver's store; the Work of a Crew."""

    setup: SolveSetup
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings that the solver was made with."""
    jobs: int = 1
    fresh: bool = False
    """Solve again what is finished."""
    pause: float = 0.5
    """Seconds before a second attempt, see Crew."""
    interrupt: Callable[[], None] = lambda: None
    """Ends the wait for the model, after a signal."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set before anything is ended: what work returns after that means nothing."""
    steering: Steering = field(default_factory=Steering)
    away: DistantSolver | None = None
    """Solves on the workers of a cluster, if the workbench is one."""
    then: Callable[[Solution], None] = lambda _solution: None
    """Gets each solution that will not be tried again, once it is saved, where it was solved."""

    def execute(self, jobs: Sequence[SolveJob], progress: Progress[SolveJob, Solution] | None = None) -> list[Solution]:
        """Solve what is not finished and return the solutions of all jobs, in their order; finished samples are saved.

        Raises RunStopped after a signal, and UserError for what a person must fix; the same call resumes.
        """
        bench = self.setup.workspaces.bench
        crew = make_crew(bench, self.jobs, self.pause, self.steering, abort=self._abort)
        solutions = crew.complete(self, jobs, fresh=self.fresh, progress=progress)
        with suppress(EngineError):
            bench.reap()
        return solutions

    def _abort(self) -> None:
        self.stopped.set()
        self.interrupt()
        self.setup.workspaces.bench.abort()

    def has_work(self, jobs: Sequence[SolveJob]) -> bool:
        return self.fresh or any(self.find_known(job) is None for job in jobs)

    def key(self, job: SolveJob) -> str:
        return f"{job.instance.id}/{job.sample}"

    def find_known(self, job: SolveJob) -> Solution | None:
        saved = self.setup.store.find(job.instance.id, job.sample, self.content_key(job), self.setup.budget)
        return saved.solution if saved else None

    def plan(self, pending: Mapping[str, SolveJob], total: int) -> list[str]:
        self._note("planned", count=str(total), known=str(total - len(pending)))
        return list(pending)

    def begin(self, job: SolveJob, _number: int) -> None:
        self._note("started", job)

    def attempt(self, job: SolveJob, number: int) -> SolveResult:
        cluster = self.setup.workspaces.bench.cluster
        if cluster is not None and self.away is not None:
            solved = solve_away(job, self.away, cluster, self.setup.store)
        else:
            solved = solve(job, self.setup)
        solved = replace(solved, solution=solved.solution.model_copy(update={"attempts": number}))
        if not solved.is_worth_another_try and not self.stopped.is_set():
            self._keep(job, solved)
            self.then(solved.solution)
        return solved

    def may_retry(self, job: SolveJob, solved: SolveResult) -> bool:
        if solved.is_worth_another_try:
            self._note("failed", job, error=solved.solution.error[:500])
        return solved.is_worth_another_try

    def save(self, job: SolveJob, solved: SolveResult) -> Solution:
        if solved.is_worth_another_try:
            self._keep(job, solved)
        self._note("finished", job, status=solved.solution.status)
        return solved.solution

    def _keep(self, job: SolveJob, solved: SolveResult) -> None:
        """Save a solution; what follows it may take long, and must not lose it."""
        key, setup = self.content_key(job), self.setup
        setup.store.save(
            SavedSolution(key=key, budget=setup.budget, is_final=solved.is_final, solution=solved.solution)
        )

    def content_key(self, job: SolveJob) -> str:
        """Return the hash of all that a solution depends on, except the budget and the model's answers."""
        setup, capabilities = self.setup, self.setup.agent.capabilities
        plan = setup.workspaces.bench.plan(job.instance)
        instance = job.instance
        source = (instance.repo, instance.base_commit, instance.archive, instance.base)
        parts = (
            [setup.agent.name, setup.agent.version, __version__, plan.environment, repr(source)],
            json.dumps(self.settings, sort_keys=True, default=str),
            setup.defaults.dump_inputs(),
            make_task(instance, capabilities, plan.workdir).model_dump_json(),
            select_oracles(instance, capabilities).model_dump_json(),
            [setup.seed, job.sample],
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _note(self, event: str, job: SolveJob | None = None, **facts: str) -> None:
        # Resuming needs solutions, not the journal; on a full disk the solution's own failure is the one to report.
        with suppress(OSError):
            if job is not None:
                facts = {"sample": str(job.sample), **facts}
            self.setup.store.run.journal(event, job.instance.id if job else "", **facts)
