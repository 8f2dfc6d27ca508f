"""sb-cli's report of the hosted evaluation, ``<folder>/<subset>__<split>__<run id>.json``, of a run of Assay's.

Its client reads counts; the ids are in lists of the same names, as in schema 2. What the hosted evaluation calls failed
is what the environment or the engine failed, and nothing is pending.
"""

import json
from pathlib import Path

from assay.harness.exports.swebench import OWN
from assay.harness.files import write_file
from assay.harness.runs.report import RunReport

SUBSETS = {"swe-bench-m": "multimodal", "swe-bench_lite": "lite", "swe-bench_verified": "verified"}
"""The alias of each subset."""


def write_report(report: RunReport, folder: Path, *, replaces: bool) -> Path:
    """Write the report as its client does: beside one that is there, unless it ``replaces`` that."""
    fields = report.model_dump(mode="json", include={*OWN}) | {"pending_instances": 0, "pending_ids": []}
    fields |= {"failed_instances": len(report.infra_failure_ids), "failed_ids": report.infra_failure_ids}
    path, number = folder / f"{report.run_id}.json", 0
    while path.exists() and not replaces:
        number += 1
        path = folder / f"{report.run_id}-{number}.json"
    write_file(path, json.dumps(fields, indent=4).encode())
    return path


def describe(report: RunReport) -> str:
    """Return the lines that its client prints."""
    total, sent, resolved = report.total_instances, report.submitted_instances, report.resolved_instances
    lines = [f"Resolved (total): {resolved / total:.2%} ({resolved} / {total})"]
    lines += [f"Resolved (submitted): {resolved / max(1, sent):.2%} ({resolved} / {sent})"]
    lines += [f"Submitted: {sent / total:.2%} ({sent})", f"Errors: {report.error_instances}", "Pending: 0"]
    lines += [f"Successful runs: {report.completed_instances}", f"Failed runs: {report.infra_failure_instances}"]
    return "\n".join(lines)
