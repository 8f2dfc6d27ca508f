"""A validation of instances, as every front door does it: both controls, run several times and compared."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from assay.harness.benchmarks import find_benchmark, swe_bench
from assay.harness.domain import GRADED, Instance, Status
from assay.harness.grading.controls import Runs, Validation, validation
from assay.harness.grading.grade import grade
from assay.harness.grading.stability import Stability, measure
from assay.harness.reports import label_names
from assay.harness.rulings.normalise import normalise_results
from assay.harness.runs.manifest import CONTROLS
from assay.harness.runs.store import RunStore
from assay.jobs.evaluate import EvaluationRun
from assay.version import __version__

UNLABELLED: dict[str, Any] = {"fail_to_pass": (), "pass_to_pass": (), "quarantined": ()}
UNSTAGED: dict[str, Any] = {"rule": swe_bench.BENCHMARK.name, "stages": None}
"""Changes for rules that compare with earlier runs: measured labels are two lists."""


def run_controls(
    run: EvaluationRun, instances: Sequence[Instance], times: int
) -> tuple[list[Validation], tuple[Stability, ...]]:
    """Run both controls ``times`` times, each as a run of its own; return each instance's validation and stability."""
    stores = _run_controls(run, instances, times)
    engine = stores["gold"][0].load_run().engine
    results, records = [], []
    for each in instances:
        gold, null = ([store.load_evidence(each.id) for store in runs] for runs in stores.values())
        records.append(measure(each, gold, null, assay_version=__version__, engine=engine))
        results.append(validation(each, gold, null, records[-1]))
    return results, tuple(records)


def _run_controls(run: EvaluationRun, instances: Sequence[Instance], times: int) -> dict[str, list[RunStore]]:
    stores: dict[str, list[RunStore]] = {model: [] for model in CONTROLS}
    for number in range(1, times + 1):
        for model in CONTROLS:
            patch = "gold patches" if model == "gold" else "no patch"
            run.place.view.say(f"{patch}, round {number} of {times}")
            one = replace(run, run_id=f"{run.run_id}-{model}-{number}")
            one.evaluate_control(instances, model)
            stores[model].append(one.store)
    return stores


@dataclass(frozen=True, slots=True)
class Measured:
    instance: Instance
    """It has the labels on which all runs agree, and no others."""
    result: Validation
    """Validates these labels; the differences are from the row's own."""
    stability: Stability
    """Its quarantine is that of the row's own labels; the measured ones need none."""
    problem: str = ""
    """Reason why no usable labels were measured; empty if some were."""


def measure_labels(run: EvaluationRun, instances: Sequence[Instance], times: int) -> list[Measured]:
    """Measure the labels of instances, whatever their own are: both controls, ``times`` times.

    The tests of the test patch's files count, or the tests that the recipe's command runs without any label.
    """
    bare = [each.model_copy(update=UNLABELLED) for each in instances]
    bare = [each.model_copy(update=UNSTAGED) if find_benchmark(each.rule).staged else each for each in bare]
    stores = _run_controls(run, bare, times)
    engine = stores["gold"][0].load_run().engine
    found = []
    for own, each in zip(instances, bare, strict=True):
        gold, null = ([store.load_evidence(each.id) for store in runs] for runs in stores.values())
        record = partial(measure, gold=gold, null=null, assay_version=__version__, engine=engine)
        tests = validation(each, gold, null, record(each))
        labelled = _label(each, tests, read_names(run, stores["gold"][0], each))
        result = validation(labelled, gold, null, record(labelled))
        differences = (*validation(own, gold, null, record(own)).label_differences, *_not_labelled(own, labelled))
        labels = {"fail_to_pass": labelled.fail_to_pass, "pass_to_pass": labelled.pass_to_pass}
        result = result.model_copy(update={**labels, "label_differences": differences})
        stability = record(labelled).model_copy(update={"quarantined": record(own).quarantined})
        found.append(Measured(labelled, result, stability, explain_problem(labelled, result, gold, null)))
    return found


def read_names(run: EvaluationRun, store: RunStore, instance: Instance) -> Collection[str]:
    """Return one name of each test in a saved run, as labels are compared."""
    output = store.evaluations.file(instance.id, "test_output.txt")
    if output is None:
        return ()
    files = store.evaluations.reports(instance.id)
    names = label_names(run.place.bench.plan(run.place.bench.settle(instance)), files, output.decode(errors="replace"))
    return normalise_results(instance, dict.fromkeys(names, Status.PASSED))


def _label(instance: Instance, tests: Validation, names: Collection[str]) -> Instance:
    fixed, kept = (tuple(name for name in each if name in names) for each in (tests.fail_to_pass, tests.pass_to_pass))
    return instance.model_copy(update={"fail_to_pass": fixed, "pass_to_pass": kept})


def _not_labelled(own: Instance, measured: Instance) -> tuple[str, ...]:
    known = {*own.fail_to_pass, *own.pass_to_pass}
    found = {"fail to pass": measured.fail_to_pass, "pass to pass": measured.pass_to_pass}
    lines = (f"not labelled, is {kind}: {test}" for kind, tests in found.items() for test in tests if test not in known)
    return tuple(lines) if known else ()


def explain_problem(instance: Instance, result: Validation, gold: Runs, null: Runs) -> str:
    """Return why the controls do not confirm measured labels; empty if they do."""
    for name, runs in (("gold patch", gold), ("control without a patch", null)):
        verdicts = [grade(instance, each) for each in runs if each is not None]
        for verdict in verdicts:
            if verdict.outcome not in GRADED:
                return f"its {name} is {verdict.outcome}: {verdict.reason}"
        if len(verdicts) < len(runs):
            return f"its {name} has no evidence"
    if not result.fail_to_pass:
        return "no test fails without the gold patch and passes with it, in every run"
    return "" if result.valid else "its controls do not agree with the labels"


def open_for_labels(folder: Path, dataset: str, name: str) -> bool:
    """Prepare a folder for measured instances; return whether it is the data set, to relabel. Raises UserError."""
    from assay.instances.dataset.formats import native

    if (folder / native.MARKER).is_file() and folder.resolve() == Path(dataset).expanduser().resolve():
        return True
    native.open_folder(folder, name)
    return False


def write_measured(folder: Path, found: Sequence[Measured], *, in_place: bool) -> None:
    """Write measured instances, or only their labels if the folder is their own.

    An instance without usable labels is left out, or keeps its labels.
    """
    from assay.instances.dataset.formats import native

    for each in found:
        if not each.problem and in_place:
            native.write_labels(folder, each.instance.id, each.instance.fail_to_pass, each.instance.pass_to_pass)
        elif not each.problem:
            native.write_task(folder, each.instance)
        if in_place or not each.problem:
            native.write_stability(folder, each.stability)
