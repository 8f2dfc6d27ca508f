"""Several runs as one: the shards of a run, or runs of different instances that were made alike.

The report is the one that a single process writes. It is the last file that is written: until then the folder is that
of a run that has not finished, and the same call makes it whole.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from assay.harness.domain import INFRASTRUCTURE, Prediction
from assay.harness.errors import UserError
from assay.harness.files import read_model, refuse_links
from assay.harness.names import count
from assay.harness.runs.manifest import CONTROLS, ORACLE, SHARD, WORDS, Run, RunKind, control_name, join_marks
from assay.harness.runs.regrade import summarise_causes, summarise_comparisons
from assay.harness.runs.report import RunReport
from assay.harness.runs.saved import SavedVerdict
from assay.harness.runs.shards import missing_numbers
from assay.harness.runs.store import RunStore

MERGED = (RunKind.EVALUATE, RunKind.CONTROL, RunKind.EVALUATE_SOLVED)
HARMLESS = frozenset({"jobs", ORACLE, "evaluate"})  # settings in which merged runs may differ
NO = "no"


@dataclass(frozen=True, slots=True)
class Merge:
    """What some runs give together; nothing is written yet."""

    run: Run
    sources: Sequence[RunStore]
    predictions: Sequence[Prediction]
    """Sorted by id."""
    verdicts: Mapping[str, tuple[RunStore, SavedVerdict]]
    """The verdict on each prediction that has one, and the run that it comes from, by instance id."""
    unfit: Mapping[str, str] | None
    """Instances that fail their controls, with the reason; None if no controls were run."""
    missing: tuple[str, ...]
    twice: tuple[str, ...]
    """Ids of the instances that more than one run evaluated, to the same verdict."""
    controls: "Mapping[str, Merge]"


def plan_merge(sources: Sequence[RunStore], name: str) -> Merge:
    """Plan one run of several; writes nothing. Raises UserError if they were made differently or disagree."""
    for store in sources:
        refuse_links(store.root)
    runs = [store.load_run() for store in sources]
    check_alike(sources, runs, MERGED)
    predictions, verdicts, twice = _collect(sources)
    controlled = [report.unfit_reasons for each in sources if (report := each.load_report())]
    known = [each for each in controlled if each is not None]
    unfit = {name: reason for each in known for name, reason in each.items()} if known else None
    controls, without = _plan_controls(sources, name) if unfit is not None else ({}, [])
    unfinished = [each for each in sources if each.load_report() is None]
    missing = (*_missing(unfinished, runs, predictions, verdicts), *without)
    return Merge(
        merge_manifests(runs, sources, name),
        sources,
        [predictions[each] for each in sorted(predictions)],
        verdicts,
        unfit,
        tuple(chain(missing, *(each.missing for each in controls.values()))),
        tuple(sorted(twice)),
        controls,
    )


def write_merge(merge: Merge, output: RunStore, adopted: Callable[[], None]) -> RunReport:
    """Write the merged run, and its controls' runs beside it; return its report.

    ``output`` is a new folder, an empty one, or that of an earlier merge, which is replaced. ``adopted`` is called for
    each instance. Raises UserError: the folder holds something else, or is one of the sources; or the disk lost a
    verdict.
    """
    outputs = {name: RunStore(output.root.with_name(control_name(output.root.name, name))) for name in merge.controls}
    for each in (output, *outputs.values()):
        check_output(each, merge.sources)
    for name, control in merge.controls.items():
        write_merge(control, outputs[name], adopted)
    with output.lock():
        output.become(merge.run, merge.predictions, collect_events(merge.sources))
        for name, (source, _) in merge.verdicts.items():
            output.adopt(name, source)
            adopted()
        saved = output.load_verdicts()
        lost = merge.verdicts.keys() - {each.verdict.instance_id for each in saved}
        if lost:
            raise UserError(f"{output.root} did not take what was evaluated of {min(lost)}; merge again")
        verdicts = [each.verdict for each in saved]
        compared = merge.run.settings.get("patchdiff", NO) != NO
        figures = summarise_comparisons(output, verdicts) if compared else None
        traced = merge.run.settings.get("cause", NO) != NO
        causes = summarise_causes(output, verdicts) if traced else None
        report = output.summarise(verdicts, unfit=merge.unfit, patchdiff=figures, causes=causes)
        os.sync()  # one for all instances, before there is a report
        output.journal("merged", runs=", ".join(merge.run.merged))
        with suppress(OSError):  # they only save time
            output.save_durations({each.verdict.instance_id: each.seconds for each in saved if each.seconds})
        output.save_report(report, verdicts)
    return report


def check_alike(sources: Sequence[RunStore], runs: Sequence[Run], kinds: Collection[RunKind]) -> None:
    """Raise UserError unless all runs are of these kinds, and their results depend on the same things."""
    for store, run in zip(sources, runs, strict=True):
        if run.kind not in kinds:
            raise UserError(f"{store.root} holds {WORDS[run.kind]}, which cannot be merged")
    first = _aspects(runs[0])
    for store, run in zip(sources[1:], runs[1:], strict=True):
        other = _aspects(run)
        for name in first | other:
            one, two = first.get(name, ""), other.get(name, "")
            if one != two:
                raise UserError(
                    f"{store.root} was made with {name} {two or 'unset'}, {sources[0].root} with {one or 'unset'}; "
                    "merge runs that were made alike"
                )
    shards = [(store, shard) for store, run in zip(sources, runs, strict=True) for shard in run.shards]
    for store, shard in shards:
        if (shard.of, shard.cut) != (shards[0][1].of, shards[0][1].cut):
            raise UserError(
                f"{store.root} is shard {shard} of another run than shard {shards[0][1]} in {shards[0][0].root}: "
                "the number of shards, the instances, the predictions or --durations differ; make the shards alike"
            )


def _aspects(run: Run) -> dict[str, str]:
    return {
        "the data set": f"{run.dataset.name} at {run.dataset.revision}".removesuffix(" at "),
        "Assay": run.assay_version,
        "the kind": WORDS[run.kind],
        "the engine": run.engine.get("engine", ""),
        **{f"the setting {name}": value for name, value in run.settings.items() if name not in HARMLESS},
        **{name: value for name, value in run.given.items() if name not in {SHARD, "the data set"}},
    }


Collected = tuple[dict[str, Prediction], dict[str, tuple[RunStore, SavedVerdict]], set[str]]


def _collect(sources: Sequence[RunStore]) -> Collected:
    """Return each prediction, the verdict on it with its run, and the ids that have several; raises UserError."""
    predictions: dict[str, tuple[RunStore, Prediction]] = {}
    verdicts: dict[str, tuple[RunStore, SavedVerdict]] = {}
    twice = set()
    for store in sources:
        for prediction in store.load_predictions():
            name = prediction.instance_id
            other, known = predictions.setdefault(name, (store, prediction))
            if known != prediction:
                raise UserError(
                    f"{store.root} has another patch, or model, for {name} than {other.root}; leave one out"
                )
            saved = store.load_verdict(name)
            if saved is None:
                continue
            if name in verdicts:
                twice.add(name)
                verdicts[name] = _better(name, verdicts[name], (store, saved))
            else:
                verdicts[name] = (store, saved)
    return {name: prediction for name, (_, prediction) in predictions.items()}, verdicts, twice


def _better(
    name: str, first: tuple[RunStore, SavedVerdict], second: tuple[RunStore, SavedVerdict]
) -> tuple[RunStore, SavedVerdict]:
    """Return the first of two equal verdicts, or the one that is not the infrastructure's; or raises UserError."""
    (one, before), (two, after) = first, second
    if before.key != after.key:
        raise UserError(f"{two.root} evaluated {name} with other content than {one.root}; leave one of the runs out")
    if before.verdict == after.verdict or after.verdict.outcome in INFRASTRUCTURE:
        return first
    if before.verdict.outcome in INFRASTRUCTURE:
        return second
    raise UserError(
        f"{name} is {before.verdict.outcome} in {one.root} and {after.verdict.outcome} in {two.root}, or for other "
        "tests; look at both with assay view, and leave one of the runs out"
    )


