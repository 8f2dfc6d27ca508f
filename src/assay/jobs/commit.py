"""Commitments to runs, as every front door makes and checks them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.agents.sampling.store import SolveStore
from assay.harness.bundles.commitments import (
    SAMPLES,
    Commitment,
    CommitmentLine,
    append_commitment,
    check_evaluations,
    check_manifest,
    compare_patches,
    hash_patch,
    hash_row,
    read_log,
)
from assay.harness.bundles.consistency import Mismatch
from assay.harness.domain import Instance, Model
from assay.harness.errors import UserError
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.store import RunStore
from assay.instances.dataset.predictions import read_predictions
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.solve import SolverRun, name_evaluated
from assay.jobs.workplace import Pair


class CheckedRun(Model):
    """A run held against its commitment."""

    run: str
    line: int
    """Number of the commitment; 0 if there is none."""
    problems: tuple[Mismatch, ...]


class CheckedLog(Model):
    """A log of commitments, held against the runs that there are."""

    committed: int
    head: str
    """Hash of the last line."""
    problems: tuple[Mismatch, ...]
    """What is wrong with the log itself."""
    runs: tuple[CheckedRun, ...]
    not_reported: tuple[str, ...]
    """Runs that were committed and are not here, or are here by another commitment of that name."""
    not_committed: tuple[str, ...]
    """Runs that are here, were not asked for, and are in no line."""

    @property
    def holds(self) -> bool:
        return not (self.problems or any(each.problems for each in self.runs))


def commit_evaluation(
    log: Path, run: EvaluationRun, instances: Sequence[Instance], pairs: Sequence[Pair]
) -> CommitmentLine:
    """Commit to a run of evaluations of these pairs; raises UserError if it is there already."""
    if run.shard:
        raise UserError("leave --shard out: commit to the whole run, and merge its shards")
    about = _describe(run.store, run.kind, instances, run.collect_given(instances[0].dataset))
    patches = {prediction.instance_id: hash_patch(prediction) for _, prediction in pairs}
    return append_commitment(log, about.model_copy(update={"patches": patches}))


def commit_solver(log: Path, run: SolverRun, instances: Sequence[Instance]) -> CommitmentLine:
    """Commit to the run of a solver; raises UserError if it is there already."""
    if run.shard:
        raise UserError("leave --shard out: commit to the whole run, and merge its shards")
    given = run.settings.list_inputs(instances[0], str(run.place.environment))
    given |= {SAMPLES: str(run.settings.samples)}
    store = EvaluationRun(run.run_id, run.runs_dir).store
    return append_commitment(log, _describe(store, RunKind.SOLVE, instances, given))


def _describe(store: RunStore, kind: RunKind, instances: Sequence[Instance], given: Mapping[str, str]) -> Commitment:
    if (store.root / "run.json").exists():
        raise UserError(f"{store.root} has begun already; commit to a run before, or name another with --run-id")
    return Commitment(
        run=store.root.name,
        kind=kind,
        time=datetime.now(UTC).replace(microsecond=0),
        dataset=instances[0].dataset,
        given={name: value for name, value in given.items() if value},
        rows={each.id: hash_row(each) for each in instances},
    )


def check_log(log: Path, stores: Sequence[RunStore], asked: Sequence[str], head: str = "") -> CheckedLog:
    """Hold runs against a log of commitments.

    ``asked`` names the runs that must have been committed, ``head`` the hash that a line must have; empty for none.
    """
    lines, problems = read_log(log, head)
    names = {each.commitment.run for each in lines} | {*asked}
    checked = [check_committed(each, lines) for each in stores if each.root.name in names]
    others = [each for each in stores if each.load_run().kind in {RunKind.EVALUATE, RunKind.SOLVE}]
    open_lines = [each for each in lines if each.number not in {run.line for run in checked}]
    return CheckedLog(
        committed=len(lines),
        head=lines[-1].digest if lines else "",
        problems=tuple(problems),
        runs=tuple(checked),
        not_reported=tuple(f"{each.commitment.run} (line {each.number})" for each in open_lines),
        not_committed=tuple(each.root.name for each in others if each.root.name not in names),
    )


def check_committed(store: RunStore, lines: Sequence[CommitmentLine]) -> CheckedRun:
    """Check a run against the commitment of its name that it keeps best."""
    name = store.root.name
    missing = Mismatch(file=name, what="no line of the log commits to this run")
    found = (
        CheckedRun(run=name, line=each.number, problems=tuple(_check(store, each.commitment)))
        for each in lines
        if each.commitment.run == name
    )
    return min(found, key=lambda each: len(each.problems), default=CheckedRun(run=name, line=0, problems=(missing,)))


def _check(store: RunStore, commitment: Commitment) -> Iterator[Mismatch]:
    """Yield the differences of a run; of a solver's, also those of the evaluations of its samples that there are."""
    yield from check_manifest(store, commitment)
    if store.load_run().kind is not RunKind.SOLVE:
        yield from check_evaluations(store, commitment, commitment.patches)
        return
    samples = commitment.given.get(SAMPLES, "")
    for sample in range(int(samples) if samples.isdecimal() else 0):
        file = SolveStore(store.root).predictions(sample)
        made = {each.instance_id: hash_patch(each) for each in (read_predictions(file) if file.exists() else ())}
        wanted = {name: made.get(name, "") for name in commitment.rows}
        yield from compare_patches(f"{store.root.name}/{file.name}", made, wanted)
        evaluated = RunStore(store.root.with_name(name_evaluated(store.root.name, sample)))
        if (evaluated.root / "run.json").exists():
            yield from check_evaluations(evaluated, commitment, made)
