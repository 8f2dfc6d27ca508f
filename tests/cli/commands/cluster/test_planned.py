"""The command line that a cluster gets is one that ``assay evaluate`` takes, and that parts can share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tables import read_tables

TABLES = read_tables(__file__)

SLURM = ("cluster", "slurm", "--")
KUBERNETES = ("cluster", "kubernetes", "--image", "x", "--volume", "v", "--")


@pytest.mark.parametrize("command", [SLURM, KUBERNETES])
@pytest.mark.parametrize(("arguments", "message"), TABLES["what_no_part_can_do_gets_one_line"])
def test_what_no_part_can_do_gets_one_line(
    assay: Callable, command: tuple[str, ...], arguments: str, message: str
) -> None:
    assay(*command, *arguments.split()).refuses(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("slurm", "--time", "3h"), "--time '3h': write [days-]hours:minutes:seconds, such as 04:00:00"),
        (("slurm", "--time", "00:00:00"), "--time '00:00:00'"),
        (("slurm", "--memory", "much"), "--memory 'much': write a number with K, M, G or T"),
        (("slurm", "--partition", "a b"), "--partition 'a b'"),
        (("slurm", "--partition", "x\n#SBATCH --uid=0"), "--partition"),
        (("slurm", "--shards", "0"), "--shards takes a whole number of at least 1"),
        (("kubernetes", "--image", "x", "--volume", "A_B"), "--volume 'A_B'"),
        (("kubernetes", "--image", "x y", "--volume", "v"), "--image 'x y'"),
        (("kubernetes", "--image", "x", "--volume", "v", "--namespace", "N"), "--namespace 'N'"),
        (("kubernetes", "--image", "x", "--volume", "v", "--time", "4"), "--time '4'"),
        (("kubernetes", "--volume", "v"), "missing option '--image'"),
    ],
)
def test_a_wrong_option_gets_one_line(assay: Callable, options: tuple[str, ...], message: str) -> None:
    assay("cluster", *options, "--", "rows.jsonl", "--gold", "--run-id", "r").refuses(message)


@pytest.mark.parametrize("command", [SLURM, KUBERNETES])
@pytest.mark.parametrize("odd", ["r\nJOB\nrm -rf /", "r\tx", "r\x1b[2J"])
def test_no_line_of_the_text_is_the_arguments(assay: Callable, command: tuple[str, ...], odd: str) -> None:
    assay(*command, "rows.jsonl", "--gold", "--run-id", odd).refuses("can hold no line breaks")


@pytest.mark.parametrize("command", [SLURM, KUBERNETES])
def test_folders_of_other_machines_need_not_be_here(assay: Callable, command: tuple[str, ...]) -> None:
    done = assay(*command, "rows.jsonl", "--gold", "--run-id", "r", "--mirror", "/nowhere/mirrors")
    assert done.code == 0, done.err
    assert "--mirror /nowhere/mirrors --engine fake --jobs 8" in done.out


@pytest.mark.parametrize("jobs", [("-j", "3"), ("--jobs", "3"), ("--jobs=3",)])
def test_as_many_containers_as_processors_unless_the_command_says(assay: Callable, jobs: tuple[str, ...]) -> None:
    arguments = ("rows.jsonl", "--gold", "--run-id", "r")
    assert "--jobs 5 --shard" in assay("cluster", "slurm", "--cpus", "5", "--", *arguments).out
    assert "--jobs 5" not in assay("cluster", "slurm", "--cpus", "5", "--", *arguments, *jobs).out


def test_settings_of_this_machine_are_in_the_command(assay: Callable) -> None:
    Path("assay.toml").write_text('strict = true\ntimeout = 7\n[evaluate]\njobs = 3\nrecipes = ["a b", "c"]\n')
    done = assay(*SLURM, "rows.jsonl", "--gold", "--run-id", "r", "--no-strict", ASSAY_RUNS_DIR="/shared/runs")
    words = "--jobs 3 --runs-dir /shared/runs --timeout 7 --recipes 'a b' --recipes c --engine fake --shard"
    assert f"assay evaluate rows.jsonl --gold --run-id r --no-strict {words}" in done.out
    assert "exec assay report merge /shared/runs/r.shard-*-of-4 -o /shared/runs/r\n" in done.out


@pytest.mark.parametrize(
    ("command", "how"), [(SLURM, "submit it with: bash"), (KUBERNETES, "start it with: kubectl apply -f")]
)
def test_a_file_has_the_same_text(assay: Callable, command: tuple[str, ...], how: str) -> None:
    arguments = ("--", "rows.jsonl", "--gold", "--run-id", "r")
    printed = assay(*command[:-1], *arguments)
    written = assay(*command[:-1], "-o", "my text", *arguments)
    assert (written.code, written.out) == (0, f"{how} 'my text'\n")
    assert Path("my text").read_text() == printed.out
