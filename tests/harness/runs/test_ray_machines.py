"""A Ray cluster of two machines, each with a container engine of its own, whose parts die in the middle of a run."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.harness.domain import Instance, Recipe, Verdict
from assay.harness.runs.store import RunStore
from assay.instances.dataset.formats import native
from corpus.model import diff
from corpus.stage import git
from machines import Machine, machine, switch
from second_engine import second_engine

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine

pytest.importorskip("ray")
pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("ray machines")]

FILES = {"answer": "wrong\n", "check": """echo '{"same": "passed"}'\n"""}
GOLD = diff(FILES, FILES | {"answer": "right\n"})
CHECK = """\
state=failed && grep -q right answer && state=passed
echo '{"same": "passed", "answer": "'$state'"}'
test $state = passed
"""
PATCHES = {1: diff(FILES, FILES | {"answer": "still wrong\n"}), 2: "", 3: "I would change the answer."}
"""Of every ten predictions; the others have the gold patch."""
SLOW = 6
"""Seconds of the tests that take long."""
RAY = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats", "--num-cpus=0"]
RAY += ["--object-store-memory=83886080"]
QUICK = {"initial_delay": 1000, "period": 1000, "timeout": 2000, "failure_threshold": 3}
"""Milliseconds, and times, after which Ray takes a node that does not answer for dead."""
SECONDS = 120


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@dataclass(frozen=True)
class Given:
    """Rows of one small repository and predictions for them; the tests only sleep and look into a file."""

    folder: Path

    def write(self) -> None:
        """Write forty rows whose tests are over at once, and eight whose tests take long."""
        quick = [self._instance(f"quick-{number}", 0.3) for number in range(40)]
        slow = [self._instance(f"slow-{number}", SLOW) for number in range(8)]
        _write(self.folder / "rows.jsonl", [native.from_instance(each) for each in quick + slow])
        patches = [PATCHES.get(index % 10, each.gold_patch) for index, each in enumerate(quick)]
        for name, given in (("quick", zip(quick, patches, strict=True)), ("slow", [(each, GOLD) for each in slow])):
            lines = [{"instance_id": each.id, "model_name_or_path": "m", "model_patch": patch} for each, patch in given]
            _write(self.folder / f"{name}.jsonl", lines)

    def _instance(self, name: str, seconds: float) -> Instance:
        recipe = Recipe(
            metadata=False,
            install=("true",),
            test_command=f"sleep {seconds}; sh check > {{report}}",
            report_format="status_json",
            test_files="all",
        )
        return Instance(
            id=f"acme__{name}",
            repo="acme/answer",
            base_commit=self._base,
            problem_statement="the answer is wrong",
            gold_patch=GOLD,
            test_patch=diff(FILES, FILES | {"check": CHECK}),
            fail_to_pass=("answer",),
            pass_to_pass=("same",),
            created_at=datetime(2025, 6, 1, tzinfo=UTC),
            environment=recipe,
        )

    @cached_property
    def _base(self) -> str:
        folder = self.folder / "mirrors/acme/answer"
        folder.mkdir(parents=True)
        for name, text in FILES.items():
            (folder / name).write_text(text)
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", "base")
        return git(folder, "rev-parse", "HEAD")


def _write(path: Path, lines: Iterable[object]) -> None:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))


@dataclass(eq=False)
class Driven:
    """``assay evaluate`` at work on the machine of the cluster's head."""

    process: "subprocess.Popen[bytes]"
    store: RunStore
    errors: Path

    def said(self) -> str:
        """Return what it has told a person so far."""
        return self.errors.read_text()

    def await_finished(self, number: int) -> None:
        """Wait until so many evaluations have finished; there are more."""
        wait_until(lambda: self.process.poll() is not None or self.finished().total() >= number)
        assert self.process.poll() is None, self.said()

    def finished(self) -> "Counter[str]":
        """Return how often each instance finished."""
        return Counter(each["instance"] for each in self.store.events() if each["event"] == "finished")

    def seconds(self) -> float:
        """Return the time from the first start of an evaluation to the end of the last."""
        times = [float(each["time"]) for each in self.store.events() if each["event"] in {"started", "finished"}]
        return max(times) - min(times)

    def end(self) -> str:
        """Wait for its end and return what it told a person."""
        assert self.process.wait(SECONDS) == 0, self.said()
        return self.said()


