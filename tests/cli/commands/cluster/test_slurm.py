"""``assay cluster slurm``: a script that shells take, whatever is in it."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

NASTY = """it's "a" $(touch hacked) `touch hacked` run; #1"""
SHELLCHECK = Path(sys.executable).with_name("shellcheck")
BODY = re.compile(r"<< 'JOB'\n(.*?)^JOB$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("run_id", ["nightly", NASTY])
@pytest.mark.parametrize("engine", ["docker", "fake"])
def test_shells_find_nothing_wrong(assay: Callable, in_folder: Path, run_id: str, engine: str) -> None:
    arguments = ("my rows.jsonl", "-p", "$HOME/preds.jsonl", "--run-id", run_id, "--engine", engine)
    done = assay("cluster", "slurm", "--shards", "3", "--partition", "cpu", "--", *arguments)
    assert done.code == 0, done.err
    bodies = BODY.findall(done.out)
    assert len(bodies) == 2
    for text in (done.out, *bodies):
        Path("script.sh").write_text(text)
        subprocess.run(["bash", "-n", "script.sh"], check=True)
        found = subprocess.run([SHELLCHECK, "-e", "SC2016", "script.sh"], capture_output=True, text=True, check=False)
        assert found.stdout == ""
    assert ("podman" in done.out) is (engine == "docker")


def test_options_are_where_slurm_reads_them(assay: Callable) -> None:
    options = ("--shards", "16", "--partition", "cpu", "--time", "1-02:00:00", "--cpus", "6", "--memory", "48G")
    done = assay("cluster", "slurm", *options, "--", "rows.jsonl", "--gold", "--run-id", "r")
    array, merge = BODY.findall(done.out)
    wanted = ("array=1-16", "partition=cpu", "time=1-02:00:00", "cpus-per-task=6", "mem=48G", "requeue")
    for line in wanted:
        assert f"\n#SBATCH --{line}\n" in array
    assert "\n#SBATCH --partition=cpu\n" in merge
    assert 'rows.jsonl --gold --run-id r --engine fake --jobs 6 --shard "$SLURM_ARRAY_TASK_ID/16" &\n' in array
    directives = [line for line in array.splitlines() if line.startswith("#SBATCH")]
    assert array.startswith("#!/bin/bash\n#SBATCH")
    before = array[: array.index(directives[-1])].splitlines()
    assert all(line.startswith("#") for line in before), "Slurm reads no directive after a command"


def test_no_partition_is_the_clusters(assay: Callable) -> None:
    assert "--partition" not in assay("cluster", "slurm", "--", "rows.jsonl", "--gold", "--run-id", "r").out
