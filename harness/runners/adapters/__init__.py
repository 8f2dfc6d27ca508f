"""Programs that run a project's own test runner in the container and report each result.

Each is delivered as one file, runs in any Python from 3.5 on and imports nothing of Assay.
"""

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.harness.runners.base import Adapted
from assay.harness.runners.choosing import read_choice

PYTHON = re.compile(r"(?:\S*/)?python[\d.]*")


def source(name: str) -> str:
    return (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class PythonCommand:
    """A command that starts a Python program, in its parts."""

    python: str
    program: tuple[str, ...]
    options: tuple[str, ...]
    targets: tuple[str, ...]

    def adapt(self, log_format: str, *options: str, runner: str) -> Adapted:
        """Return the command with the adapter."""
        runs_tripwires = read_choice(runner, [(*self.program, *self.options)]).runs_tripwires
        words = shlex.join((*self.program, *self.options, *options, *self.targets))
        command = f"exec {shlex.quote(self.python)} {{adapter}} {{report}} {words}"
        named = runs_tripwires and bool(self.targets)  # else the runner finds them, as it finds all tests
        return Adapted(command + " {tripwires}" * named, "results_jsonl", self.targets, runs_tripwires, log_format)


def part(words: Sequence[str], program: Sequence[str], with_value: Collection[str] = ()) -> PythonCommand | None:
    """Part a command that starts a Python program, with or without ``python`` in front; None for any other program.

    Args:
        program: ends of the words that start it, such as ``-m`` and ``unittest``.
        with_value: options whose value is a word of its own.
    """
    has_python = bool(words) and PYTHON.fullmatch(words[0]) is not None
    rest = tuple(words[has_python:])
    start, arguments = rest[: len(program)], rest[len(program) :]
    if len(start) < len(program) or not all(map(str.endswith, start, program)):
        return None
    before = ("", *arguments)
    values = {place for place, option in enumerate(before[:-1]) if option in with_value}
    targets = [place for place, word in enumerate(arguments) if not word.startswith("-") and place not in values]
    options = tuple(word for place, word in enumerate(arguments) if place not in targets)
    return PythonCommand(words[0] if has_python else "python", start, options, tuple(arguments[n] for n in targets))
