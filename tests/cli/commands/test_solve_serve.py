"""``assay solve --serve``: a model server for the run, as a person sees it."""

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import small_server

pytestmark = pytest.mark.slow

COMMAND = f"{sys.executable} {small_server.__file__} {{port}} asked"
SOLVE = ("solve", "rows.jsonl", "--agent", "bash_loop", "--model", "m", "--set", "form=block", "--run-id", "r")


def find_server() -> list[int]:
    """Return the servers that were started in this folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if small_server.__file__ in words and (path / "cwd").readlink() == Path.cwd():
                found.append(int(path.name))
    return found


def test_the_server_is_there_for_the_run_and_no_longer(assay: Callable, rows: Path) -> None:
    Path("asked").mkdir()
    done = assay(*SOLVE, "--serve", COMMAND, "--serve-wait", "20", "--evaluate")
    assert done.code == 0, done.err
    assert done.err.startswith("starting the model server; its log is runs/r/server.log\n")
    assert "3 of 3 with a patch" in done.out
    assert re.fullmatch(r"small server on \d+\n", Path("runs/r/server.log").read_text().partition("127.0.0.1")[0])
    assert find_server() == []
    asked = len([*Path("asked").iterdir()])
    again = assay(*SOLVE, "--serve", COMMAND)
    assert (again.code, again.err.count("known already")) == (0, 3)
    assert "starting the model server" not in again.err
    assert len([*Path("asked").iterdir()]) == asked


def test_a_server_that_dies_once_costs_no_sample(assay: Callable, rows: Path) -> None:
    Path("asked").mkdir()

    def kill() -> None:
        while len([*Path("asked").iterdir()]) < 2:  # the first is the one short question
            time.sleep(0.05)
        os.kill(find_server()[0], signal.SIGKILL)

    killing = threading.Thread(target=kill, daemon=True)
    killing.start()
    done = assay(*SOLVE, "--serve", COMMAND, "-j", "1")
    killing.join()
    assert done.code == 0, done.err
    assert "it is started again, as at most 3 times more" in done.err
    assert done.out.count("submitted") == 3
    assert find_server() == []


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            ("--serve", "false {port}"),
            "the model server does not run: it ended with status 1; its log is runs/r/server",
        ),
        (("--serve", "vllm serve m"), "the command 'vllm serve m' of the model server needs {port}"),
        (("--serve", COMMAND, "--base-url", "http://host/v1"), "--serve starts a server, and --base-url names one"),
    ],
)
def test_what_does_not_come_up_gets_one_line(assay: Callable, rows: Path, more: tuple[str, ...], problem: str) -> None:
    done = assay(*SOLVE, *more)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith(f"assay: {problem}")
    assert not Path("runs/r/instances").exists()
