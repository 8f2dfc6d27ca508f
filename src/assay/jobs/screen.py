"""The screening of a run, as every front door does it: audit, comparisons with gold, and answers of people."""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date
from pathlib import Path

from assay.harness.domain import INFRASTRUCTURE, SUSPICIOUS, PatchDiffFinding
from assay.harness.errors import DataError, UserError
from assay.harness.files import make_model, parse_json, read_regular
from assay.harness.metrics.annotations import (
    ACCEPTABLE,
    WRONG,
    Annotation,
    DivergenceAnnotation,
    DivergenceVerdict,
    InstanceAnnotation,
    identify_patch,
)
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
ASKED = {"annotated": {Reproach.UNCLEAR, Reproach.UNFAIR}, "adjudicated": {Reproach.REFUTED}}
"""What people looked for, if the field of a screening counts any answer."""
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


def screen_run(
    store: RunStore,
    saved: SavedAudit | None = None,
    cutoff: date | None = None,
    people: Sequence[Annotation] | None = None,
) -> Screening:
    """Hold what is known against the instances of a run against its verdicts.

    Args:
        store: the run; verdicts that its environment or engine caused are left out.
        saved: an audit; without one, the rules that need no container look at the run's own instances.
        cutoff: end of a model's training.
        people: answers of people, whose verdicts on differences go before what PatchDiff suspects.

    Raises UserError if none of the answers is about the run.
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
    if _find_by_comparisons(store, resolved, found):
        looked_for |= {Reproach.REFUTED, Reproach.SUSPICIOUS}
    counts = {} if people is None else _ask_people(store, people, submitted, resolved, found)
    for field, kinds in ASKED.items():
        looked_for |= kinds if counts.get(field) else set()
    screened = screen(submitted, resolved, found, [kind for kind in Reproach if kind in looked_for])
    return screened.model_copy(update=counts)


def _find_by_comparisons(store: RunStore, resolved: Set[str], found: Mapping[Reproach, set[str]]) -> bool:
    """Add what comparisons with gold say; return whether there is any."""
    compared = [saved.comparison for name in sorted(resolved) if (saved := store.load_patchdiff(name))]
    for each in compared:
        if each.finding is PatchDiffFinding.REGRESSION:
            found[Reproach.REFUTED].add(each.instance_id)
        elif each.finding in SUSPICIOUS:
            found[Reproach.SUSPICIOUS].add(each.instance_id)
    return bool(compared)


def _ask_people(
    store: RunStore,
    people: Sequence[Annotation],
    submitted: Set[str],
    resolved: Set[str],
    found: Mapping[Reproach, set[str]],
) -> dict[str, int]:
    """Add what people say of the instances and patches of a run; return how many answers that are, by field."""
    graded = [each for each in people if isinstance(each, InstanceAnnotation) and each.instance_id in submitted]
    found[Reproach.UNCLEAR].update(each.instance_id for each in graded if each.clarity > ACCEPTABLE)
    found[Reproach.UNFAIR].update(each.instance_id for each in graded if each.tests > ACCEPTABLE or each.other)
    verdicts = _find_verdicts(store, people, resolved)
    for name, given in verdicts.items():
        is_wrong = not WRONG.isdisjoint(given.values())
        if is_wrong or _are_all_right(store, name, given):
            found[Reproach.SUSPICIOUS].discard(name)
            (found[Reproach.REFUTED].add if is_wrong else found[Reproach.REFUTED].discard)(name)
    if not graded and not verdicts:
        raise UserError(f"{store.root}: none of the answers is about this run; name a file of answers about it")
    return {"annotated": len(graded), "adjudicated": sum(map(len, verdicts.values()))}


Verdicts = dict[tuple[str, str], DivergenceVerdict | None]
"""What people say of each difference of a patch, by generator and probe."""


def _find_verdicts(store: RunStore, people: Iterable[Annotation], resolved: Set[str]) -> Mapping[str, Verdicts]:
    """Return the verdicts on the very patches of a run, by instance."""
    given = [each for each in people if isinstance(each, DivergenceAnnotation) and each.instance_id in resolved]
    files = {name: store.evaluations.file(name, "patch.diff") or b"" for name in {each.instance_id for each in given}}
    hashes = {name: identify_patch(content.decode(errors="replace")) for name, content in files.items()}
    found: dict[str, Verdicts] = {}
    for each in given:
        if each.patch == hashes[each.instance_id]:
            found.setdefault(each.instance_id, {})[each.generator, each.probe] = each.verdict
    return found


def _are_all_right(store: RunStore, name: str, given: Verdicts) -> bool:
    """Return whether people found nothing wrong with any difference that counts against a patch."""
    saved = store.load_patchdiff(name)
    differences = saved.comparison.divergences if saved else ()
    against = [each for each in differences if each.finding in {*SUSPICIOUS, PatchDiffFinding.REGRESSION}]
    return all(given.get((each.generator, each.probe)) is DivergenceVerdict.RIGHT for each in against)


def _find_by_rules(store: RunStore, names: Iterable[str], cutoff: date | None) -> Iterable[AuditFinding]:
    instances = (store.load_instance(name) for name in sorted(names))
    return (finding for each in instances if each for finding in audit(each, cutoff))
