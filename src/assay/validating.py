"""A validation of instances, as every front door does it: both controls, run several times and compared."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.harness.domain import Instance
from assay.harness.grading.stability import Stability, measure
from assay.harness.grading.validate import Validation, validation
from assay.harness.runs.store import RunStore
from assay.session import CONTROLS, Session
from assay.version import __version__


def run_controls(
    session: Session, instances: Sequence[Instance], times: int
) -> tuple[list[Validation], tuple[Stability, ...]]:
    """Run both controls so many times, each as a run of its own; return each instance's validation and stability."""
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


def write_results(folder: Path, results: Sequence[Validation], records: Sequence[Stability]) -> None:
    """Write the measured labels and the stability of every instance into a native data set."""
    from assay.instances.dataset.formats.native import write_labels, write_stability

    for result, record in zip(results, records, strict=True):
        if result.fail_to_pass:
            write_labels(folder, result.instance_id, result.fail_to_pass, result.pass_to_pass)
        write_stability(folder, record)
