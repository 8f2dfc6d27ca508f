"""Signs in a trajectory that an agent looked the answer up. They are reported and decide nothing.

Assay's own containers hold no answer, so most of these attempts fail; on external images and agents they may succeed.
"""

import json
import re
from collections.abc import Iterator

from assay.agents.trajectory import RecordedToolCall, Step, Trajectory
from assay.harness.templates import read_table

SIGNS = {name: re.compile("".join(pattern)) for name, pattern in read_table(__file__).items()}
LONGEST = 120  # characters of a quoted match
WIDEST, OVERLAP, MOST = 500, 100, 20_000
"""Characters of a line, of what pieces of a longer one share, and of an action: patterns take the square of a line."""


def find_suspect_access(trajectory: Trajectory, package: str = "") -> tuple[str, ...]:
    """Return the signs in order, each as ``step NUMBER: SIGN: MATCHED TEXT``.

    ``package`` is the name under which the project is installed; an installed copy could be the fixed release.
    """
    signs = dict(SIGNS)
    if package:
        signs["installed copy of the project"] = re.compile(rf"(?:site|dist)-packages/{re.escape(package)}\b")
    return tuple(
        f"step {step.step_id}: {name}: {found}"
        for step in trajectory.steps
        for action in _actions(step)
        for name, found in _signs(action, signs)
    )


def _signs(action: str, signs: dict[str, re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    for name, pattern in signs.items():
        match = pattern.search(action)
        if match:
            yield name, " ".join(match.group().split())[:LONGEST]


def _actions(step: Step) -> Iterator[str]:
    if step.source != "agent" or step.is_copied_context:
        return
    for call in step.tool_calls or ():
        yield fold("\n".join(_strings(call.arguments)))


def fold(text: str) -> str:
    """Return the begin of a text, its long lines cut into pieces that overlap."""
    pieces = (
        line[at : at + WIDEST]
        for line in text[:MOST].split("\n")
        for at in range(0, max(len(line) - OVERLAP, 1), WIDEST - OVERLAP)
    )
    return "\n".join(pieces)


def describe_action(call: RecordedToolCall) -> str:
    """Return the name of an action and the texts of its arguments, on lines of their own."""
    return "\n".join([call.function_name, *_strings(call.arguments)])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _strings(each)
    elif value is not None:
        yield json.dumps(value)
