"""A small repository with a history of pull requests, made on the spot."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MIT = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy, subject to this:\n"
    "The above copyright notice and this permission notice shall be included in all copies.\n"
)
CALC = "def total(numbers):\n    return numbers[0] + sum(numbers[1:])\n"
FIXED = "def total(numbers):\n    return sum(numbers)\n"
TESTS = "import calc\n\n\ndef test_total():\n    assert calc.total([1, 2]) == 3\n"
EMPTY = "\n\ndef test_total_of_nothing():\n    assert calc.total([]) == 0\n"
START: Mapping[str, str] = {
    "LICENSE": MIT,
    "setup.py": "from setuptools import setup\nsetup(name='calc', version='1', py_modules=['calc'])\n",
    "calc.py": CALC,
    "tests/test_calc.py": TESTS,
}
SQUASH = """\
Total of an empty list raises IndexError (#3)

Calling total([]) ends in an IndexError, though the sum of nothing is zero.

* use sum in calc.py
* lint

Fixes #2.

Co-authored-by: Somebody Else <else@example.org>
"""
MEAN = "\n\ndef mean(numbers):\n    return total(numbers) / len(numbers)\n"
MEAN_TEST = "\n\ndef test_mean():\n    assert calc.mean([1, 3]) == 2\n"


@dataclass
class Repository:
    """A repository; every commit is a day after the one before."""

    folder: Path
    days: int = 0

    def git(self, *args: str, **env: str) -> str:
        """Run git in it as somebody."""
        who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _SOMEBODY.items()}
        days = {f"GIT_{role}_DATE": f"2024-03-{self.days:02d}T12:00:00+0000" for role in ("AUTHOR", "COMMITTER")}
        settings = {**os.environ, **who, **days, "GIT_CONFIG_GLOBAL": "/dev/null", **env}
        done = subprocess.run(["git", *args], cwd=self.folder, env=settings, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, message: str, files: Mapping[str, str], **env: str) -> str:
        """Write files and commit everything; return the commit."""
        self.days += 1
        for path, text in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message, **env)
        return self.git("rev-parse", "HEAD")

    def merge(self, message: str, branch: str) -> str:
        """Merge a branch; return the commit."""
        self.days += 1
        self.git("merge", "--quiet", "--no-ff", "--message", message, branch)
        return self.git("rev-parse", "HEAD")


_SOMEBODY = {"NAME": "Somebody", "EMAIL": "somebody@example.org"}


def begin(folder: Path, files: Mapping[str, str] = START) -> Repository:
    """Return a repository with one commit, of 1 March 2024."""
    folder.mkdir(parents=True)
    repository = Repository(folder)
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.commit("Begin", files)
    return repository


def calc(folder: Path) -> Repository:
    """Return a repository with a squashed pull request, a merged one, and changes that are no instances.

    Pull request 3, of 2 March, fixes a bug; pull request 5, of 6 March, adds a function.
    """
    repository = begin(folder)
    repository.commit(SQUASH, {"calc.py": FIXED, "tests/test_calc.py": TESTS + EMPTY})
    repository.commit("Describe the project", {"README.md": "calc\n"})
    repository.commit("Describe it better (#4)", {"README.md": "calc adds numbers\n"})
    repository.git("checkout", "--quiet", "-b", "mean")
    repository.commit(
        "Add the mean, closes #1", {"calc.py": FIXED + MEAN, "tests/test_calc.py": TESTS + EMPTY + MEAN_TEST}
    )
    repository.git("checkout", "--quiet", "main")
    repository.merge("Merge pull request #5 from somebody/mean\n\nA mean of numbers is missing: calc.mean", "mean")
    return repository
