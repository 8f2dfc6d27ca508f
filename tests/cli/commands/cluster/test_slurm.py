"""``assay cluster slurm``: a script that shells take, whatever is in it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.harness.runs.store import RunStore
from slurm_cluster import MISSING, SlurmCluster, started
from stand_ins import row

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


def test_shells_find_nothing_wrong_beside_a_model_server(assay: Callable, in_folder: Path) -> None:
    arguments = ("solve", "my rows.jsonl", "--agent", "bash_loop", "--model", NASTY, "--run-id", NASTY, "--evaluate")
    done = assay("cluster", "slurm", "--serve", "vllm", "--server-gpus", "2", "--", *arguments)
    assert done.code == 0, done.err
    bodies = BODY.findall(done.out)
    assert len(bodies) == 3
    for text in (done.out, *bodies):
        Path("script.sh").write_text(text)
        subprocess.run(["bash", "-n", "script.sh"], check=True)
        found = subprocess.run([SHELLCHECK, "-e", "SC2016", "script.sh"], capture_output=True, text=True, check=False)
        assert found.stdout == ""
    server, array, merge = bodies
    assert "\n#SBATCH --gres=gpu:2\n" in server
    assert "--gres" not in array
    assert "OPENAI_BASE_URL=$(cat " in array
    assert merge.index('scancel "$MODEL_JOB"\n') < merge.index("assay report merge")
    assert not Path("hacked").exists()


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


def test_cards_of_a_shard_are_those_of_its_evaluation(assay: Callable) -> None:
    done = assay("cluster", "slurm", "--", "rows.jsonl", "--gold", "--run-id", "r", "--gpus", "2")
    array, merge = BODY.findall(done.out)
    assert "\n#SBATCH --gres=gpu:2\n" in array
    assert "--gold --run-id r --gpus 2 " in array
    assert "gres" not in merge
    assert "gres" not in assay("cluster", "slurm", "--", "rows.jsonl", "--gold", "--run-id", "r").out


ASKED = "trap 'exit 130' TERM; kill -{} $PPID; sleep 30 & wait"
"""An evaluation that has its job sent a signal, and stops in order when it gets SIGTERM."""


@pytest.mark.parametrize(
    ("evaluation", "restarts", "code", "goes_on"),
    [
        ("exit 0", 0, 0, False),
        ("exit 1", 0, 1, False),
        ("exit 2", 0, 2, False),
        ("exit 3", 0, 3, True),
        ("exit 3", 9, 3, True),
        ("exit 3", 10, 3, False),
        ("kill -KILL $$", 0, 137, True),
        (ASKED.format("USR1"), 0, 130, True),
        (ASKED.format("TERM"), 0, 130, False),
        ("trap 'exit 0' TERM; kill -USR1 $PPID; sleep 30 & wait", 0, 0, False),
    ],
)
def test_only_what_may_succeed_goes_back_into_the_queue(
    assay: Callable, in_folder: Path, evaluation: str, restarts: int, code: int, goes_on: bool
) -> None:
    """Played without Slurm: the job's own text with stand-ins for ``assay`` and ``scontrol``."""
    printed = assay("cluster", "slurm", "--", "rows.jsonl", "--gold", "--run-id", "r", "--engine", "fake").out
    Path("job.sh").write_text(BODY.findall(printed)[0])
    for name, text in (("assay", evaluation), ("scontrol", 'echo "$@" > requeued')):
        Path(name).write_text(f"#!/bin/bash\n{text}\n")
        Path(name).chmod(0o755)
    Path("node").mkdir()
    env = {
        **os.environ,
        "PATH": f"{in_folder}:{os.environ['PATH']}",
        "TMPDIR": str(in_folder / "node"),
        "SLURM_JOB_ID": "7",
        "SLURM_ARRAY_JOB_ID": "7",
        "SLURM_ARRAY_TASK_ID": "4",
        "SLURM_RESTART_COUNT": str(restarts),
    }
    with Path("said").open("w") as said:  # a pipe would be waited for, while the stand-in's sleep has it
        done = subprocess.run(["bash", "job.sh"], env=env, check=False, timeout=20, stdout=said, stderr=said)
    assert done.returncode == code, Path("said").read_text()
    requeued = Path("requeued").read_text() if Path("requeued").exists() else ""
    assert requeued == ("requeue 7_4\n" if goes_on else "")
    assert [*Path("node").iterdir()] == []


