"""``assay dataset audit``: gathers findings from rules, records and runs of mutants, and prints them."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import console, exits
from assay.cli.loading import find_run
from assay.harness.domain import INFRASTRUCTURE, Instance, Outcome, Prediction
from assay.harness.errors import UserError
from assay.harness.grading.stability import read_stability
from assay.instances.audit import AuditFinding, AuditKind, Severity, audit
from assay.instances.audit.mutants import MutatedPatch, mutants
from assay.instances.audit.subject import subject
from assay.instances.audit.weak import Judged, by_controls, by_mutants
from assay.session import CONTROLS, Session

if TYPE_CHECKING:
    from assay.instances.dataset.load import Loaded

SHOWN = 3
"""Lines of evidence that are printed for a finding, unless single instances or kinds are asked for."""
WIDTH = 200
"""Characters of a line of evidence that are printed."""


@dataclass(frozen=True, slots=True)
class MutantTrials:
    """The mutants of one instance, judged."""

    instance_id: str
    judged: tuple[Judged, ...]


def find_kinds(names: Iterable[str]) -> frozenset[AuditKind]:
    """Return the kinds of these names, or all without any; raises UserError for an unknown one."""
    known = {str(kind): kind for kind in AuditKind}
    for name in names:
        if name not in known:
            raise UserError(f"--kind {name!r} is no kind of finding; known are: {', '.join(known)}")
    return frozenset(known[name] for name in names) or frozenset(AuditKind)


class Audit:
    """All that is found about the instances of a data set."""

    def __init__(self, loaded: "Loaded") -> None:
        self.loaded = loaded
        self.findings: list[AuditFinding] = []
        self.trials: list[MutantTrials] = []
        self.not_run: list[str] = []
        """Instances whose gold patch could not be run, so that there are no mutants of it."""

    @property
    def instances(self) -> Sequence[Instance]:
        """The instances that are looked at."""
        return self.loaded.instances

    def by_rules(self, cutoff: date | None) -> None:
        """Look at each instance alone."""
        self.findings += [finding for each in self.instances for finding in audit(each, cutoff)]

    def by_record(self, path: Path) -> None:
        """Look at what both controls did in the runs of ``assay dataset validate``; raises DataError."""
        known = {each.id for each in self.instances}
        for record in read_stability(path).instances:
            if record.instance_id in known:
                self.findings += by_controls(record.instance_id, record.gold, record.null)

    def by_run(self, run: str, runs_dir: Path) -> None:
        """Look at the empty predictions of a run; raises UserError if there are none of these instances."""
        store, known = find_run(run, runs_dir), {each.id for each in self.instances}
        empty = [each.instance_id for each in store.load_predictions() if not each.patch.strip()]
        saved = [store.load_verdict(name) for name in empty if name in known]
        nulls = [each.verdict for each in saved if each]
        if not nulls:
            raise UserError(f"--null-run {run}: no verdict on an empty patch of these instances is in it")
        for verdict in nulls:
            self.findings += by_controls(verdict.instance_id, (), (verdict.outcome,))

    def by_mutants(self, session: Session, count: int) -> None:
        """Run both controls, then the mutants of those whose gold patch is resolved, the n-th of each in one run."""
        gold, null = (_run_control(session, self.instances, model) for model in CONTROLS)
        for each in self.instances:
            self.findings += by_controls(each.id, (gold[each.id],), (null[each.id],))
            if gold[each.id] in INFRASTRUCTURE:
                self.not_run.append(each.id)
                console.say(f"{each.id}: no mutants, since its gold patch ended in {gold[each.id]}")
        fit = [each for each in self.instances if gold[each.id] is Outcome.RESOLVED]
        for trial in _trials(session, fit, {each.id: mutants(subject(each), count) for each in fit}):
            self.trials.append(trial)
            self.findings += by_mutants(trial.instance_id, trial.judged)

    def choose(self, kinds: Collection[AuditKind]) -> None:
        """Keep the findings of these kinds, each once, in the order of the instances."""
        place = {each.id: number for number, each in enumerate(self.instances)}
        chosen = dict.fromkeys(each for each in self.findings if each.kind in kinds)
        self.findings = sorted(chosen, key=lambda each: place[each.instance_id])

    def exit_status(self, *, strict: bool) -> int:
        """Return 4 for a fault if the audit is strict, 3 if something could not be run, else 0."""
        if strict and any(each.severity is Severity.FAULT for each in self.findings):
            return exits.INVALID
        broken = any(each.outcome in INFRASTRUCTURE for trial in self.trials for each in trial.judged)
        return exits.INFRASTRUCTURE if broken or self.not_run else 0

    def print_json(self) -> None:
        """Print everything as one JSON object."""
        ref = self.loaded.ref
        about = {"dataset": ref.name, "revision": ref.revision, "instances": len(self.instances)}
        rows = [each.model_dump(mode="json") for each in self.findings]
        tried = {
            trial.instance_id: [
                {"mutant": each.mutant.description, "patch": each.mutant.patch, "outcome": each.outcome}
                for each in trial.judged
            ]
            for trial in self.trials
        }
        console.print_json(json.dumps({**about, "findings": rows, "mutants": tried}))

    def print(self, *, all_of_it: bool) -> None:
        """Print how often each finding occurs, then the faults and doubts one by one; the notes too if all is asked."""
        if self.findings:
            console.print_rows(("finding", "severity", "instances", "share"), self._counts())
        for each in self.findings:
            if all_of_it or each.severity is not Severity.NOTE:
                print(f"{each.instance_id}: {each.kind} ({each.severity}): {each.summary}")
                for line in each.evidence[: None if all_of_it else SHOWN]:
                    print(f"    {_one_line(line)}")
        for trial in self.trials:
            print(f"{trial.instance_id}: mutants of the gold patch: {_outcomes(trial)}")
        print(self._sum())

    def _counts(self) -> Iterator[tuple[str, ...]]:
        found = {(each.kind, each.severity, each.instance_id) for each in self.findings}
        counts = Counter((kind, severity) for kind, severity, _ in found)
        for severity in Severity:
            for kind in AuditKind:
                if counts[kind, severity]:
                    count = counts[kind, severity]
                    yield kind, severity, str(count), f"{count / len(self.instances):.1%}"

    def _sum(self) -> str:
        by = {
            severity: {each.instance_id for each in self.findings if each.severity is severity} for severity in Severity
        }
        faults, doubts, total = by[Severity.FAULT], by[Severity.DOUBT] - by[Severity.FAULT], len(self.instances)
        neither = total - len(faults) - len(doubts)
        name = self.loaded.ref.name
        return f"{total} instances of {name}: {len(faults)} at fault, {len(doubts)} in doubt, {neither} neither"


def _run_control(session: Session, instances: Sequence[Instance], model: str) -> dict[str, Outcome]:
    _, verdicts = replace(session, run_id=f"{session.run_id}-{model}").run_control(instances, model)
    return {each.instance_id: each.outcome for each in verdicts}


def _trials(
    session: Session, instances: Sequence[Instance], found: Mapping[str, tuple[MutatedPatch, ...]]
) -> Iterator[MutantTrials]:
    """Evaluate the mutants of each instance; a run holds one of each, since a run has one prediction an instance."""
    judged: dict[str, list[Judged]] = {each.id: [] for each in instances}
    for number in range(max(map(len, found.values()), default=0)):
        model = f"mutant-{number + 1}"
        mine = {each.id: (each, found[each.id][number]) for each in instances if number < len(found[each.id])}
        pairs = [
            (each, Prediction(instance_id=each.id, model=model, patch=mutant.patch)) for each, mutant in mine.values()
        ]
        _, verdicts = replace(session, run_id=f"{session.run_id}-{model}").run(pairs, list(mine))
        for verdict in verdicts:
            judged[verdict.instance_id].append(Judged(mine[verdict.instance_id][1], verdict.outcome))
    return (MutantTrials(name, tuple(each)) for name, each in judged.items())


def _outcomes(trial: MutantTrials) -> str:
    counts = Counter(str(each.outcome) for each in trial.judged)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none could be made"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."