@dataclass(eq=False)
class Machines:
    """A head without an engine and two nodes with an engine and two slots each."""

    given: Given
    head: Machine
    nodes: tuple[Machine, Machine]
    running: "dict[Machine, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def start(self) -> None:
        """Start the head and the first node."""
        health = {f"RAY_health_check_{name}" + "_ms" * (value > 10): str(value) for name, value in QUICK.items()}
        self._ray(self.head, "--head", "--port=6379", "--include-dashboard=false", **health)
        wait_until(lambda: any("raylet" in each for each in self.head.processes().values()))
        self.join(self.nodes[0])

    def join(self, node: Machine) -> None:
        """Start a node's part of the cluster, unless it runs."""
        if node not in self.running or self.running[node].poll() is not None:
            node.kill()
            self._ray(node, f"--address={self.head.address}:6379", '--resources={"engine_slots": 2}')
            wait_until(lambda: any("raylet" in each for each in node.processes().values()))

    def leave(self, node: Machine) -> None:
        """Kill all processes of a node, at once."""
        node.kill()
        if node in self.running:
            self.running.pop(node).wait()

    def run(self, where: Machine, *words: str) -> dict[str, Any]:
        """Run ``assay`` on a machine and return its JSON."""
        command = where.words([sys.executable, "-m", "assay", *words, "--json"], self.given.folder)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def evaluate(self, name: str, runs: Path) -> Driven:
        """Start an evaluation of predictions on the cluster."""
        options = ["--executor", "ray", "--address", f"{self.head.address}:6379"]
        command = [sys.executable, "-m", "assay", "evaluate", *self.words(name, runs), *options]
        errors = runs / "errors"
        with errors.open("wb") as log:
            process = subprocess.Popen(self.head.words(command, self.given.folder), stdout=log, stderr=log)
        return Driven(process, RunStore(runs / self.run_id), errors)

    def words(self, name: str, runs: Path) -> list[str]:
        """Return what follows ``assay evaluate``, wherever it runs."""
        inputs = ["rows.jsonl", "-p", f"{name}.jsonl", "--mirror", "mirrors"]
        return [*inputs, "--run-id", self.run_id, "--runs-dir", str(runs)]

    run_id = f"ray.{os.getpid()}"

    def containers(self, node: Machine) -> list[str]:
        """The containers of such runs on a node's engine."""
        command = node.words(["docker", "ps", "-aq", "--filter", f"label=assay.run={self.run_id}"], self.given.folder)
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    def reap(self) -> None:
        """Have each node remove orphans; no container is left then."""
        for node in self.nodes:
            self.run(node, "reap")
            assert self.containers(node) == []

    def _ray(self, where: Machine, *words: str, **variables: str) -> None:
        command = where.words([*RAY, *words], self.given.folder, **variables)
        log = (self.given.folder / f"{where.name}.log").open("ab")
        with log:
            self.running[where] = subprocess.Popen(command, stdout=log, stderr=log)


