"""Best of several samples, made by CodeMonkeys' machines or by any other solver.

After CodeMonkeys (Ehrlich et al., "CodeMonkeys: Scaling Test-Time Compute for Software Engineering", arXiv
2501.14723): tests and edits are sampled, every test runs on every edit, each passed test is a vote, and a selection
machine chooses among the best. With ``inner`` another solver makes the samples, each in its own workspace; with
``candidates`` they are what other systems predicted, as in the paper's ensemble. With the selector ``score`` a reward
model chooses, as in SWE-Reasoner (arXiv 2503.23803).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from assay.agents.contract import (
    Agent,
    Candidate,
    Capabilities,
    Host,
    InstallableAgent,
    Oracle,
    SolutionStatus,
    SolveOutcome,
    SolveSession,
)
from assay.agents.roles import ROLES
from assay.agents.solvers.best_of import prompts
from assay.agents.solvers.best_of.context import choose_files, show_files
from assay.agents.solvers.best_of.machines import EditingMachine, MachineSetup, SelectionMachine, TestingMachine
from assay.agents.solvers.best_of.members import EnsembleMember, hash_members, read_members
from assay.agents.solvers.best_of.scorers import SCORERS
from assay.agents.solvers.best_of.selection import (
    FINALISTS,
    TestMatrix,
    count_majority,
    count_test_votes,
    finalists,
    find_best,
    rank_candidates,
)
from assay.agents.solvers.best_of.trials import BASE, ScriptRun, TrialWorkspace
from assay.harness.domain import Model, Status

SCORE, REGRESSION = "score", "regression_failed"
JUDGED_BY_TESTS = frozenset({"vote", "tests"})
"""Selectors that ask no model."""


def _split_sources(given: object) -> object:
    return [part for each in given.split(",") if (part := each.strip())] if isinstance(given, str) else given


class BestOf:
    class Settings(Model):
        samples: int = Field(default=10, gt=0)
        tests: int | None = Field(default=None, ge=0)
        """Generated tests; None for one each sample, or none with an inner solver or given candidates. If there are
        fewer tests than samples, editing machines share them; each may change its own copy."""
        attempts: int = Field(default=8, gt=0)
        """Limit of answers of a testing or editing machine."""
        temperature: float | None = 0.5
        inner: str = ""
        """Name of another solver that makes the samples; empty for the testing and editing machines."""
        inner_settings: Mapping[str, JsonValue] = Field(default_factory=dict)
        """Settings of that solver, as in ``--set inner_settings.steps=30``."""
        candidates: Annotated[tuple[str, ...], BeforeValidator(_split_sources)] = ()
        """Files or folders of predictions, separated by commas, whose patches are the samples: rows, submissions,
        runs."""
        selector: Literal["machine", "vote", "tests", "score"] = "machine"
        """How the patch is chosen: by the selection machine; by votes (of the generated tests, or of equal patches if
        there are none); by the repository's own tests, then votes; or by a scorer."""
        selection_attempts: int = Field(default=10, gt=0)
        """Limit of answers of the selection machine."""
        finalists: int = Field(default=FINALISTS, gt=0)
        test_files: tuple[str, ...] = ()
        """The repository's test files for the selector ``tests``; all if empty."""
        scorer: str = "reward_model"
        """Scorer of the selector ``score``: a name, or ``package.module:Class``."""
        shortlist: int = Field(default=30, ge=0)
        """Files that BM25 finds for the issue; for 0 the model reads every source file, as in the paper."""
        rankings: int = Field(default=3, ge=0)
        """Rankings of these files by the model, which are merged; 0 keeps the order of BM25."""
        context: int = Field(default=400_000, gt=0)
        """Characters of files that the machines see; somewhat less than the paper's 128,000 tokens."""
        observation: int = Field(default=5_000, gt=0)
        """Characters of a test's output that the model sees."""

        @model_validator(mode="after")
        def _check_source(self) -> Self:
            if self.inner and self.candidates:
                raise ValueError("inner and candidates are two sources of samples; give one of them")
            return self

    name: ClassVar[str] = "best_of"
    version: str = "1"
    capabilities: Capabilities = Capabilities(roles=ROLES["best_of"])
    """The inner solver's, if there is one, and the roles of both."""
    prepare: Callable[[Host], None]
    """The inner solver's, as ``mounts`` is; there are none if it is not installed on the host."""
    mounts: Callable[[Path], Mapping[str, str]]

    def __init__(self, settings: Settings) -> None:
        """Raises UserError: there is no such inner solver, setting, or file of candidates."""
        self.settings = settings
        self._inner = _make_inner(settings)
        self._members = read_members(settings.candidates)
        if self._inner is not None:
            own, inner = self.capabilities.roles, self._inner.capabilities
            self.capabilities = inner.model_copy(update={"roles": {**own, **inner.roles}})
        if isinstance(self._inner, InstallableAgent):
            self.prepare, self.mounts = self._inner.prepare, self._inner.mounts
        if self._members:
            self.version = f"{self.version} (candidates {hash_members(self._members)})"
            needs_model = bool(settings.tests) or settings.selector not in JUDGED_BY_TESTS
            named = {"oracle": frozenset({Oracle.INSTANCE_ID}), "needs_model": needs_model}
            self.capabilities = self.capabilities.model_copy(update=named)

    def solve(self, session: SolveSession) -> SolveOutcome:
        """Sample, vote, select; the choice is left in the workspace, or the best so far after a limit."""
        work = _Work(self.settings, session, self._inner, self._members)
        try:
            work.sample()
            work.vote()
            best = work.select()
        except Exception:
            work.leave(work.best_known())
            raise
        work.leave(best)
        if best is None:
            candidates = tuple(work.candidates)
            error = "" if candidates else "no source of candidates has a patch for this instance"
            return SolveOutcome(status=SolutionStatus.EMPTY, candidates=candidates, error=error, extra=work.extra)
        return SolveOutcome(patch=best.patch, candidates=tuple(work.candidates), extra=work.extra)


