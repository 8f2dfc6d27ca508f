"""The causes of a run's resolved patches, as every door finds them."""

from collections.abc import Sequence

from assay.harness.causes.run import CauseRunner
from assay.harness.causes.search import CauseSettings
from assay.harness.domain import Cause
from assay.harness.errors import UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.names import did_you_mean
from assay.harness.runs.regrade import summarise_causes
from assay.harness.runs.store import RunStore
from assay.jobs.workplace import Workplace


def find_causes(
    store: RunStore, place: Workplace, settings: CauseSettings, ids: Sequence[str] = (), *, fresh: bool = False
) -> list[Cause]:
    """Find the causes of a run's resolved patches, which its report then counts; raises UserError, or RunStopped."""
    with store.lock():
        tasks = _make_tasks(store, place, ids)
        causes = trace(store, place, settings, tasks, fresh=fresh)
        report = store.load_report()
        if report is not None:
            verdicts = [saved.verdict for saved in store.load_verdicts()]
            figures = summarise_causes(store, verdicts)
            store.save_report(report.model_copy(update={"causes": figures}), verdicts)
    return causes


def trace(
    store: RunStore, place: Workplace, settings: CauseSettings, tasks: Sequence[Task], *, fresh: bool = False
) -> list[Cause]:
    """Find the causes of tasks whose patches are resolved; raises RunStopped."""
    view = place.view
    runner = CauseRunner(store, place.bench, settings, place.jobs, fresh, note=view.note, every=view.every)
    with view.tracing(len(tasks)) as progress:
        return runner.execute(tasks, progress)


def _make_tasks(store: RunStore, place: Workplace, ids: Sequence[str]) -> list[Task]:
    predictions = {each.instance_id: each for each in store.load_predictions()}
    for name in ids:
        if name not in predictions:
            raise UserError(f"{store.root} has no patch for {name!r}{did_you_mean(name, predictions)}")
        if (saved := store.load_verdict(name)) is None or not saved.verdict.resolved:
            outcome = saved.verdict.outcome if saved else "not evaluated"
            raise UserError(f"{name} is {outcome} in {store.root}; only a patch that is resolved has a cause")
    tasks = []
    for name in ids or predictions:
        saved, instance = store.load_verdict(name), store.load_instance(name)
        if saved is not None and saved.verdict.resolved and instance is not None:
            tasks.append(place.task(instance, predictions[name]))
    return tasks
