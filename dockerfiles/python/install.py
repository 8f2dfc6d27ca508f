"""Installs the project in the current folder so that edits of its files take effect, with the build backend at hand.

Takes the backend and its path as pyproject.toml names them; without a backend, the folder's modules can be imported
from then on. Runs inside images, on every Python that they have.
"""

import importlib
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

DEVELOP = (
    "import os, runpy, setuptools, sys; sys.argv[0] = 'setup.py'; sys.path.insert(0, os.getcwd());"
    "runpy.run_path('setup.py', run_name='__main__') if os.path.exists('setup.py') else setuptools.setup()"
)
"""Runs a setup script under setuptools even if it asks for distutils, and does without one."""


def main(backend: str, backend_path: str) -> None:
    """Install; ends the process with the installer's exit code."""
    if not backend:
        Path(sysconfig.get_paths()["purelib"], "testbed.pth").write_text(f"{Path.cwd()}\n", encoding="utf-8")
        return
    sys.path[:0] = [str(Path(folder).resolve()) for folder in backend_path.split(os.pathsep) if folder]
    module = backend.partition(":")[0]
    if hasattr(importlib.import_module(module), "build_editable"):
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--editable"]
        command = [sys.executable, "-m", "pip", "install", *options, "."]
    elif module.startswith("setuptools"):
        # setuptools supports editable wheels since 64.0 (August 2022).
        command = [sys.executable, "-c", DEVELOP, "-q", "develop", "--no-deps"]
    else:
        sys.exit(f"the build backend {module} of that date has no editable installs; write `install` in the recipe")
    sys.exit(subprocess.call(command))


main(*sys.argv[1:])
