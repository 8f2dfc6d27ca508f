"""A small project of the person who walks: its repository in a folder of mirrors, and two issues as rows."""

import json
import subprocess
from pathlib import Path
from typing import Any

NOW = "2024-05-01T12:00:00Z"
FILES = {
    "pyproject.toml": (
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n'
        '[project]\nname = "calc"\nversion = "1.0"\n\n[tool.setuptools]\npackages = ["calc"]\n'
    ),
    "calc/__init__.py": "def add(a, b):\n    return a - b\n\n\ndef halve(a):\n    return a // 2\n",
    "tests/test_calc.py": "from calc import halve\n\n\ndef test_even():\n    assert halve(4) == 2\n",
}
ADD = ("calc/__init__.py", "return a - b", "return a + b")
HALVE = ("calc/__init__.py", "return a // 2", "return a / 2")
TEST_ADD = (
    "tests/test_calc.py",
    "import halve\n",
    "import add, halve\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
)
TEST_HALVE = ("tests/test_calc.py", "== 2\n", "== 2\n\n\ndef test_odd():\n    assert halve(5) == 2.5\n")
Edit = tuple[str, str, str]


class Project:
    """The repository ``acme/calc`` in a folder of mirrors."""

    def __init__(self, mirrors: Path) -> None:
        self.root = mirrors / "acme" / "calc"
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self._git("init", "-q")
        self._git("add", "-A")
        self._git("-c", "user.name=Ann", "-c", "user.email=ann@acme.example", "commit", "-qm", "Begin")
        self.commit = self._git("rev-parse", "HEAD").strip()

    def patch(self, edit: Edit) -> str:
        """Return an edit of one file as a diff."""
        name, old, new = edit
        path = self.root / name
        path.write_text(FILES[name].replace(old, new))
        try:
            return self._git("diff")
        finally:
            path.write_text(FILES[name])

    def rows(self) -> list[dict[str, Any]]:
        """Return both issues, without labels."""
        shared = {"repo": "acme/calc", "base_commit": self.commit, "created_at": NOW, "version": "1.0"}
        issues = ("`add` subtracts.", ADD, TEST_ADD), ("`halve` rounds: half of 5 is 2.5.", HALVE, TEST_HALVE)
        return [
            {
                **shared,
                "instance_id": f"acme__calc-{number}",
                "problem_statement": statement,
                "patch": self.patch(gold),
                "test_patch": self.patch(test),
            }
            for number, (statement, gold, test) in enumerate(issues, start=1)
        ]

    def labelled_rows(self) -> list[dict[str, Any]]:
        """Return both issues with their labels."""
        names = ("test_add", "test_odd")
        return [
            {**row, "FAIL_TO_PASS": [f"tests/test_calc.py::{name}"], "PASS_TO_PASS": ["tests/test_calc.py::test_even"]}
            for row, name in zip(self.rows(), names, strict=True)
        ]

    def _git(self, *arguments: str) -> str:
        when = {"GIT_AUTHOR_DATE": NOW, "GIT_COMMITTER_DATE": NOW}
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], capture_output=True, text=True, env=when, check=True
        )
        return done.stdout


def lines(rows: list[dict[str, Any]]) -> str:
    """Return rows as the text of a .jsonl file."""
    return "".join(json.dumps(row) + "\n" for row in rows)
