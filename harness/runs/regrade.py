"""Grading a run again from what it saved: no container, no flag, the same ``grade``."""

from dataclasses import dataclass

from assay.harness.domain import Verdict
from assay.harness.errors import UserError
from assay.harness.grading.grade import grade
from assay.harness.grading.stability import mark_flaky
from assay.harness.runs.report import RunReport, build_report
from assay.harness.runs.store import RunStore, SavedVerdict


@dataclass(frozen=True, slots=True)
class Regraded:
    """The new report, and each (old, new) pair of verdicts that differ."""

    report: RunReport
    changed: tuple[tuple[Verdict, Verdict], ...]


def regrade_run(store: RunStore) -> Regraded:
    """Grade every evaluation of a run again and save the verdicts and the report.

    Raises:
        UserError: the folder holds no run, or evidence is missing.
    """
    run = store.load_run()
    changed, verdicts = [], []
    for prediction in store.load_predictions():
        before = store.load_verdict(prediction.instance_id)
        if before is None:
            continue
        after = _grade_again(store, before)
        verdicts.append(after)
        if after != before.verdict:
            changed.append((before.verdict, after))
            store.save_verdict(SavedVerdict(key=before.key, seconds=before.seconds, verdict=after))
    known = store.load_report()
    report = build_report(
        verdicts,
        (*known.submitted_ids, *known.incomplete_ids) if known else (),
        unfit=known.unfit_reasons if known else None,
        run_id=run.id,
        dataset=run.dataset.name,
        model=run.model,
        assay_version=run.assay_version,
    )
    store.save_report(report, verdicts)
    return Regraded(report, tuple(changed))


def _grade_again(store: RunStore, before: SavedVerdict) -> Verdict:
    instance_id = before.verdict.instance_id
    instance, evidence = store.load_instance(instance_id), store.load_evidence(instance_id)
    if instance is None or evidence is None:
        raise UserError(f"{store.root}: the evidence of {instance_id} is missing or unreadable; evaluate it again")
    return mark_flaky(grade(instance, evidence), [grade(instance, each) for each in store.load_reruns(before)])
