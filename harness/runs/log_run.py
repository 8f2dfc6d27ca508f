"""A run of the grades of logs that were made elsewhere. No evaluation takes a verdict from it."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Instance, Prediction, TestPlan
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.grading.log_trees import read_patch
from assay.harness.grading.logs import LogGrades
from assay.harness.runs.crew import SAVERS
from assay.harness.runs.manifest import Run, RunKind
from assay.harness.runs.report import RunReport
from assay.harness.runs.store import RunStore
from assay.version import __version__

NOTHING_RUNS = TestPlan(command="")


def write_log_run(
    store: RunStore, folder: Path, grades: LogGrades, instances: Sequence[Instance], predictions: Iterable[Prediction]
) -> tuple[RunReport, list[str]]:
    """Write grades as a run, in place of an earlier one of the same logs and rows; raises UserError for any other.

    The patch beside a log is the one that was tested. Where there is none it is the prediction's, or unknown. Returns
    the report, and the ids whose log is of another patch than the prediction.
    """
    dataset = instances[0].dataset
    given = {"the data set": f"{dataset.name} at {dataset.revision[:12]}", "the logs": str(folder.resolve())}
    maker = "regrade of these logs and rows"
    store.refuse_occupied(lambda run: run.kind is RunKind.REGRADE and run.given == given, maker, "run of such logs")
    tasks, others = _pair(grades, instances, predictions)
    made = [task.prediction for task in tasks.values()]
    run = Run(
        id=store.root.resolve().name,
        kind=RunKind.REGRADE,
        dataset=dataset,
        model=", ".join(sorted({each.model for each in made} - {""})),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        assay_version=__version__,
        instance_ids=sorted(each.id for each in instances),
        given=given,
    )

    def save(name: str) -> None:
        task, output = tasks[name], grades.logs[name].read_bytes()
        key = sha256(b"\0".join([b"log", task.instance.model_dump_json().encode(), output])).hexdigest()
        store.save(task, Evaluation(grades.evidence[name], task.prediction.patch, output), grades.verdicts[name], key)

    with store.lock():
        store.become(run, made, ())
        for name in tasks.keys() - grades.logs.keys():
            store.forget(name)
        with ThreadPoolExecutor(SAVERS) as savers:
            list(savers.map(save, grades.logs))
        verdicts = [saved.verdict for saved in store.load_verdicts()]
        report = store.summarise(verdicts)
        store.save_report(report, verdicts)
    return report, others


def _pair(
    grades: LogGrades, instances: Sequence[Instance], predictions: Iterable[Prediction]
) -> tuple[dict[str, Task], list[str]]:
    by_id = {each.id.lower(): each for each in instances}
    predicted = {by_id[name].id: each for each in predictions if (name := each.instance_id.lower()) in by_id}
    tasks, others = {}, []
    for name in sorted({*grades.logs, *predicted}):
        known, patch = predicted.get(name), read_patch(grades.logs[name]) if name in grades.logs else None
        if known and patch is not None and known.patch.strip() != patch.strip():
            others.append(name)
        changes = {"instance_id": name} | ({} if patch is None else {"patch": patch})
        prediction = (known or Prediction(instance_id=name)).model_copy(update=changes)
        tasks[name] = Task(by_id[name.lower()], prediction, NOTHING_RUNS)
    return tasks, others
