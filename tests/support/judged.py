"""Evidence of runs that were never made, and short names of statuses."""

from collections.abc import Mapping
from typing import Any

from assay.harness.domain import FAILING, Apply, ApplyStatus, Channel, Evidence, Status, TestReport

P, F, E, S, X, M = (*(Status.PASSED, Status.FAILED, Status.ERROR), *(Status.SKIPPED, Status.XFAIL, Status.MISSING))
LETTERS = {"P": P, "F": F, "E": E, "S": S, "X": X, "M": M}
"""For tables of cases in YAML."""
REPORT = {"channel", "suite_ran", "unprinted", "disagreements"}


def make_evidence(tests: Mapping[str, Status] | None = None, **changes: Any) -> Evidence:
    """Make the evidence of a run with these results; its exit status is 1 if one of them failed, unless given.

    ``changes`` are fields of the evidence or of its report.
    """
    found = dict(tests or {})
    report = {"channel": Channel.REPORT} | {name: changes.pop(name) for name in REPORT & changes.keys()}
    apply = Apply(status=changes.pop("apply", ApplyStatus.APPLIED))
    code = int(any(status in FAILING for status in found.values()))
    fields = {"instance_id": "acme__calc-1", "apply": apply, "exit_code": code}
    return Evidence.model_validate({**fields, "report": TestReport(tests=found, **report), **changes})
