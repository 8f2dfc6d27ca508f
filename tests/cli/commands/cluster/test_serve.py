"""``assay cluster serve``, and the model server in the texts of a cluster."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

import small_server

pytestmark = pytest.mark.slow

COMMAND = f"{sys.executable} {small_server.__file__} {{port}}"
SOLVE = ("solve", "rows.jsonl", "--agent", "bash_loop", "--model", "acme/m", "--run-id", "r")


def test_the_address_is_in_a_file_for_as_long_as_the_server_runs(in_folder: Path) -> None:
    words = [sys.executable, "-m", "assay", "cluster", "serve", "--address-file", "address", "--host", "127.0.0.1"]
    with subprocess.Popen([*words, "--", COMMAND], stderr=subprocess.DEVNULL) as serving:
        while not Path("address").exists():
            assert serving.poll() is None
            time.sleep(0.05)
        address = Path("address").read_text()
        with urllib.request.urlopen(f"{address}/models") as reply:
            assert json.load(reply)["data"] == [{"id": "m"}]
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(20) == 143
    assert not Path("address").exists()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{address}/models")
    assert Path("address.log").read_text().startswith("small server on")


def test_a_server_that_does_not_come_up_is_the_infrastructures_failure(assay_process: Callable) -> None:
    done = assay_process("cluster", "serve", "--address-file", "address", "--", "echo no GPU; exit 1 # {port}")
    assert done.code == 3
    problem = "the model server does not run: it ended with status 1 (no GPU); its log is address.log"
    assert done.err.splitlines()[-1] == problem
    assert os.listdir() == ["address.log"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("serve", "line"),
    [
        (
            ("vllm", "--server-gpus", "4", "--replicas", "2"),
            "vllm serve acme/m --host 0.0.0.0 --port {port} --tensor-parallel-size 4 --data-parallel-size 2",
        ),
        (("vllm",), "vllm serve acme/m --host 0.0.0.0 --port {port} --tensor-parallel-size 1"),
        (
            ("sglang", "--server-gpus", "2", "--replicas", "3"),
            "python3 -m sglang.launch_server --model-path acme/m --host 0.0.0.0 --port {port} --tp-size 2 --dp-size 3",
        ),
        (("mine --port {port} it's",), "mine --port {port} it's"),
    ],
)
def test_the_servers_own_command_lines_are_in_the_job(assay: Callable, serve: tuple[str, ...], line: str) -> None:
    done = assay("cluster", "slurm", "--serve", *serve, "--", *SOLVE)
    assert done.code == 0, done.err
    quoted = line.replace("'", "'\"'\"'")
    assert f"assay cluster serve --address-file \"$MODEL_ADDRESS\" -- '{quoted}' &\n" in done.out
    gpus = {"4": 8, "2": 6}.get(serve[2] if len(serve) > 2 else "", 1)
    assert f"\n#SBATCH --gres=gpu:{gpus}\n" in done.out


@pytest.mark.parametrize(
    ("options", "arguments", "problem"),
    [
        (("--serve", "vllm"), ("rows.jsonl", "--gold", "--run-id", "r"), "--serve answers solvers"),
        (("--serve", "vllm"), ("solve", "rows.jsonl", "--agent", "gold", "--run-id", "r"), "with --model NAME"),
        (("--serve", "mine"), SOLVE, "the command 'mine' of the model server needs {port}"),
        (("--serve", "x {port}", "--replicas", "2"), SOLVE, "--replicas: write them into the command"),
        ((), (*SOLVE, "--serve", "x {port}"), "give --serve before the --"),
        ((), (*SOLVE, "--executor", "ray"), "leave --executor out"),
        ((), SOLVE[:-2], "add --run-id NAME"),
        ((), ("solve", "rows.jsonl", "--run-id", "r"), "missing option '--agent'"),
    ],
)
def test_what_cannot_be_served_gets_one_line(
    assay: Callable, options: tuple[str, ...], arguments: tuple[str, ...], problem: str
) -> None:
    assay("cluster", "slurm", *options, "--", *arguments).refuses(problem)