def _make_inner(settings: BestOf.Settings) -> Agent | None:
    if not settings.inner:
        return None
    from assay.agents.registry import make_agent

    given = [f"{key}={json.dumps(value)}" for key, value in settings.inner_settings.items()]
    return make_agent(settings.inner, given)[0]


class _Work:
    """The work on one instance: the samples so far, in order, and further facts for the outcome."""

    def __init__(
        self, settings: BestOf.Settings, session: SolveSession, inner: Agent | None, members: Sequence[EnsembleMember]
    ) -> None:
        self._settings = settings
        self._session = session
        self._inner = inner
        self._members = members
        self._trials = TrialWorkspace(session, shown=settings.observation)
        self._tests: list[str] = []
        self.candidates: list[Candidate] = []
        self.extra: dict[str, JsonValue] = {}

    @cached_property
    def _material(self) -> str:
        texts = self._trials.base
        order = choose_files(self._session, texts, shortlist=self._settings.shortlist, rankings=self._settings.rankings)
        return prompts.material(self._session.task, show_files(texts, order, self._settings.context))

    def _machine(self, attempts: int) -> MachineSetup:
        return MachineSetup(self._session, self._trials, attempts, self._settings.temperature)

    def sample(self) -> None:
        if self._inner is not None or self._members:
            for member in self._members:
                self._sample_member(member)
            if self._inner is not None:
                for index in range(self._settings.samples):
                    self._sample_inner(self._inner, index)
            for _ in range(self._settings.tests or 0):
                self._tests.append(self._testing()[0])
        else:
            wanted = self._settings.samples if self._settings.tests is None else self._settings.tests
            written = [self._testing() for _ in range(wanted)]
            for index in range(self._settings.samples):
                self._sample_own(index, *(written[index % wanted] if wanted else ("", None)))
            self._tests += [test for test, _ in written[self._settings.samples :]]
        self._tests = [test for test in self._tests if test]

    def _testing(self) -> tuple[str, ScriptRun | None]:
        machine = TestingMachine(self._machine(self._settings.attempts))
        machine.work(self._material)
        return machine.test, machine.ran

    def _sample_own(self, index: int, test: str, ran: ScriptRun | None) -> None:
        """Let the editing machine write one sample; its version of the test will vote."""
        machine = EditingMachine(self._machine(self._settings.attempts), test)
        machine.work(self._material, ran)
        self._tests.append(machine.test)
        edited = machine.edited
        reason = "" if edited.patch else "no edit could be applied"
        self.candidates.append(
            Candidate(patch=edited.patch, key=self._trials.key(edited.files), source=f"sample {index}", reason=reason)
        )

    def _sample_member(self, member: EnsembleMember) -> None:
        """Take a member's patch as a candidate; one that does not apply is empty, with the reason."""
        patch = member.patches.get(self._session.oracles.instance_id.lower())
        if patch is None:
            return
        applies = bool(patch.strip()) and self._trials.apply_patch(patch) is not None
        after = self._find_changes(self._session.workspace.texts()) if applies else {}
        reason = "" if applies else "the patch does not apply" if patch.strip() else "the patch is empty"
        key = self._trials.key(after)
        self.candidates.append(Candidate(patch=patch if applies else "", key=key, source=member.name, reason=reason))

    def _sample_inner(self, inner: Agent, index: int) -> None:
        """Run the inner solver in its own workspace; its changes are a candidate, also after a limit."""
        with self._session.workspace.fork(BASE) as forked:
            logs = self._session.logs and self._session.logs / f"sample-{index}"
            session = replace(self._session, workspace=forked, seed=self._session.seed + index, logs=logs)
            outcome = SolveOutcome(status=SolutionStatus.AGENT_ERROR)
            try:
                outcome = inner.solve(session)
            finally:
                patch = forked.diff() if outcome.patch is None else outcome.patch
                after = self._find_changes(forked.texts()) if patch else {}
                self.candidates.append(
                    Candidate(
                        patch=patch,
                        key=self._trials.key(after),
                        source=f"sample {index}",
                        reason="" if outcome.status is SolutionStatus.SUBMITTED else outcome.error or outcome.status,
                    )
                )

    def _find_changes(self, after: Mapping[str, str]) -> dict[str, str]:
        """Return the texts that differ from the base; none if a file was deleted, which has no normalised form."""
        if self._trials.base.keys() - after.keys():
            return {}
        return {path: text for path, text in after.items() if self._trials.base.get(path) != text}

    def vote(self) -> None:
        """Run every test on every sample and count the votes; without tests, equal samples vote for each other."""
        if not self._tests:
            self.candidates = count_majority(self.candidates)
            return
        trials = self._trials
        rows: dict[str, tuple[int | None, ...]] = {}
        for each in self.candidates:
            if each.patch not in rows:
                rows[each.patch] = trials.run_all(self._tests, trials.apply_patch(each.patch), what=each.source)
        matrix = TestMatrix(
            tests=tuple(self._tests),
            test_outputs_per_edit=tuple(rows[each.patch] for each in self.candidates),
            unedited=rows.get("") or trials.run_all(self._tests, BASE, what="original"),
        )
        self.candidates = count_test_votes(self.candidates, matrix)
        self.extra["generated_tests"] = matrix.model_dump(mode="json")

    def select(self) -> Candidate | None:
        """Return the chosen sample; None if none changes anything."""
        if not rank_candidates(self.candidates):
            return None
        selectors: dict[str, Callable[[], Candidate]] = {
            "machine": self._select_by_machine,
            "vote": lambda: rank_candidates(self.candidates)[0],
            "tests": self._select_by_tests,
            "score": self._select_by_score,
        }
        return selectors[self._settings.selector]()

    def _select_by_machine(self) -> Candidate:
        found = finalists(self.candidates, self._settings.finalists)
        if len(found) == 1:
            return found[0]
        machine = SelectionMachine(self._machine(self._settings.selection_attempts), found)
        index = machine.work(self._material)
        self.extra["selection"] = {"finalists": [each.source for each in found], "choice": machine.choice}
        return found[index]

    def _select_by_tests(self) -> Candidate:
        """Return the sample that breaks the fewest of the repository's own tests; votes break ties."""
        before = self._run_tests(BASE)
        trials = self._trials
        self._score(REGRESSION, lambda each: _count_broken(before, self._run_tests(trials.apply_patch(each.patch))))
        return min(rank_candidates(self.candidates), key=lambda each: each.scores[REGRESSION])

    def _run_tests(self, snapshot: str | None) -> dict[str, Status]:
        """Run the repository's own tests on a saved state; a patch that does not apply passes none."""
        if snapshot is None:
            return {}
        self._session.workspace.restore(snapshot)
        return self._session.workspace.run_tests(self._settings.test_files)

    def _select_by_score(self) -> Candidate:
        scorer = SCORERS.resolve(self._settings.scorer)(self._session.model)
        self._score(SCORE, lambda each: scorer.score(self._session.task, each))
        return find_best(SCORE, self.candidates)

    def _score(self, name: str, measure: Callable[[Candidate], float]) -> None:
        """Score each sample that changes something; equal patches are scored once."""
        known: dict[str, float] = {}
        for index, each in enumerate(self.candidates):
            if each.patch:
                known.setdefault(each.patch, measure(each) if each.patch not in known else 0.0)
                scores = {**each.scores, name: known[each.patch]}
                self.candidates[index] = each.model_copy(update={"scores": scores})

    def best_known(self) -> Candidate | None:
        """Return the most frequent sample, finished ones first: the choice without a model."""
        finished = [each for each in self.candidates if not each.reason]
        return next(iter(rank_candidates(count_majority(finished)) or rank_candidates(self.candidates)), None)

    def leave(self, best: Candidate | None) -> None:
        """Bring the workspace to a sample's state; to the base for None."""
        self._session.workspace.restore(BASE)
        if best is not None:
            self._session.workspace.apply(best.patch)


def _count_broken(before: Mapping[str, Status], after: Mapping[str, Status]) -> float:
    passed = (test for test, status in before.items() if status is Status.PASSED)
    return float(sum(after.get(test) is not Status.PASSED for test in passed))