def _missing(
    unfinished: Sequence[RunStore],
    runs: Sequence[Run],
    predictions: Mapping[str, Prediction],
    verdicts: Mapping[str, tuple[RunStore, SavedVerdict]],
) -> Iterator[str]:
    """Yield a sentence for each shard, run and verdict that is not there or not finished."""
    shards = [shard for run in runs for shard in run.shards]
    for number in missing_numbers(shards):
        yield f"shard {number}/{shards[0].of} is not among the runs"
    for store in unfinished:
        yield f"{store.root} has not finished; run its command again"
    if without := sorted(predictions.keys() - verdicts.keys()):
        more = f" and {count(len(without) - 1, 'other instance')}" if len(without) > 1 else ""
        yield f"no run has a verdict on {without[0]}{more}"


def _plan_controls(sources: Sequence[RunStore], name: str) -> tuple[dict[str, Merge], list[str]]:
    planned, missing = {}, []
    for control in CONTROLS:
        beside = [
            RunStore(each.root.with_name(control_name(each.root.resolve().name, control)))
            for each in sources
            if each.load_predictions()
        ]
        here = [each for each in beside if read_model(each.root / "run.json", Run)]
        missing += [f"{each.root} is not there" for each in beside if each not in here]
        if here:
            planned[control] = plan_merge(here, control_name(name, control))
    return planned, missing


