"""A run of the grades of logs that were made elsewhere. No evaluation takes a verdict from it."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Instance, Prediction
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.grading.log_trees import read_patch
from assay.harness.grading.logs import LogGrades
from assay.harness.runs.crew import SAVERS
from assay.harness.runs.manifest import ORACLE, Run, RunKind, join_marks, refuse_occupied
from assay.harness.runs.report import RunReport
from assay.harness.runs.store import RunStore
from assay.version import __version__


def pair_logs(grades: LogGrades, predictions: Iterable[Prediction]) -> tuple[list[Prediction], list[str]]:
    """Return the prediction of each log, then those without a log; and the ids of logs of another patch.

    The patch beside a log is the one that was tested. Where there is none it is taken from the prediction, or unknown.
    """
    given = {each.instance_id.lower(): each for each in predictions}
    pairs, others = [], []
    for name, path in grades.logs.items():
        prediction, patch = given.pop(name.lower(), None), read_patch(path)
        if prediction and patch is not None and prediction.patch.strip() != patch.strip():
            others.append(name)
        known = prediction or Prediction(instance_id=name)
        pairs.append(known.model_copy(update={"instance_id": name} | ({} if patch is None else {"patch": patch})))
    return pairs + list(given.values()), others


def write_log_run(
    store: RunStore,
    grades: LogGrades,
    predictions: Sequence[Prediction],
    instances: Sequence[Instance],
    given: Mapping[str, str],
) -> RunReport:
    """Write grades as a run, in place of an earlier one of the same logs and rows; return its report.

    Args:
        predictions: of ``pair_logs``.
        instances: all that the report is about, at least one.
        given: logs and rows, in a person's words.

    Raises:
        UserError: the folder holds anything else.
    """
    refuse_occupied(
        store.root,
        lambda run: run.kind is RunKind.REGRADE and run.given == given,
        "regrade of these logs and rows",
        "run of these logs",
    )
    marks = join_marks(*{each.oracle for each in predictions})
    run = Run(
        id=store.root.resolve().name,
        kind=RunKind.REGRADE,
        dataset=instances[0].dataset,
        model=", ".join(sorted({each.model for each in predictions} - {""})),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        assay_version=__version__,
        instance_ids=sorted(each.id for each in instances),
        given=dict(given),
        settings={ORACLE: marks} if marks else {},
    )
    by_id = {each.id: each for each in instances}

    def save(prediction: Prediction) -> None:
        name = prediction.instance_id
        _save(store, by_id[name], prediction, grades, grades.logs[name])

    with store.lock():
        store.become(run, predictions, ())
        for each in predictions[len(grades.logs) :]:
            store.forget(each.instance_id)
        with ThreadPoolExecutor(SAVERS) as savers:  # a disk takes them together
            list(savers.map(save, predictions[: len(grades.logs)]))
        verdicts = [*grades.verdicts.values()]
        report = store.summarise(verdicts)
        store.save_report(report, verdicts)
    return report


def _save(store: RunStore, instance: Instance, prediction: Prediction, grades: LogGrades, log: Path) -> None:
    output = log.read_bytes()
    evaluation = Evaluation(grades.evidence[instance.id], prediction.patch, output)
    key = sha256(b"\0".join([b"log", instance.model_dump_json().encode(), output])).hexdigest()
    store.save_evaluation(instance, evaluation, grades.verdicts[instance.id], key)