@pytest.fixture(scope="module")
def machines(docker_engine: "DockerEngine", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    if shutil.which("docker") is None:
        pytest.skip("there is no docker command (apt-get install docker.io)")
    given = Given(tmp_path_factory.mktemp("given"))
    given.write()
    with ExitStack() as undo:
        folder = Path(tempfile.mkdtemp(prefix="assay2-"))
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        lan = undo.enter_context(switch())
        other = undo.enter_context(second_engine(folder))
        head = machine("head", 1, lan, DOCKER_HOST="unix:///there/is/none")
        one = machine("one", 2, lan)
        two = machine("two", 3, lan, other.namespace, DOCKER_HOST=f"unix://{other.socket}")
        nodes = undo.enter_context(one), undo.enter_context(two)
        made = Machines(given, undo.enter_context(head), nodes)
        undo.callback(lambda: [made.leave(each) for each in (made.head, *nodes)])
        made.start()
        _ship(made)
        yield made


def _ship(made: Machines) -> None:
    """Build the image with this machine's engine, and bring it to the other one."""
    build = [sys.executable, "-m", "assay", "images", "build", "rows.jsonl", "--mirror", "mirrors", "--json"]
    done = subprocess.run(build, cwd=made.given.folder, check=True, capture_output=True, timeout=600)
    image = next(iter(json.loads(done.stdout)["instances"].values()))["image"]
    load = shlex.join(made.nodes[1].words(["docker", "load"], made.given.folder))
    subprocess.run(f"docker save {image} | {load}", shell=True, check=True, capture_output=True, timeout=600)


@pytest.fixture
def both(machines: Machines) -> Machines:
    for node in machines.nodes:
        machines.join(node)
    return machines


@pytest.fixture(scope="module")
def expected(machines: Machines, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """The verdicts of one process on one machine."""
    runs = tmp_path_factory.mktemp("near")
    machines.run(machines.nodes[0], "evaluate", *machines.words("quick", runs), "-j", "4")
    return verdicts(RunStore(runs / machines.run_id))


def verdicts(store: RunStore) -> dict[str, Verdict]:
    return {each.verdict.instance_id: each.verdict for each in store.load_verdicts()}


def check(run: Driven, expected: dict[str, Verdict]) -> None:
    """Nothing was lost, nothing is there twice, and nothing differs from what one process says."""
    assert verdicts(run.store) == expected
    assert run.finished() == Counter(expected.keys())
    assert run.store.load_report() is not None


def workers(node: Machine) -> list[int]:
    return [pid for pid, command in node.processes().items() if command.startswith("ray::RayWorker")]


@pytest.mark.exhaustive
def test_killed_workers_lose_nothing_and_leave_no_container(
    both: Machines, expected: dict[str, Verdict], tmp_path: Path
):
    run = both.evaluate("quick", tmp_path)
    run.await_finished(8)
    for node in both.nodes:
        os.kill(workers(node)[0], signal.SIGKILL)
    said = run.end()
    check(run, expected)
    assert len({each.outcome for each in expected.values()}) == 4
    assert said.count("1 worker lost") == 2
    both.reap()


@pytest.mark.exhaustive
def test_killed_driver_goes_on_where_it_was(both: Machines, expected: dict[str, Verdict], tmp_path: Path):
    run = both.evaluate("quick", tmp_path)
    run.await_finished(16)
    run.process.kill()
    run.process.wait()
    known = run.finished()
    again = both.evaluate("quick", tmp_path)
    again.end()
    assert verdicts(again.store) == expected
    assert set(again.finished().values()) == {1}
    assert 16 <= known.total() < len(expected)
    starts = Counter(each["instance"] for each in again.store.events() if each["event"] == "started")
    assert {starts[name] for name in known} == {1}, "what had finished was not done again"
    both.reap()


@pytest.mark.exhaustive
@pytest.mark.parametrize("killed", [True, False], ids=["killed", "out of reach"])
def test_lost_node_loses_nothing_and_leaves_no_container(
    both: Machines, expected: dict[str, Verdict], tmp_path: Path, killed: bool
):
    node = both.nodes[1]
    run = both.evaluate("quick", tmp_path)
    run.await_finished(16)
    wait_until(lambda: both.containers(node))
    if killed:
        both.leave(node)
        assert both.containers(node), "nobody is there to remove them"
    else:
        node.unplug()
        wait_until(lambda: "was lost" in run.said())
        assert workers(node), "they live, and do not know"
        node.plug()
    said = run.end()
    check(run, expected)
    assert "2 workers lost" in said
    wait_until(lambda: not workers(node))
    both.reap()


@pytest.mark.exhaustive
def test_two_nodes_share_the_work(machines: Machines, tmp_path: Path):
    """Twice as fast but for what each evaluation costs beside its tests; a busy machine is given some slack."""
    one, two = (tmp_path / name for name in ("one", "two"))
    one.mkdir()
    two.mkdir()
    machines.leave(machines.nodes[1])
    alone = machines.evaluate("slow", one)
    alone.end()
    machines.join(machines.nodes[1])
    together = machines.evaluate("slow", two)
    together.end()
    assert verdicts(together.store) == verdicts(alone.store)
    assert alone.seconds() / together.seconds() >= 1.6