def merge_manifests(runs: Sequence[Run], sources: Sequence[RunStore], name: str) -> Run:
    """Return the manifest of the merged run; facts that differ are listed side by side."""
    shards = {shard.number: shard for run in runs for shard in run.shards}
    is_whole = not missing_numbers([*shards.values()])
    settings = _side_by_side([run.settings for run in runs])
    marks = join_marks(*(run.oracle for run in runs))
    return runs[0].model_copy(
        update={
            "id": name,
            "model": ", ".join(sorted({model for run in runs for model in run.model.split(", ")} - {""})),
            "started": min(run.started for run in runs),
            "instance_ids": sorted({each for run in runs for each in run.instance_ids}),
            "environments": {each: where for run in runs for each, where in run.environments.items()},
            "given": {key: value for key, value in runs[0].given.items() if key != SHARD},
            "settings": {key: value for key, value in settings.items() if key != ORACLE}
            | ({ORACLE: marks} if marks else {}),
            "engine": _side_by_side([run.engine for run in runs]),
            "host": _side_by_side([run.host for run in runs]),
            "shards": () if is_whole else tuple(shards[number] for number in sorted(shards)),
            "merged": tuple(store.root.resolve().name for store in sources),
        }
    )


def _side_by_side(facts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    names = {name: None for each in facts for name in each}
    return {name: ", ".join(sorted({each[name] for each in facts if name in each})) for name in names}


def collect_events(sources: Sequence[RunStore]) -> list[dict[str, str]]:
    return sorted(chain.from_iterable(each.events() for each in sources), key=_time)


def _time(event: Mapping[str, object]) -> float:
    time = event.get("time")
    return time if isinstance(time, int | float) else 0.0


def check_output(output: RunStore, sources: Sequence[RunStore]) -> None:
    """Raise UserError unless a folder is new or empty, or was made by a merge."""
    if any(output.root.resolve() == each.root.resolve() for each in sources):
        raise UserError(f"{output.root} is one of the runs; -o names another folder")
    output.refuse_occupied(lambda run: bool(run.merged), "merge", "merged run")
