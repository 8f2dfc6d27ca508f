"""``assay dataset validate``: runs both controls several times; compares, writes and prints them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.cli import console
from assay.harness.domain import Instance, Outcome
from assay.harness.grading.stability import Stability, measure
from assay.harness.grading.validate import Validation, validation
from assay.harness.runs.store import RunStore
from assay.session import CONTROLS, Session
from assay.version import __version__

SHOWN = 20
"""Lines of one kind that are printed for an instance."""


def run(session: Session, instances: Sequence[Instance], times: int) -> tuple[list[Validation], tuple[Stability, ...]]:
    """Run both controls so many times, each time as a run of its own, and return what they show of each instance."""
    stores = _run_controls(session, instances, times)
    engine = stores["gold"][0].load_run().engine
    results, records = [], []
    for each in instances:
        gold, null = ([store.load_evidence(each.id) for store in runs] for runs in stores.values())
        records.append(measure(each, gold, null, assay_version=__version__, engine=engine))
        results.append(validation(each, gold, null, records[-1]))
    return results, tuple(records)


def _run_controls(session: Session, instances: Sequence[Instance], times: int) -> dict[str, list[RunStore]]:
    stores: dict[str, list[RunStore]] = {model: [] for model in CONTROLS}
    for number in range(1, times + 1):
        for model in CONTROLS:
            one = replace(session, run_id=f"{session.run_id}-{model}-{number}")
            one.run_control(instances, model)
            stores[model].append(one.store)
    return stores


def write(folder: Path, results: Sequence[Validation], records: Sequence[Stability]) -> None:
    """Write the labels that were measured, and what the runs showed, into a native data set."""
    from assay.instances.dataset.formats.native import write_labels, write_stability

    for result, record in zip(results, records, strict=True):
        if result.fail_to_pass:
            write_labels(folder, result.instance_id, result.fail_to_pass, result.pass_to_pass)
        write_stability(folder, record)


def show(results: Sequence[Validation]) -> None:
    """Print a row for each instance, then the labels and the tests that do not hold."""
    columns = ("instance", "valid", "gold", "null", "fail to pass", "pass to pass", "labels that differ", "unstable")
    rows = [
        (
            result.instance_id,
            _answer(result),
            _outcomes(result.gold),
            _outcomes(result.null),
            str(len(result.fail_to_pass)),
            str(len(result.pass_to_pass)),
            str(len(result.label_differences)),
            str(len(result.unstable)),
        )
        for result in results
    ]
    console.print_rows(columns, rows)
    for result in results:
        for line in result.label_differences[:SHOWN]:
            print(f"  {result.instance_id}: {line}")
        for test in result.unstable[:SHOWN]:
            print(f"  {result.instance_id}: unstable{_quarantined(test, result)}: {test}")


def _answer(result: Validation) -> str:
    if result.valid:
        return "yes"
    return "after quarantine" if result.valid_after_quarantine else "no"


def _outcomes(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes of several runs, the same ones once."""
    return ", ".join(
        f"{count} {outcome}" if len(set(outcomes)) > 1 else str(outcome) for outcome, count in Counter(outcomes).items()
    )


def _quarantined(test: str, result: Validation) -> str:
    return ", quarantined" if test in result.quarantined else ""
