"""Grading a run again from what it saved: no container, no flag, the same ``grade``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.harness.domain import Verdict
from assay.harness.errors import UserError
from assay.harness.grading.grade import grade
from assay.harness.grading.stability import mark_flaky
from assay.harness.runs.cause_figures import CauseFigures, cause_figures
from assay.harness.runs.keys import grading_edition
from assay.harness.runs.patchdiff_figures import PatchDiffFigures, patchdiff_figures
from assay.harness.runs.report import RunReport
from assay.harness.runs.saved import SavedVerdict
from assay.harness.runs.store import RunStore


@dataclass(frozen=True, slots=True)
class Regraded:
    """The new report, and each (old, new) pair of verdicts that differ."""

    report: RunReport
    changed: tuple[tuple[Verdict, Verdict], ...]


def regrade_run(store: RunStore) -> Regraded:
    """Grade every evaluation of a run again and save the verdicts and the report; raises UserError without evidence."""
    changed, verdicts = [], []
    for before in store.load_verdicts():
        after = save_graded(store, before).verdict
        verdicts.append(after)
        if after != before.verdict:
            changed.append((before.verdict, after))
    known = store.load_report()
    report = report_again(store, verdicts, known.unfit_reasons if known else None)
    store.save_report(report, verdicts)
    return Regraded(report, tuple(changed))


def save_graded(store: RunStore, before: SavedVerdict) -> SavedVerdict:
    """Grade an evaluation again from its evidence and save the verdict; raises UserError, see ``regrade_run``."""
    after = before.model_copy(update={"verdict": grade_again(store, before), "graded": grading_edition()})
    if after != before:
        store.save_verdict(after)
    return after


def report_again(store: RunStore, verdicts: Sequence[Verdict], unfit: Mapping[str, str] | None) -> RunReport:
    """Build the report of these verdicts, with figures of what the saved report has beside them; see ``summarise``."""
    known = store.load_report()
    patchdiff = summarise_comparisons(store, verdicts) if known and known.patchdiff else None
    causes = summarise_causes(store, verdicts) if known and known.causes else None
    return store.summarise(verdicts, unfit=unfit, patchdiff=patchdiff, causes=causes)


def summarise_causes(store: RunStore, verdicts: Sequence[Verdict]) -> CauseFigures:
    """Return the figures over the patches that are resolved now and have a saved cause."""
    saved = [store.load_cause(verdict.instance_id) for verdict in verdicts if verdict.resolved]
    return cause_figures([each.cause for each in saved if each is not None])


def summarise_comparisons(store: RunStore, verdicts: Sequence[Verdict]) -> PatchDiffFigures:
    """Return PatchDiff's figures over the patches that are resolved now and have a saved comparison."""
    saved = [store.load_patchdiff(verdict.instance_id) for verdict in verdicts if verdict.resolved]
    return patchdiff_figures([each.comparison for each in saved if each is not None], len(verdicts))


def grade_again(store: RunStore, before: SavedVerdict) -> Verdict:
    """Return the verdict that an evaluation's saved evidence gives now; raises UserError, see ``regrade_run``."""
    instance_id = before.verdict.instance_id
    instance, evidence = store.load_instance(instance_id), store.load_evidence(instance_id)
    if instance is None or evidence is None:
        raise UserError(
            f"{store.root}: the evidence of {instance_id} is missing, torn or another version's; evaluate it again"
        )
    if (instance.id, evidence.instance_id) != (instance_id, instance_id):
        raise UserError(f"{store.root}: the evidence of {instance_id} is that of {evidence.instance_id}")
    return mark_flaky(grade(instance, evidence), [grade(instance, each) for each in store.load_reruns(before)])
