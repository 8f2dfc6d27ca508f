"""Which functions of the changed files the test files run with gold: seen once, and kept for later candidates.

A test file that runs none of the functions in which gold and the candidate differ shows no difference.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.harness.errors import AssayError, EngineUnavailable, RunStopped
from assay.harness.files import replace_file
from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.probing import Program, run_lines
from assay.harness.patchdiff.sides import Side

NAME = "reach"
HIDDEN = ""
"""Stands for the source files of what nobody has seen, as in other processes."""
Ran = dict[str, list[int]]
"""First lines of the functions that a test file runs, by source file; an empty list if it runs none."""


class Reach:
    """The functions that each test file runs with gold, as far as that is known."""

    def __init__(self, context: Context) -> None:
        self._apart = context.survey.apart if context.sides.instance.language == "python" else None
        self._sources = {*(self._apart or ()), HIDDEN}
        sides = context.sides
        self._file = sides.kept_file(Side.GOLD, sides.task.plan, NAME, ".json") if self._apart else None
        self._ran = _read(self._file)

    def may_differ(self, file: str) -> bool:
        """Return whether a test file may run something in which gold and the candidate differ."""
        if not self._apart or not self._knows(file):
            return self._apart != {}
        ran = self._ran[file]
        places = [(path, *place) for path, each in self._apart.items() for place in each]
        enters = any(first <= line <= last for path, first, last in places for line in ran[path])
        return enters or bool(ran[HIDDEN])

    def learn(self, context: Context, files: Sequence[str]) -> None:
        """Run the test files that are not known with gold, and keep what each runs; a failure teaches nothing."""
        unknown = [file for file in files if not self._knows(file)]
        if not self._apart or not unknown:
            return
        targets = [{"path": path, "name": path, "first": 1, "last": 10**9} for path in sorted(self._apart)]
        settings = {"files": unknown, "targets": targets}
        program = Program(NAME, settings, context.seconds_left, tests=unknown, keep=False)
        try:
            (lines,) = run_lines(context, program, Side.GOLD, [0])
        except (EngineUnavailable, RunStopped):
            raise
        except AssayError:
            return
        self._ran = {**_read(self._file), **self._ran}
        for file, ran in read_lines(lines).items():
            self._ran[file] = {**self._ran.get(file, {}), **{path: ran.get(path, []) for path in self._sources}}
        if self._file:
            replace_file(self._file, json.dumps(self._ran).encode(), syncs=False)

    def _knows(self, file: str) -> bool:
        return self._sources <= self._ran.get(file, {}).keys()


def read_lines(lines: Sequence[Mapping[str, Any]]) -> dict[str, Ran]:
    """Return what each test file runs, of those whose every test has run."""
    holds, shown, ran = Counter[str](), Counter[str](), dict[str, Ran]()
    for line in lines:
        holds |= Counter(line.get("holds", {}))
        if "ran" in line:
            file = str(line["test"]).partition("::")[0]
            shown[file] += 1
            for path, firsts in line["ran"].items():
                known = ran.setdefault(file, {}).setdefault(path, [])
                known.extend(first for first in firsts if first not in known)
    return {file: ran.get(file, {}) for file, number in holds.items() if shown[file] == number}


def _read(file: Path | None) -> dict[str, Ran]:
    return json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
