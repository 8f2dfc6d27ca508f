"""An ``assay evaluate`` that is killed or stopped: what has finished stays, and nothing else is left."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from assay.harness.domain import Instance
from assay.harness.engines.docker import DockerEngine
from assay.harness.runs.store import RunStore
from stand_ins import as_row
from toy import make_instances

pytestmark = pytest.mark.slow


def write_rows(folder: Path, instances: Iterable[Instance], **more: str) -> None:
    lines = [json.dumps(as_row(each) | more) + "\n" for each in instances]
    (folder / "rows.jsonl").write_text("".join(lines))


EVALUATE = [sys.executable, "-m", "assay", "evaluate", "rows.jsonl", "--gold", "-j", "1", "--engine"]


def journal(folder: Path) -> list[dict[str, str]]:
    return RunStore(folder / "runs/rows.gold").events()


def wait_for(what: Callable[[], bool], seconds: float = 60) -> None:
    latest = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < latest, "it does not come to that"
        time.sleep(0.01)


@pytest.mark.parametrize("lines", [1, 4, 7])
def test_a_process_killed_at_any_line_of_its_journal(in_folder: Path, lines: int) -> None:
    """Lines: planned, then started and finished for each of three."""
    write_rows(in_folder, make_instances(range(3)))
    command = [*EVALUATE, "fake"]
    slow = {**os.environ, "ASSAY_FAKE_SECONDS": "0.3"}
    process = subprocess.Popen(command, env=slow, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_for(lambda: len(journal(in_folder)) >= lines)
    process.kill()
    assert process.wait() in (-signal.SIGKILL, 0)
    finished = sum(event["event"] == "finished" for event in journal(in_folder))
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert done.stderr.count("known already") >= finished
    again = subprocess.run([*command, "--json", "--runs-dir", "other"], capture_output=True, text=True, check=True)
    assert done.stdout == again.stdout
    shown = [(in_folder / name / "rows.gold/verdicts.jsonl").read_bytes() for name in ("runs", "other")]
    assert shown[0] == shown[1]
    endings = [event["instance"] for event in journal(in_folder) if event["event"] == "finished"]
    assert len(endings) == len(set(endings)), "nothing that was finished is evaluated again"


FIX = "diff --git a/fix.txt b/fix.txt\nnew file mode 100644\n--- /dev/null\n+++ b/fix.txt\n@@ -0,0 +1 @@\n+fixed\n"
SCRIPT = """\
cd /testbed
trap '' TERM INT
sleep 1
bash -c "test -f fix.txt && echo 'PASSED t.py::test_fix' || { echo 'FAILED t.py::test_fix'; exit 1; }"
"""
MARK = f"tests-crash-{os.getpid()}"
"""Of the run: also the value of the label by which its containers are found."""


@pytest.fixture
def testbed(docker_engine: DockerEngine, toolchain_image: str) -> Iterator[str]:
    """Name of an image that a data set row could carry: all it has is the folder of the tree."""
    client, name = docker_engine._client, f"assay-tests/crash:{os.getpid()}"
    made = client.create_container(toolchain_image, command=["mkdir", "/testbed"])["Id"]
    client.start(made)
    client.wait(made)
    repository, tag = name.split(":")
    client.commit(made, repository, tag, changes=["LABEL assay.kind=test"])
    client.remove_container(made)
    yield name
    client.remove_image(name, force=True)


@pytest.fixture
def command(in_folder: Path, testbed: str) -> list[str]:
    """Six instances, each a second long, two at once."""
    labels = {"fail_to_pass": ("t.py::test_fix",), "pass_to_pass": ()}
    found = make_instances(range(6), gold_patch=FIX, test_patch="", **labels)
    write_rows(in_folder, found, image=testbed, eval_script=SCRIPT)
    return [*EVALUATE, "docker", "-j", "2", "--environment", "published", "--run-id", MARK]


def boxes(engine: DockerEngine) -> list[str]:
    found = engine._client.containers(all=True, filters={"label": f"assay.run={MARK}"})
    return [each["Id"][:12] for each in found]


def started(folder: Path) -> Callable[[], bool]:
    """Return a function that says whether two evaluations have finished."""
    store = RunStore(folder / "runs" / MARK)
    return lambda: len([event for event in store.events() if event["event"] == "finished"]) >= 2


@pytest.mark.docker
def test_killed_with_containers_at_work_only_the_unfinished_is_done_again(
    in_folder: Path, command: list[str], docker_engine: DockerEngine
) -> None:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_for(lambda: started(in_folder)() and bool(boxes(docker_engine)))
    process.kill()
    process.wait()
    store = RunStore(in_folder / "runs" / MARK)
    whole = {path.parent.name for path in store.root.glob("instances/*/verdict.json")}
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert done.stderr.count("known already") == len(whole)
    assert json.loads(done.stdout)["resolved_instances"] == 6
    assert boxes(docker_engine) == []
    endings = [event["instance"] for event in store.events() if event["event"] == "finished"]
    assert sorted(endings) == sorted(set(endings))
    assert len(endings) == 6


@pytest.mark.docker
@pytest.mark.parametrize(
    "signals",
    [
        [signal.SIGINT],
        [signal.SIGTERM] * 2,
        pytest.param([signal.SIGTERM], marks=pytest.mark.exhaustive),
        pytest.param([signal.SIGINT] * 2, marks=pytest.mark.exhaustive),
    ],
)
def test_told_to_stop_it_ends_soon_leaves_nothing_and_goes_on(
    in_folder: Path, command: list[str], docker_engine: DockerEngine, signals: list[signal.Signals]
) -> None:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait_for(lambda: started(in_folder)() and bool(boxes(docker_engine)))
    for number in signals:
        process.send_signal(number)
        time.sleep(0.05)
    process.communicate(timeout=60)
    assert process.returncode == 130
    wait_for(lambda: not boxes(docker_engine), 20)  # a loaded engine is still removing it
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["resolved_instances"] == 6
    assert done.stderr.count("known already") >= 2
