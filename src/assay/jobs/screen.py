"""The screening of a run, as every front door does it: an audit of its instances, and its comparisons with gold."""

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

from assay.harness.domain import INFRASTRUCTURE, SUSPICIOUS, PatchDiffFinding
from assay.harness.errors import DataError, UserError
from assay.harness.files import make_model, parse_json, read_regular
from assay.harness.metrics.screening import Reproach, Screening, screen
from assay.harness.runs.store import RunStore
from assay.instances.audit import AuditFinding, AuditKind, Severity, audit
from assay.jobs.audit import SavedAudit

KINDS: Mapping[AuditKind, Reproach] = {
    AuditKind.SOLUTION_IN_ISSUE: Reproach.LEAKED,
    AuditKind.SOLUTION_IN_HINTS: Reproach.LEAKED,
    AuditKind.WEAK_TESTS: Reproach.WEAK,
    AuditKind.VACUOUS_LABELS: Reproach.WEAK,
    AuditKind.ISSUE_BEFORE_CUTOFF: Reproach.OLD,
    AuditKind.UNDETERMINED: Reproach.UNDETERMINED,
}
"""What a finding of an audit says against a verdict; of other kinds, nothing."""
WEAK_FLAGS = frozenset({"vacuous", "compile_only"})
"""Flags of a verdict whose tests pass whatever is done."""
REMEDY = "write it with: assay dataset audit DATASET -o"


def read_audit(path: Path) -> SavedAudit:
    """Read an audit that `assay dataset audit -o` wrote; raises UserError, DataError."""
    try:
        content = parse_json(read_regular(path))
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; {REMEDY} {path}") from None
    except ValueError:
        raise DataError(f"is no JSON; {REMEDY} FILE", file=str(path)) from None
    return make_model(SavedAudit, content, str(path), f"{REMEDY} FILE")


def screen_run(store: RunStore, saved: SavedAudit | None = None, cutoff: date | None = None) -> Screening:
    """Hold what is known against the instances of a run against its verdicts.

    Args:
        store: the run; verdicts that its environment or engine caused are left out.
        saved: an audit; without one, the rules that need no container look at the run's own instances.
        cutoff: end of a model's training.
    """
    verdicts = [each.verdict for each in store.load_verdicts() if each.verdict.outcome not in INFRASTRUCTURE]
    submitted = {verdict.instance_id for verdict in verdicts}
    resolved = {verdict.instance_id for verdict in verdicts if verdict.resolved}
    found: dict[Reproach, set[str]] = {kind: set() for kind in Reproach}
    for finding in _find_by_rules(store, submitted, cutoff) if saved is None else saved.findings:
        if finding.kind in KINDS and (finding.severity is Severity.FAULT or KINDS[finding.kind] is Reproach.OLD):
            found[KINDS[finding.kind]].add(finding.instance_id)
    found[Reproach.WEAK] |= {verdict.instance_id for verdict in verdicts if WEAK_FLAGS.intersection(verdict.flags)}
    looked_for = {Reproach.LEAKED, Reproach.UNDETERMINED}
    if found[Reproach.WEAK] or any(verdict.counter for verdict in verdicts) or (saved and saved.mutants):
        looked_for.add(Reproach.WEAK)
    if found[Reproach.OLD] or cutoff:
        looked_for.add(Reproach.OLD)
    compared = [store.load_patchdiff(name) for name in sorted(resolved)]
    for each in (each.comparison for each in compared if each):
        looked_for |= {Reproach.REFUTED, Reproach.SUSPICIOUS}
        if each.finding is PatchDiffFinding.REGRESSION:
            found[Reproach.REFUTED].add(each.instance_id)
        elif each.finding in SUSPICIOUS:
            found[Reproach.SUSPICIOUS].add(each.instance_id)
    return screen(submitted, resolved, found, [kind for kind in Reproach if kind in looked_for])


def _find_by_rules(store: RunStore, names: Iterable[str], cutoff: date | None) -> Iterable[AuditFinding]:
    instances = (store.load_instance(name) for name in sorted(names))
    return (finding for each in instances if each for finding in audit(each, cutoff))
