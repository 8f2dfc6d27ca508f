"""Assay as a stranger has it: the wheel, built once, in a virtual environment with nothing else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from uv import find_uv_bin

from assay.harness.files import default_cache

ROOT = Path(__file__).parents[2]
LENT = {"PYTHONPATH", "VIRTUAL_ENV", "OPENAI_API_KEY", "OPENAI_BASE_URL"}
"""Variables by which the caller would lend the wheel what it lacks."""


def run(*command: object, cwd: Path) -> str:
    """Run a command outside the checkout and return what it printed."""
    env = {key: value for key, value in os.environ.items() if key not in LENT}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd=cwd, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the source archive and the wheel; ``make dist-check`` names the ones that it has built in DIST."""
    folder = tmp_path_factory.mktemp("dist")
    if "DIST" in os.environ:
        shutil.copytree(os.environ["DIST"], folder, dirs_exist_ok=True)
        return folder
    run(find_uv_bin(), "build", "--out-dir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="session")
def python(dist: Path) -> Path:
    """Python of a virtual environment with the wheel and its dependencies."""
    venv = dist / "venv"
    run(find_uv_bin(), "venv", "--python", sys.executable, venv, cwd=dist)
    (wheel,) = dist.glob("*.whl")
    run(find_uv_bin(), "pip", "install", "--python", venv / "bin/python", wheel, cwd=dist)
    return venv / "bin/python"


@dataclass(frozen=True)
class Shown:
    """What a person sees of a command."""

    out: str
    err: str
    code: int


@dataclass(frozen=True)
class User:
    """A person with an empty home and an empty folder, who types commands."""

    folder: Path
    env: Mapping[str, str]

    def types(self, line: str, *, code: int = 0) -> Shown:
        """Run a line in a shell; it must end with that exit code."""
        done = subprocess.run(
            ["sh", "-c", line], capture_output=True, text=True, cwd=self.folder, env=dict(self.env), check=False
        )
        assert done.returncode == code, f"$ {line}\n{done.stdout}\n{done.stderr}"
        return Shown(done.stdout, done.stderr, done.returncode)

    def writes(self, name: str, text: str) -> None:
        """Write a file."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)


@pytest.fixture
def user(python: Path, tmp_path: Path) -> User:
    """A person who has installed the wheel, and done nothing else yet.

    Only what the audit has read of layers is there: reading a toolchain takes a while, and shows nothing on the screen.
    """
    home, folder, audits = tmp_path / "home", tmp_path / "work", default_cache() / "audits"
    folder.mkdir()
    audits.mkdir(parents=True, exist_ok=True)
    (home / ".cache/assay").mkdir(parents=True)
    (home / ".cache/assay/audits").symlink_to(audits)
    kept = {key: value for key, value in os.environ.items() if key not in LENT and not key.startswith("ASSAY_")}
    return User(folder, {**kept, "HOME": str(home), "PATH": f"{python.parent}:{os.environ['PATH']}"})
