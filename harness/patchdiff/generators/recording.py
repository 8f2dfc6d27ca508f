"""Recorded calls: what the suite hands to the changed functions, and to what calls them, with the gold patch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.probing import Program, absence, run_lines
from assay.harness.patchdiff.sides import Side

FILES = 12
"""Test files, the nearest first, whose calls are recorded."""
CALLS = 40
"""Different calls of one function that are kept."""
SECONDS = 20.0
PART = 0.5
"""Part of the turn that recording may take."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The output of the probe ``record``."""

    calls: Sequence[Mapping[str, Any]]
    strings: Sequence[str]
    """Strings of the test files that reach a target."""
    note: str
    """The reason for which there are no calls, if there are none."""


def record(context: Context) -> Recorded:
    """Run the nearest test files with gold once, and return the calls that can be made again."""
    files = list(context.survey.test_files[:FILES])
    own = list(context.sides.instance.fail_to_pass)
    settings = {"files": files, "functions_cap": 10, "calls_cap": CALLS, "own": own}
    program = Program("record", settings, context.paced(SECONDS), tests=files)
    (lines,) = run_lines(context.part(PART), program, Side.GOLD, [0])
    calls = [line for line in lines if "qualname" in line]
    strings = [text for line in lines for text in line.get("strings", ())]
    return Recorded(calls, strings, absence("no call of a changed function could be recorded", lines))
