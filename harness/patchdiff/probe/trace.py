"""Find out whether a target function ran: a trace of calls that looks at each code object once."""

import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from types import CodeType, FrameType

WHOLE_FILE = ("", "<module>")  # a target that is no function: any function of its file counts


class TargetLines(NamedTuple):
    """A function under scrutiny on this side: its file as the tree names it, its lines from first to last."""

    path: str
    name: str
    first: int
    last: int


def read_targets(rows: "list[Any]") -> "list[TargetLines]":
    """Return the job's targets."""
    return [TargetLines(row["path"], row["name"], int(row["first"]), int(row["last"])) for row in rows]


def target_of(code: "CodeType", targets: "list[TargetLines]") -> str:
    """Return the name of the target that a code object belongs to; "" if it belongs to none."""
    name = code.co_filename.replace("\\", "/")
    for target in targets:
        if name != target.path and not name.endswith("/" + target.path):
            continue
        if target.name in WHOLE_FILE or target.first <= code.co_firstlineno <= target.last:
            return target.name or WHOLE_FILE[1]
    return ""


class Reach:
    """Tells whether a target ran since `begin`. The trace stops at the first, so that the rest runs at full speed."""

    def __init__(self, targets: "list[TargetLines]") -> None:
        self.found = ""
        self._targets = targets
        # by identity: code objects of different files can be equal, and are costly to hash
        self._known: dict[int, tuple[CodeType, str]] = {}

    def begin(self) -> None:
        """Forget what was found and start to look."""
        self.found = ""
        if self._targets:
            threading.settrace(self._on_call)
            sys.settrace(self._on_call)

    def end(self) -> None:
        """Stop looking; what was found stays."""
        sys.settrace(None)
        threading.settrace(None)

    def _on_call(self, frame: "FrameType", _event: str, _argument: object) -> None:
        code = frame.f_code
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = (code, target_of(code, self._targets))
        if known[1]:
            self.found = known[1]
            self.end()
