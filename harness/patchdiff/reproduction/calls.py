"""A recorded call as a test file: shows a divergence of ``replay``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.harness.patchdiff.reproduction.writing import Check, frame, render


@dataclass(frozen=True, slots=True)
class CallDraft:
    """A test file that makes one call."""

    call: Mapping[str, Any]
    """Module, qualname, part, arguments (a literal) or args (a pickle), mutations (path, old, new)."""
    folder: str = "."

    def write(self, check: Check) -> str:
        """Return the file; "" for changed arguments that are no plain data."""
        is_original = self.call.get("args") and not self.call.get("mutations")
        if not (self.call.get("arguments") or is_original):
            return ""
        body = render("call.py", call=self.call)
        return frame(body, check, "Put it at the top of the repository", f"The call is of {self.call['qualname']}:")


def make_call_draft(line: Mapping[str, Any], _sources: Mapping[str, str]) -> CallDraft | None:
    call = line.get("literal") or {}
    return CallDraft(call) if call.get("module") else None
