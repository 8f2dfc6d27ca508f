"""``assay cluster slurm -- solve ...`` on a Slurm of two nodes: shards, a model server beside them, and a merge."""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import small_server
from assay.harness.runs.store import RunStore
from slurm_cluster import MISSING, SlurmCluster, started
from stand_ins import row

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]

SHARDS, ROWS, CALLS = 4, 8, 13
"""Each instance needs two calls; of the 13, shards of two instances each have 3, 3, 3 and 4."""


@pytest.fixture
def cluster(in_folder: Path) -> Iterator[SlurmCluster]:
    rows = [{**row(f"acme__calc-{number}"), "problem_statement": f"fix {number}"} for number in range(ROWS)]
    Path("rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    Path("asked").mkdir()
    with started(in_folder, ASSAY_CACHE=str(in_folder / "cache"), ASSAY_FAKE_SECONDS="0.2") as cluster:
        yield cluster


def count_asked() -> int:
    """Return the calls that the server had, without the short question of each shard's start."""
    return sum(path.read_text() != "1" for path in Path("asked").iterdir())


def log(name: str) -> str:
    return "".join(path.read_text() for path in Path("runs/.slurm").glob(f"*{name}*.log"))


def list_finished(run: str) -> list[str]:
    return [each["instance"] for each in RunStore(Path(run)).events() if each["event"] == "finished"]


def test_shards_and_a_server_that_are_killed_become_one_evaluated_run_within_its_budget(
    assay: Callable, cluster: SlurmCluster
) -> None:
    command = f"{sys.executable} {small_server.__file__} {{port}} {Path('asked').resolve()}"
    options = ("--shards", str(SHARDS), "--cpus", "1", "--memory", "500M", "--partition", "cpu", "-o", "nightly.sh")
    arguments = ("rows.jsonl", "--agent", "bash_loop", "--model", "m", "--set", "form=block", "--run-id", "nightly")
    more = ("--total-calls", str(CALLS), "--evaluate", "--engine", "fake")
    done = assay("cluster", "slurm", "--serve", command, *options, "--", "solve", *arguments, *more)
    assert done.code == 0, done.err
    cluster.run("sbatch", "--mem=100M", "--output=submitted.log", "nightly.sh")
    cluster.wait(lambda: count_asked() >= 1, "a shard asks the model")
    cluster.wait(lambda: cluster.finds("solve", "--shard", "2/4"), "the second shard begins")
    os.kill(cluster.process_of("solve", "--shard", "2/4"), signal.SIGKILL)
    os.kill(cluster.process_of(small_server.__file__), signal.SIGKILL)
    cluster.wait(lambda: not cluster.jobs(), "all jobs end")

    assert "it is started again, as at most 3 times more" in log("server")
    assert "nightly, merged from 4 runs" in log("merge"), log("nightly")
    assert f"0 of {ROWS} resolved" in log("merge")
    assert log("merge").endswith(" · runs/nightly.evaluated\n")
    assert "assay: " not in log("merge"), "the job's own variables are no settings"
    solutions = [json.loads(line) for line in Path("runs/nightly/solutions.jsonl").read_text().splitlines()]
    assert Counter(each["status"] for each in solutions) == {"submitted": 5, "limit_calls": 3}
    assert len(Path("runs/nightly/llm.jsonl").read_text().splitlines()) == CALLS
    assert CALLS <= count_asked() <= CALLS + 2, "only what was asked when one was killed may be asked again"
    evaluated = json.loads(Path("runs/nightly.evaluated/report.json").read_text())
    assert evaluated["submitted_instances"] == ROWS
    assert {*Counter(list_finished("runs/nightly.evaluated")).values()} == {1}
    assert "nothing" not in log("merge")
    assert not cluster.finds(small_server.__file__), "the server ends with the run"
    assert not [*Path("runs/.slurm").glob("*.address")]


def test_a_server_that_does_not_come_up_ends_the_shards_and_the_merge_says_so(
    assay: Callable, cluster: SlurmCluster
) -> None:
    options = ("--shards", "2", "--cpus", "1", "--memory", "500M", "-o", "nightly.sh", "--server-gpus", "2")
    arguments = ("rows.jsonl", "--agent", "bash_loop", "--model", "m", "--run-id", "nightly", "--engine", "fake")
    done = assay("cluster", "slurm", "--serve", "echo no card; exit 1 # {port}", *options, "--", "solve", *arguments)
    assert done.code == 0, done.err
    cluster.run("bash", "nightly.sh")
    cluster.wait(lambda: not cluster.jobs(), "all jobs end")
    assert "the model server does not run: it ended with status 1 (no card)" in log("server")
    assert log("assay-nightly-").count("the model server has ended, see its log") == 2
    assert not Path("runs/nightly").exists()
