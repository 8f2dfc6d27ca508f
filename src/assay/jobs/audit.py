"""An audit of instances, as every front door does it: rules, records of controls, and runs of mutants."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from pydantic import Field

from assay.harness.domain import INFRASTRUCTURE, DatasetRef, Instance, Model, Outcome, Prediction
from assay.harness.errors import EnvironmentFailure, UserError
from assay.harness.grading.stability import read_stability
from assay.harness.names import did_you_mean
from assay.harness.runs.manifest import CONTROLS
from assay.harness.runs.store import RunStore
from assay.instances.audit import AuditFinding, AuditKind, audit
from assay.instances.audit.mutants import MutatedPatch, mutants
from assay.instances.audit.subject import subject
from assay.instances.audit.weak import Judged, find_by_controls, find_by_counters, find_by_mutants
from assay.instances.trees.search import open_tree
from assay.instances.trees.sources import Sources
from assay.jobs.counter import make_counter_tests
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace


@dataclass(frozen=True, slots=True)
class MutantTrials:
    """The mutants of one instance, judged."""

    instance_id: str
    judged: tuple[Judged, ...]


class TriedMutant(Model):
    """A mutant of a gold patch and what its tests said, as a saved audit holds it."""

    mutant: str
    """What was changed."""
    patch: str
    outcome: Outcome


class SavedAudit(Model):
    """An audit as `assay dataset audit --json` prints and `-o` writes it."""

    dataset: str
    revision: str
    instances: int = 0
    findings: tuple[AuditFinding, ...] = ()
    mutants: dict[str, tuple[TriedMutant, ...]] = Field(default_factory=dict)
    """Keys are ids of instances whose gold patch is resolved."""


class Audit:
    """Findings about the instances of a data set, gathered from rules, records and runs."""

    def __init__(self, instances: Sequence[Instance], kinds: Iterable[str] = ()) -> None:
        """Start without findings; raises UserError for an unknown kind, and takes all kinds if none are given."""
        self.instances = instances
        self._kinds = _find_kinds(kinds)
        self._found: list[AuditFinding] = []
        self.trials: list[MutantTrials] = []
        self.not_searched: list[str] = []
        """Instances whose base tree cannot be read, and why."""
        self.not_run: list[str] = []
        """Instances whose gold patch could not be run, so that there are no mutants or counter-tests."""

    def find_by_rules(self, cutoff: date | None, sources: Sources | None = None) -> None:
        """Look at rows, and at the base trees that ``sources`` have on this machine; nothing is fetched."""
        for each in self.instances:
            tree = open_tree(sources, each) if sources else None
            try:
                self._found += audit(each, cutoff, tree)
            except EnvironmentFailure as error:
                self.not_searched.append(f"{each.id}: {error}")
                self._found += audit(each, cutoff)

    def find_by_record(self, path: Path) -> None:
        """Look at what both controls did in the runs of ``assay dataset validate``; raises DataError."""
        known = {each.id for each in self.instances}
        for record in read_stability(path).instances:
            if record.instance_id in known:
                self._found += find_by_controls(record.instance_id, record.gold, record.null)

    def find_by_run(self, store: RunStore) -> None:
        """Look at the empty predictions of a run; raises UserError if there are none of these instances."""
        known = {each.id for each in self.instances}
        empty = [each.instance_id for each in store.load_predictions() if not each.patch.strip()]
        saved = [store.load_verdict(name) for name in empty if name in known]
        nulls = [each.verdict for each in saved if each]
        if not nulls:
            raise UserError(f"{store.root}: no verdict on an empty patch of these instances is in this run")
        for verdict in nulls:
            self._found += find_by_controls(verdict.instance_id, (), (verdict.outcome,))

    def find_by_mutants(self, run: EvaluationRun, count: int) -> None:
        """Run both controls, then the mutants of those whose gold patch is resolved, the n-th of each in one run."""
        gold, null = (_run_control(run, self.instances, model) for model in CONTROLS)
        for each in self.instances:
            self._found += find_by_controls(each.id, (gold[each.id],), (null[each.id],))
            if gold[each.id] in INFRASTRUCTURE:
                self.not_run.append(each.id)
                run.view.say(f"{each.id}: no mutants, since its gold patch ended in {gold[each.id]}")
        fit = [each for each in self.instances if gold[each.id] is Outcome.RESOLVED]
        for trial in _trials(run, fit, {each.id: mutants(subject(each), count) for each in fit}):
            self.trials.append(trial)
            self._found += find_by_mutants(trial.instance_id, trial.judged)

    def find_by_counters(self, place: Workplace) -> None:
        """Make counter-tests; raises as ``make_counter_tests``."""
        for each in make_counter_tests(place, self.instances):
            if each.counters:
                self._found += find_by_counters(each.counters)
            else:
                self.not_run.append(each.instance_id)
                place.view.say(f"{each.instance_id}: no counter-tests: {each.error}")

    @property
    def findings(self) -> list[AuditFinding]:
        """The findings of the chosen kinds, each once, in the order of the instances."""
        place = {each.id: number for number, each in enumerate(self.instances)}
        chosen = dict.fromkeys(each for each in self._found if each.kind in self._kinds)
        return sorted(chosen, key=lambda each: place[each.instance_id])

    def save(self, ref: DatasetRef) -> SavedAudit:
        return SavedAudit(
            dataset=ref.name,
            revision=ref.revision,
            instances=len(self.instances),
            findings=tuple(self.findings),
            mutants={
                trial.instance_id: tuple(
                    TriedMutant(mutant=each.mutant.description, patch=each.mutant.patch, outcome=each.outcome)
                    for each in trial.judged
                )
                for trial in self.trials
            },
        )

    @property
    def is_broken(self) -> bool:
        return bool(self.not_run) or any(
            each.outcome in INFRASTRUCTURE for trial in self.trials for each in trial.judged
        )


def _find_kinds(names: Iterable[str]) -> frozenset[AuditKind]:
    known = {str(kind): kind for kind in AuditKind}
    for name in names:
        if name not in known:
            raise UserError(f"--kind {name!r} is no kind of finding{did_you_mean(name, known)}")
    return frozenset(known[name] for name in names) or frozenset(AuditKind)


def _run_control(run: EvaluationRun, instances: Sequence[Instance], model: str) -> dict[str, Outcome]:
    _, verdicts = replace(run, run_id=f"{run.run_id}-{model}").evaluate_control(instances, model)
    return {each.instance_id: each.outcome for each in verdicts}


def _trials(
    run: EvaluationRun, instances: Sequence[Instance], found: Mapping[str, tuple[MutatedPatch, ...]]
) -> Iterator[MutantTrials]:
    """Evaluate the mutants of each instance; a run holds one of each, since a run has one prediction an instance."""
    judged: dict[str, list[Judged]] = {each.id: [] for each in instances}
    for number in range(max(map(len, found.values()), default=0)):
        model = f"mutant-{number + 1}"
        mine = {each.id: (each, found[each.id][number]) for each in instances if number < len(found[each.id])}
        pairs = [
            (each, Prediction(instance_id=each.id, model=model, patch=mutant.patch)) for each, mutant in mine.values()
        ]
        _, verdicts = replace(run, run_id=f"{run.run_id}-{model}").evaluate(pairs, list(mine))
        for verdict in verdicts:
            judged[verdict.instance_id].append(Judged(mine[verdict.instance_id][1], verdict.outcome))
    return (MutantTrials(name, tuple(each)) for name, each in judged.items())
