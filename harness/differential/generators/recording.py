"""Recorded calls: what the suite hands to the changed functions, and to what calls them, with the gold patch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.harness.differential.generators.base import Context
from assay.harness.differential.probing import Program, run_lines
from assay.harness.differential.sides import Side

FILES = 12
"""Test files, the nearest first, whose calls are recorded."""
CALLS = 40
"""Different calls of one function that are kept."""
SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Recorded:
    """Calls as the program ``record.py`` tells them."""

    calls: Sequence[Mapping[str, Any]]
    note: str = ""


def record(context: Context) -> Recorded:
    """Run the nearest test files with gold once, and return the calls that can be made again."""
    if context.sides.instance.language != "python":
        return Recorded((), "for Python only")
    files = list(context.survey.test_files[:FILES])
    settings = {"files": files, "functions_cap": 10, "calls_cap": CALLS}
    lines = run_lines(context, Program("record", "record.py", settings, SECONDS), Side.GOLD, [0])[0]
    calls = [line for line in lines if "qualname" in line]
    return Recorded(calls, "" if calls else "no call of a changed function could be recorded")
