"""The command line in this process: arguments and variables in; output, errors and exit status out."""

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from assay.cli.main import main

GET_COMMAND = cache(typer.main.get_command)
"""Builds the tree of commands once a process; typer does so at every call, which takes longer than most commands."""


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refuses(self, *words: str) -> None:
        """Assert that the command ended with exit 2, no output, and one line that has these words."""
        assert (self.code, self.out) == (2, ""), self.err
        assert len(self.err.strip().splitlines()) == 1, self.err
        assert all(word in self.err for word in words), self.err


def run(folder: Path, *args: str, **env: str) -> Done:
    """Run ``assay`` in the current folder, from which it may import."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
        for name, value in env.items():
            patched.setenv(name, value)
        patched.setattr(sys, "argv", ["assay", *args])
        patched.setattr(typer.main, "get_command", GET_COMMAND)
        patched.syspath_prepend(folder)
        code = _status_of(main)
        for name, module in sys.modules.copy().items():
            if str(vars(module).get("__file__")).startswith(f"{folder}/"):
                del sys.modules[name]
    return Done(code, out.getvalue(), err.getvalue())


def _status_of(command: Callable[[], None]) -> int:
    try:
        command()
    except SystemExit as done:
        return int(done.code or 0)
    return 0
