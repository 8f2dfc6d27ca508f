"""``assay shell`` as a person uses it: what it refuses, and a shell in real containers that leaves nothing behind."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.harness.engines.docker import DockerEngine
from toy import GOLD

PYTHON = "pallets__flask-2.3.2"
GO, RUST = pytest.mark.toolchain("go", ""), pytest.mark.toolchain("rust", "")
INSTANCES = [
    pytest.param((PYTHON, "src/flask/cli.py", "#", "tests/test_cli.py", " passed"), id="python"),
    pytest.param(
        ("tidwall__gjson-1.14.4", "gjson.go", "//", "", "--- PASS: TestIssue301 "),
        marks=[GO, pytest.mark.exhaustive],
        id="go",
    ),
    pytest.param(
        ("tokio-rs__slab-0.4.11", "src/lib.rs", "//", "", "test result: ok"),
        marks=[RUST, pytest.mark.exhaustive],
        id="rust",
    ),
]
CONTAINERS = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("shell")]
DONE = "done\r\nassay@testbed:/testbed$ "
"""A command has ended, and the shell reads again: it would lose a Ctrl-D that came earlier."""
HIDDEN = "test_session_refresh_vary"
"""Name of a test that the test patch of the Python instance changes, and that its base commit does not have."""


def run_in_containers(test: Callable[..., None]) -> Callable[..., None]:
    for mark in CONTAINERS:
        test = mark(test)
    return test


class Typed:
    """``assay shell`` on a terminal of its own."""

    def __init__(self, *args: str) -> None:
        ours, theirs = pty.openpty()
        self._terminal, self.printed = ours, b""
        termios.tcsetwinsize(ours, (33, 101))
        command = [sys.executable, "-m", "assay", "shell", "releases", *args]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)

    def type(self, keys: str, until: str = "", seconds: float = 300) -> str:
        """Type, and wait for a text or the end; return everything that was printed since."""
        os.write(self._terminal, keys.encode())
        begun, latest = len(self.printed), time.monotonic() + seconds
        while not (until and until.encode() in self.printed[begun:]) and time.monotonic() < latest:
            if select.select([self._terminal], [], [], 1)[0]:
                try:
                    self.printed += os.read(self._terminal, 65536)
                except OSError:  # the other side is closed
                    break
        return self.printed[begun:].decode(errors="replace")


def left_behind(engine: DockerEngine, instance_id: str) -> list[str]:
    labels = ["assay.run=shell", f"assay.instance={instance_id}"]
    return [each["Id"] for each in engine._client.containers(all=True, filters={"label": labels})]


def run(*args: str, **more: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "assay", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]


def test_what_cannot_be_entered_is_one_line(assay: Callable, rows: Path, predictions: Callable) -> None:
    assay("shell", "rows.jsonl", "-i", "acme__calc-1").refuses("the engine fake has no containers", "--engine")
    assay("shell", "rows.jsonl").refuses("has 3 instances", "-i ID")
    assay("shell", "rows.jsonl", "-i", "acme__calc-9").refuses("acme__calc-9")
    Path("fix.diff").write_text(GOLD)
    assay("shell", "rows.jsonl", "-i", "acme__calc-1", "--patch", "fix.diff", "--gold").refuses("not both")
    assay("shell", "rows.jsonl", "-i", "acme__calc-1", "--patch", "none.diff").refuses("none.diff", "cannot be read")
    predictions({"acme__calc-1": GOLD})
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine").code == 0
    assay("shell", "mine", "-i", "acme__calc-2").refuses("runs/mine has no prediction for acme__calc-2", "acme__calc-1")
    assay("shell", "mine").refuses("the engine fake has no containers")
    assay("shell", "nothing", "-i", "acme__calc-1").refuses("nothing")


@run_in_containers
@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize("case", INSTANCES)
def test_edit_test_and_leave(docker_engine: DockerEngine, case: tuple[str, ...]) -> None:
    name, file, comment, target, expected = case
    shell = Typed("-i", name, "--gold", "--tests", "--save", "edited.jsonl")
    assert "in /testbed as assay" in shell.type("", "$ ")
    assert expected in shell.type(f"./run-tests {target}; echo do\\ne\n", DONE)
    shell.type(f"echo '{comment} edited' >> {file}; echo do\\ne\n", DONE)
    assert f"+{comment} edited" in shell.type("./diff; echo do\\ne\n", DONE)
    assert "33 101" in shell.type("stty size; echo do\\ne\n", DONE)
    shell.type("\x04")
    assert shell.process.wait(60) == 0
    assert not left_behind(docker_engine, name)
    row = json.loads(Path("edited.jsonl").read_text())
    assert (row["instance_id"], f"+{comment} edited" in row["model_patch"]) == (name, True)
    assert "tests/" not in "".join(line for line in row["model_patch"].splitlines() if line.startswith("diff "))
    judged = run("evaluate", "releases", "-i", name, "-p", "edited.jsonl", "--json")
    assert json.loads(judged.stdout)["resolved_ids"] == [name], judged.stderr


@run_in_containers
def test_a_command_has_its_status_its_input_and_both_outputs(docker_engine: DockerEngine, in_folder: Path) -> None:
    command = ("--", "bash", "-c", "cat; echo problem >&2; exit 7")
    done = run("shell", "releases", "-i", PYTHON, *command, input="typed" * 100_000)
    assert (done.returncode, done.stdout) == (7, "typed" * 100_000)
    assert done.stderr.endswith("problem\n")
    assert not left_behind(docker_engine, PYTHON)


@run_in_containers
def test_hidden_tests_and_labels_enter_only_if_asked_for(docker_engine: DockerEngine, in_folder: Path) -> None:
    look = f"env; cat /proc/*/cmdline 2> /dev/null; grep -rlF {HIDDEN} /assay /testbed /tmp 2> /dev/null; true"
    search = ("shell", "releases", "-i", PYTHON, "--gold")
    without, asked = run(*search, "--", "bash", "-c", look), run(*search, "--tests", "--", "bash", "-c", look)
    assert "/testbed/tests/" not in without.stdout
    assert "/assay/" not in without.stdout
    assert "/assay/tests.patch" in asked.stdout
    offline = run(*search, "--", "bash", "-c", "ls /sys/class/net; id -un")
    assert offline.stdout.split() == ["lo", "assay"]


@run_in_containers
def test_the_gate_is_that_of_an_evaluation(docker_engine: DockerEngine, in_folder: Path) -> None:
    for text, problem in (
        ("--- a/x\n+++ b/../../x\n@@ -1 +1 @@\n-a\n+b\n", "the patch is refused"),
        ("--- a/src/flask/cli.py\n+++ b/src/flask/cli.py\n@@ -1 +1 @@\n-never\n+there\n", "the patch does not apply"),
    ):
        Path("bad.diff").write_text(f"diff --git {text.splitlines()[0][4:]} {text.splitlines()[1][4:]}\n{text}")
        done = run("shell", "releases", "-i", PYTHON, "--patch", "bad.diff", "--", "true")
        assert (done.returncode, problem in done.stderr) == (2, True), done.stderr
    assert not left_behind(docker_engine, PYTHON)


@run_in_containers
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_leaves_nothing_behind(docker_engine: DockerEngine, in_folder: Path, number: signal.Signals) -> None:
    shell = Typed("-i", PYTHON)
    assert "in /testbed as assay" in shell.type("", "$ ")
    assert len(left_behind(docker_engine, PYTHON)) == 1
    shell.process.send_signal(number)
    assert shell.process.wait(60) == (-9 if number == signal.SIGKILL else 130)
    if number == signal.SIGKILL:
        assert run("reap").returncode == 0
    assert not left_behind(docker_engine, PYTHON)


@pytest.fixture(autouse=True)
def _short_names() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TERM", "dumb")
        yield
