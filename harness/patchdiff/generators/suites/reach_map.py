"""The functions of the changed files that test files run with gold: seen once, and kept for later candidates.

A test file that runs none of the functions in which gold and the candidate differ shows no difference. Later candidates
are compared in the test files in which the first one was; they cost less where many of these are passed over.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.probing import Program, run_lines
from assay.harness.patchdiff.sides import Side

NAME, IDLE = "reach", "idle"
HIDDEN = ""  # stands for source files that nobody has seen, as in other processes
Ran = dict[str, list[Any]]
"""First lines of the functions that a test file runs, by source file; by ``HIDDEN``, the tests that may run more."""


class ReachMap:
    """The functions that each test file runs with gold, as far as that is known."""

    def __init__(self, context: Context) -> None:
        sides = context.sides
        self._differing = context.survey.differing_spans if sides.instance.language == "python" else None
        self._sources = {*(self._differing or ()), HIDDEN}
        self._work = sides.find_kept_work(NAME, context.settings.budget)
        kept, self._ran = self._work.read({}), context.survey.ran
        self._ran.update(kept)
        self._is_first = not kept and self._differing != {}
        self._tried = set[str]()
        self._idle = idle_tests(context)

    def scope(self, files: Sequence[str]) -> list[str]:
        """Return the test files in which the first candidate was compared; all of them for the first one."""
        return [file for file in files if file in self._ran and not self._is_first] or list(files)

    def promising(self, files: Sequence[str]) -> list[str]:
        """Return the test files that may show a difference; all if none may."""
        return list(filter(self.may_differ, files)) or list(files)

    def close(self, compared: Sequence[str]) -> None:
        """Keep the test files in which the first candidate that differs from gold was compared."""
        if self._is_first:
            self._work.write({file: self._ran.get(file, {}) for file in compared})

    def may_differ(self, file: str) -> bool:
        if not self._differing or not self._knows(file):
            return self._differing != {}
        ran = self._ran[file]
        places = [(path, *place) for path, each in self._differing.items() for place in each]
        enters = any(first <= line <= last for path, first, last in places for line in ran[path])
        return enters or not self._idle.issuperset(ran[HIDDEN])

    def learn(self, context: Context, files: Sequence[str]) -> None:
        """Run unknown test files with gold, once, and keep the functions that each runs; raises as ``Sides.run``."""
        unknown = [file for file in files if not self._knows(file) and file not in self._tried]
        if not self._differing or not unknown:
            return
        self._tried |= {*unknown}
        targets = [{"path": path, "name": path, "first": 1, "last": 10**9} for path in sorted(self._differing)]
        program = Program(NAME, {"files": unknown, "targets": targets}, context.seconds_left, tests=unknown)
        (lines,) = run_lines(context, program, Side.GOLD, [0])
        for file, ran in read_lines(lines).items():
            self._ran[file] = {**self._ran.get(file, {}), **{path: ran.get(path, []) for path in self._sources}}
        if not any(line.get("end") == "done" for line in lines):  # the time was over before the last files
            begun = {str(line.get("test")).partition("::")[0] for line in lines}
            self._tried -= {*unknown[1:]} - begun
        if not self._is_first:
            self._work.write({**self._work.read({}), **self._ran})

    def _knows(self, file: str) -> bool:
        return self._sources <= self._ran.get(file, {}).keys()


def idle_tests(context: Context) -> set[str]:
    """Return the tests that gold did not pass in a run of the project's own command: none shows a difference."""
    return {*context.sides.find_kept_work(IDLE).read(())}


def read_lines(lines: Sequence[Mapping[str, Any]]) -> dict[str, Ran]:
    """Return the functions that each test file runs, for files whose every test has run."""
    holds, shown, ran = Counter[str](), Counter[str](), dict[str, Ran]()
    for line in lines:
        for file, number in line.get("holds", {}).items():
            holds[file] = max(holds[file], number)
        if "ran" in line:
            file = str(line["test"]).partition("::")[0]
            shown[file] += 1
            for path, firsts in line["ran"].items():
                known = ran.setdefault(file, {})
                known[path] = sorted({*(firsts if path else [line["test"]]), *known.get(path, ())})
    return {file: ran.get(file, {}) for file, number in holds.items() if shown[file] == number}
