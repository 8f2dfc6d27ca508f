"""``assay dataset audit``: findings, as a person sees them."""

from collections import Counter
from collections.abc import Iterator

from assay.cli import console
from assay.harness.domain import DatasetRef
from assay.harness.names import count
from assay.instances.audit import AuditKind, Severity
from assay.jobs.audit import Audit

SHOWN = 3
"""Lines of evidence that are printed for a finding, unless single instances or kinds are asked for."""
WIDTH = 200  # characters of a line of evidence that are printed


def print_findings(audit: Audit, ref: DatasetRef, *, all_of_it: bool) -> None:
    """Print how often each finding occurs, then the faults and doubts one by one; the notes too if all is asked."""
    if audit.findings:
        console.print_rows(("finding", "severity", "instances", "share"), _counts(audit))
    for each in audit.findings:
        if all_of_it or each.severity is not Severity.NOTE:
            print(f"{each.instance_id}: {each.kind} ({each.severity}): {each.summary}")
            for line in each.evidence[: None if all_of_it else SHOWN]:
                print(f"    {_one_line(line)}")
    for trial in audit.trials:
        counts = Counter(str(each.outcome) for each in trial.judged)
        outcomes = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "none could be made"
        print(f"{trial.instance_id}: mutants of the gold patch: {outcomes}")
    print(_sum_line(audit, ref))


def _counts(audit: Audit) -> Iterator[tuple[str, ...]]:
    found = {(each.kind, each.severity, each.instance_id) for each in audit.findings}
    counts = Counter((kind, severity) for kind, severity, _ in found)
    for severity in Severity:
        for kind in AuditKind:
            if counts[kind, severity]:
                count = counts[kind, severity]
                yield kind, severity, str(count), f"{count / len(audit.instances):.1%}"


def _sum_line(audit: Audit, ref: DatasetRef) -> str:
    by = {severity: {each.instance_id for each in audit.findings if each.severity is severity} for severity in Severity}
    faults, doubts, total = by[Severity.FAULT], by[Severity.DOUBT] - by[Severity.FAULT], len(audit.instances)
    neither = total - len(faults) - len(doubts)
    return (
        f"{count(total, 'instance')} of {ref.name}: {len(faults)} at fault, {len(doubts)} in doubt, {neither} neither"
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."
