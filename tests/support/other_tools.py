"""Other tools, each in an environment of its own that uv makes and keeps."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from shutil import which

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]


def run_with(packages: Sequence[str], *command: str, python: tuple[int, int] = (3, 11), assay: bool = False) -> str:
    """Run a command where these packages are installed and return what it prints; skip if no such Python is here.

    Args:
        packages: requirements.
        command: the program and its arguments.
        python: the least version.
        assay: install this Assay, too.
    """
    interpreter = find_python(python)
    if interpreter is None:
        pytest.skip(f"no Python {python[0]}.{python[1]} or later on this machine")
    arguments = [part for package in packages for part in ("--with", package)]
    arguments += ["--with-editable", str(ROOT)] * assay
    done = subprocess.run(
        [find_uv_bin(), "run", "--quiet", "--no-project", "--python", interpreter, *arguments, *command],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "UV_CACHE_DIR" or value},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@cache
def find_python(least: tuple[int, int]) -> str | None:
    """Return an interpreter that is new enough, and not only a shim of one."""
    for path in _interpreters(least):
        program = f"import sys; sys.exit(sys.version_info < {least!r})"
        if subprocess.run([path, "-c", program], capture_output=True, check=False).returncode == 0:
            return path
    return None


def _interpreters(least: tuple[int, int]) -> Iterator[str]:
    yield sys.executable
    for minor in range(least[1], 20):
        if found := which(f"python3.{minor}"):
            yield found
        yield from map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
