"""Two versions of a small project in folders here, and the probes run on both as on two sides of a comparison."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.harness.patchdiff.reproduction.confirm import find_check
from assay.harness.patchdiff.reproduction.writing import Check, Draft, MakeDraft
from probed import Line, run_program, write

TEST_FILE = "tests/test_shop.py"
USUAL: Line = {
    "targets": [{"path": "shop/__init__.py", "name": "", "first": 1, "last": 10_000}],
    "files": [TEST_FILE],
    "seed": 1,
    "limit": 2.0,
    "budget": 3600,
}


@dataclass(frozen=True)
class Local:
    """The tree with gold, and the one with the other patch."""

    gold: Path
    other: Path

    def record(self) -> list[Line]:
        return [row for row in run_program(self.gold, "record", USUAL) if "qualname" in row]

    def differing(self, command: str, **job: Any) -> dict[str, Line]:
        """What gold reports of the probes on which the two differ, by key."""
        both = self._on_both(lambda root: run_program(root, command, {**USUAL, **job}))
        gold, other = ({row["key"]: row for row in rows if "key" in row} for rows in both)
        seen = ("kind", "type", "text")
        return {
            key: row
            for key, row in gold.items()
            if key in other and [row[name] for name in seen] != [other[key][name] for name in seen]
        }

    def reproduce(self, line: Line, make_draft: MakeDraft) -> str:
        """The test file that a probe comes down to; "" if there is none."""
        draft = make_draft(line, {TEST_FILE: (self.gold / TEST_FILE).read_text()})
        check = self.look(draft) if draft else None
        return draft.write(check) if draft and check else ""

    def look(self, draft: Draft) -> Check | None:
        def run(root: Path) -> bytes:
            log = root / "test_it.log"
            log.write_bytes(b"")
            (root / draft.folder / "test_it.py").write_text(draft.write(Check(log=str(log))))
            _pytest(root, f"{draft.folder}/test_it.py")
            return log.read_bytes()

        return find_check(*self._on_both(run))

    def by_hand(self, text: str, folder: str = "tests") -> list[int]:
        """The exit status of pytest on both sides."""

        def run(root: Path) -> int:
            (root / folder / "test_by_hand.py").write_text(text)
            return _pytest(root, f"{folder}/test_by_hand.py")

        return self._on_both(run)

    def _on_both(self, work: Callable[[Path], Any]) -> list[Any]:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(work, (self.gold, self.other)))


def _pytest(root: Path, *files: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=root, env=env, capture_output=True, check=False).returncode


@pytest.fixture
def make_local(tmp_path: Path) -> Callable[..., Local]:
    def make(gold: str, other: str, tests: str) -> Local:
        for name, code in (("gold", gold), ("other", other)):
            write(tmp_path / name, {"shop/__init__.py": code, TEST_FILE: tests})
        return Local(tmp_path / "gold", tmp_path / "other")

    return make
