"""Two versions of a small project in folders here, and the programs run on both as on two sides of a comparison."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.harness.patchdiff.reproduction.amplified import drafts
from assay.harness.patchdiff.reproduction.minimise import (
    Pair,
    ReproductionTrial,
    TrialOutcome,
    read_seen,
    search,
    side_by_side,
)
from assay.harness.patchdiff.reproduction.reproduce import MakeDrafts
from probed import Line, run_program, write

TEST_FILE = "tests/test_shop.py"


@dataclass(frozen=True)
class Local:
    """The tree with gold, and the one with the other patch."""

    gold: Path
    other: Path

    def amplified(self, mutants: int = 20) -> dict[str, Line]:
        """What gold tells of the probes on which the two differ, by key."""
        usual = {"targets": _whole("shop/__init__.py"), "seed": 1, "limit": 2.0, "budget": 60, "mutants": mutants}
        return self._differing("amplify", {**usual, "files": [TEST_FILE]})

    def replayed(self, calls: Sequence[Line], mutants: int) -> dict[str, Line]:
        usual = {"targets": _whole("shop/__init__.py"), "seed": 1, "limit": 2.0, "budget": 60, "mutants": mutants}
        return self._differing("replay", {**usual, "calls": list(calls)})

    def played(self, tests: Sequence[str], functions: Sequence[Sequence[Any]]) -> dict[str, Line]:
        """What gold tells of the calls of functions in tests on which the two differ, by key."""
        usual = {"targets": _whole("shop/__init__.py"), "seed": 1, "limit": 2.0, "budget": 60, "mutants": 60}
        job = {"tests": list(tests), "functions": list(functions), "calls_cap": 40, "files": [TEST_FILE]}
        return self._differing("inplace", {**usual, **job})

    def record(self) -> list[Line]:
        job = {"targets": _whole("shop/__init__.py"), "budget": 60, "files": [TEST_FILE]}
        return [row for row in run_program(self.gold, "record", job) if "qualname" in row]

    def reduced(self, line: Line, make: MakeDrafts = drafts) -> tuple[ReproductionTrial | None, list[int]]:
        """The file that a probe comes down to, and how many files each round of the search tried."""
        sources = {TEST_FILE: (self.gold / TEST_FILE).read_text()}
        rounds: list[int] = []

        def tried(trials: Sequence[ReproductionTrial]) -> list[Pair]:
            rounds.append(len(trials))
            return self.try_all(trials)

        searches = {"it": search(make(line, sources), "test_assay_divergence_1.py", lambda: True)}
        return side_by_side(searches, tried).get("it"), rounds

    def try_all(self, trials: Sequence[ReproductionTrial]) -> list[Pair]:
        told = [
            {"name": str(number), "path": trial.path, "text": trial.text, "only": trial.row}
            for number, trial in enumerate(trials)
            if trial.text
        ]
        job = {"trials": told, "limit": 20, "budget": 60}
        with ThreadPoolExecutor(2) as pool:
            both = list(pool.map(lambda root: run_program(root, "standalone", job), (self.gold, self.other)))
        sides = [{int(row["trial"]): read_seen(row) for row in rows if "trial" in row} for rows in both]
        return [Pair(*(side.get(number, TrialOutcome()) for side in sides)) for number in range(len(trials))]

    def by_hand(self, trial: ReproductionTrial) -> list[int]:
        """The exit status of pytest on both sides, run as a person would."""
        statuses = []
        for root in (self.gold, self.other):
            (root / trial.path).write_text(trial.text)
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", trial.path]
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
            (root / trial.path).unlink()
            statuses.append(done.returncode)
        return statuses

    def _differing(self, program: str, job: Mapping[str, Any]) -> dict[str, Line]:
        gold, other = (
            {row["key"]: row for row in run_program(root, program, job) if "key" in row}
            for root in (self.gold, self.other)
        )
        told = ("kind", "type", "text")
        return {
            key: row
            for key, row in gold.items()
            if key in other and [row[name] for name in told] != [other[key][name] for name in told]
        }


def _whole(path: str) -> list[Line]:
    return [{"path": path, "name": "", "first": 1, "last": 10_000}]


@pytest.fixture
def make_local(tmp_path: Path) -> Callable[..., Local]:
    def make(gold: str, other: str, tests: str) -> Local:
        for name, code in (("gold", gold), ("other", other)):
            write(tmp_path / name, {"shop/__init__.py": code, TEST_FILE: tests})
        return Local(tmp_path / "gold", tmp_path / "other")

    return make
