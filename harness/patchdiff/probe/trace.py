"""Find out whether a target function ran: a trace of calls that looks at each code object once."""

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

WHOLE_FILE = ("", "<module>")  # a target that is no function: any function of its file counts


class Targets:
    """The functions under scrutiny on this side: ``path``, ``name``, ``first`` and ``last`` line of each."""

    def __init__(self, rows: "list[Any]") -> None:
        self._rows = rows
        # by identity: code objects of different files can be equal, and are costly to hash
        self._known: dict[int, tuple[CodeType, str]] = {}

    def find(self, code: "CodeType") -> str:
        """Return the name of a code object's target; "" if it has none."""
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = (code, self._look(code))
        return known[1]

    def _look(self, code: "CodeType") -> str:
        path = code.co_filename.replace("\\", "/")
        for row in self._rows:
            if path != row["path"] and not path.endswith("/" + row["path"]):
                continue
            if row["name"] in WHOLE_FILE or row["first"] <= code.co_firstlineno <= row["last"]:
                return row["name"] or WHOLE_FILE[1]
        return ""


def follow(on_call: "Callable[[FrameType, str, object], None] | None") -> None:
    """Call a function at every call from now on, in threads to come as well; None ends that."""
    threading.settrace(on_call)
    sys.settrace(on_call)


class TargetWatch(Targets):
    """Finds whether a target ran since `begin`. The trace stops at the first, so that the rest runs at full speed."""

    found = ""

    def begin(self) -> None:
        self.found = ""
        if self._rows:
            follow(self._see_call)

    def end(self) -> None:
        """Stop looking; what was found stays."""
        follow(None)

    def _see_call(self, frame: "FrameType", _event: str, _argument: object) -> None:
        known = self._known.get(id(frame.f_code))  # asked here first, since this runs at every call
        name = known[1] if known else self.find(frame.f_code)
        if name:
            self.found = name
            self.end()
