"""Small projects, and what the programs tell of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from probed import Line, run_program, write


@dataclass(frozen=True)
class Ran:
    """What a program wrote."""

    rows: list[Line]

    @property
    def end(self) -> str:
        return str(self.rows[-1].get("end"))

    @property
    def seen(self) -> dict[str, Line]:
        return {row["key"]: row for row in self.rows if "key" in row}

    @property
    def calls(self) -> list[Line]:
        return [row for row in self.rows if "qualname" in row]

    def observations(self) -> dict[str, tuple[str, str, str]]:
        """What two sides are compared by."""
        return {key: (row["kind"], row["type"], row["text"]) for key, row in self.seen.items()}


@dataclass(frozen=True)
class Project:
    """One side of a comparison: a package `shop` of one file, and its tests."""

    root: Path

    def write(self, files: Mapping[str, str]) -> "Project":
        write(self.root, files)
        return self

    def targets(self, name: str, path: str = "shop/__init__.py") -> list[Line]:
        """The lines of one function, found by its def."""
        lines = (self.root / path).read_text().splitlines()
        first = next(n for n, line in enumerate(lines, 1) if line.lstrip().startswith(f"def {name}("))
        indent = len(lines[first - 1]) - len(lines[first - 1].lstrip())
        last = first
        while last < len(lines) and (not lines[last].strip() or lines[last].startswith(" " * (indent + 1))):
            last += 1
        return [{"path": path, "name": name, "first": first, "last": last}]

    def run(self, program: str, hash_seed: int = 0, seconds: float = 0.0, **job: Any) -> Ran:
        # the budget counts processor seconds of the whole machine where there is no container: be generous
        usual = {"files": ["tests/test_shop.py"], "targets": [], "seed": 1, "mutants": 6, "limit": 2.0, "budget": 3600}
        return Ran(run_program(self.root, program, {**usual, **job}, hash_seed, seconds))


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., Project]:
    def make(name: str, code: str, tests: str, **more: str) -> Project:
        files = {"shop/__init__.py": code, "tests/test_shop.py": tests, **more}
        return Project(tmp_path / name).write(files)

    return make