@pytest.mark.parametrize(("code", "goes_on"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_shard_that_finds_its_model_server_starting_again_goes_back_into_the_queue(
    assay: Callable, in_folder: Path, code: int, goes_on: bool
) -> None:
    solve = ("solve", "rows.jsonl", "--agent", "bash_loop", "--model", "m", "--run-id", "r", "--engine", "fake")
    printed = assay("cluster", "slurm", "--serve", "vllm", "--", *solve).out
    Path("job.sh").write_text(BODY.findall(printed)[1])
    Path("address").write_text("http://node:1/v1")
    for name, text in (("assay", f'echo "$OPENAI_BASE_URL" > asked; exit {code}'), ("scontrol", "touch requeued")):
        Path(name).write_text(f"#!/bin/bash\n{text}\n")
        Path(name).chmod(0o755)
    job = {"MODEL_ADDRESS": "address", "MODEL_JOB": "6", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "4"}
    env = {**os.environ, **job, "PATH": f"{in_folder}:{os.environ['PATH']}", "TMPDIR": str(in_folder)}
    done = subprocess.run(["bash", "job.sh"], env=env, check=False, timeout=20, capture_output=True)
    assert done.returncode == code, done.stderr
    assert Path("asked").read_text() == "http://node:1/v1\n"
    assert Path("requeued").exists() is goes_on


@pytest.fixture
def cluster(in_folder: Path) -> Iterator[SlurmCluster]:
    rows = [row(f"acme__calc-{number}") for number in range(16)]
    Path("rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    with started(in_folder, ASSAY_CACHE=str(in_folder / "cache"), ASSAY_FAKE_SECONDS="1") as cluster:
        yield cluster


def submitted(assay: Callable, cluster: SlurmCluster) -> str:
    """Submit four parts of a run; return the number of the array."""
    options = ("--shards", "4", "--cpus", "1", "--memory", "500M", "--partition", "cpu", "-o", "nightly.sh")
    done = assay("cluster", "slurm", *options, "--", "rows.jsonl", "--gold", "--run-id", "nightly", "--engine", "fake")
    assert done.code == 0, done.err
    return cluster.run("bash", "nightly.sh").split()[1]


def finished(part: int) -> list[str]:
    events = RunStore(Path(f"runs/nightly.shard-{part}-of-4")).events()
    return [event["instance"] for event in events if event["event"] == "finished"]


def log(name: str) -> str:
    return "".join(path.read_text() for path in Path("runs/.slurm").glob(f"*{name}.log"))


@pytest.mark.slurm
@pytest.mark.xdist_group("slurm")
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_parts_that_are_killed_requeued_and_out_of_time_become_the_run_of_one_process(
    assay: Callable, cluster: SlurmCluster
) -> None:
    array = submitted(assay, cluster)
    cluster.wait(lambda: all(finished(part) for part in (1, 2, 3, 4)), "each part has a verdict")
    os.kill(cluster.process_of("evaluate", "--shard", "2/4"), signal.SIGKILL)
    cluster.run("scontrol", "requeue", f"{array}_3")
    cluster.run("scancel", "--signal=USR1", "--batch", f"{array}_4")  # what Slurm sends before the time limit
    cluster.wait(lambda: not cluster.jobs(), "all jobs end")
    single = assay("evaluate", "rows.jsonl", "--gold", "--run-id", "nightly", "--runs-dir", "single")
    assert single.code == 0
    assert Path("runs/nightly/report.json").read_bytes() == Path("single/nightly/report.json").read_bytes(), log("*")
    assert "16 of 16 resolved · runs/nightly, merged from 4 runs" in log("merge-*")
    resumed = {part: "known already" in log(f"{array}_{part}") for part in (1, 2, 3, 4)}
    assert resumed == {1: False, 2: True, 3: True, 4: True}
    times = Counter(name for part in (1, 2, 3, 4) for name in finished(part))
    assert {*times.values()} == {1}, "no finished evaluation was made again"


@pytest.mark.slurm
@pytest.mark.xdist_group("slurm")
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_a_cancelled_array_stays_cancelled_and_the_merge_says_what_is_missing(
    assay: Callable, cluster: SlurmCluster
) -> None:
    array = submitted(assay, cluster)
    cluster.wait(lambda: all(finished(part) for part in (1, 2, 3, 4)), "each part has a verdict")
    cluster.run("scancel", array)
    cluster.wait(lambda: not cluster.jobs(), "all jobs end")
    assert "nothing was written; --allow-missing merges what there is" in log("merge-*")
    assert log("merge-*").count("has not finished; run its command again") == 4
    assert not Path("runs/nightly").exists()
