"""A Ray cluster as a workbench: the driver plans and writes, a worker in each engine slot makes attempts.

A node offers slots as the custom resource ``SLOTS``. Each worker opens its own engine, sources and builder, and makes
one attempt at a time. Ray gives no work exactly once: an attempt whose worker is lost is made again, and only the
answer that the driver waits for counts.
"""

import atexit
import importlib
import os
import queue
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Self, cast

from assay.harness.domain import Instance, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.errors import AssayError, AttemptLost, EngineError, EngineUnavailable, RunStopped, UserError
from assay.harness.names import count
from assay.harness.runs.workbench import Answer, Cluster, Workbench
from assay.version import __version__

SLOTS = "engine_slots"  # resource of a node: evaluations that its engine can run at once
LOSSES = 5  # workers that one item may lose; then the item itself may be what ends them
CALLS = 4  # calls at once to one worker: an attempt, plans, and the call that ends the attempt
PATIENCE = 3.0  # seconds for workers to end their containers
NO_SLOTS = (
    "no node of the Ray cluster at {} offers " + SLOTS + "; start nodes with "
    "ray start --address=HOST:PORT --resources='{{\"" + SLOTS + "\": 4}}'"
)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a worker says of its node once it is open."""

    node: str
    version: str
    engine: Mapping[str, str]


class RayWorker:
    """One slot of a node; made an actor by the driver."""

    def __init__(self, open_bench: Callable[[], Workbench]) -> None:
        self._open = open_bench
        self._bench: Workbench | None = None

    def ready(self) -> NodeFacts | AssayError:
        try:
            self._bench = self._open()
            address = importlib.import_module("ray").util.get_node_ip_address()
            return NodeFacts(f"{socket.gethostname()} ({address})", __version__, self._bench.describe())
        except AssayError as error:
            return error

    def attempt(self, do: Callable[[Workbench], Any]) -> Any:
        return do(self._here)

    def call(self, method: str, *args: Any) -> Any:
        try:
            return getattr(self._here, method)(*args)
        except AssayError as error:
            return error

    @property
    def _here(self) -> Workbench:
        assert self._bench is not None
        return self._bench


@dataclass(eq=False)
class RayCluster(Workbench, Cluster):
    """The workers of a cluster; safe in several threads."""

    open_bench: Callable[[], Workbench]
    """Called on each node."""
    address: str = "auto"
    """Argument of ``ray.init``; an empty text starts a cluster on this machine."""
    note: Callable[[str], None] = lambda _text: None
    """Gets a line for each worker that is lost or unfit."""
    gpus: int = 0
    """Cards of each worker; Ray names them in its CUDA_VISIBLE_DEVICES."""
    attempts: Counter[str] = field(default_factory=Counter)
    """Attempts that ended, by node."""
    lost: Counter[str] = field(default_factory=Counter)
    """Workers that were lost, by node."""

    def __post_init__(self) -> None:
        self._ray = _connect(self.address)
        if not self.slots:
            raise EngineUnavailable(NO_SLOTS.format(self.address or "this machine"))
        self._actor = self._ray.remote(RayWorker)
        self._idle: queue.Queue[Any] = queue.Queue()
        self._starting: dict[Any, Any] = {}
        self._facts: dict[Any, NodeFacts] = {}
        self._unfit: dict[Any, AssayError] = {}
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._gathering = threading.Thread(target=self._gather, name="assay-ray", daemon=True)
        self._gathering.start()
        atexit.register(self._stop_gathering)  # runs before Ray's own: a call to Ray after that ends the process with 1

    @property
    def cluster(self) -> Self:
        return self

    @property
    def slots(self) -> int:
        there = self._ray.cluster_resources()
        slots = int(there.get(SLOTS, 0))
        return min(slots, int(there.get("GPU", 0)) // self.gpus) if self.gpus else slots

    @property
    def host(self) -> str:
        return str(self._ray.util.get_node_ip_address())

    def attempt(self, do: Callable[[Workbench], Answer]) -> Answer:
        error = ""
        for _ in range(LOSSES):
            worker = self._take()
            node = self._facts[worker].node
            try:
                answer: Answer = self._ray.get(worker.attempt.remote(do))
            except self._ray.exceptions.RayActorError:
                self._drop(worker)
                error = f"a worker on {node} was lost"
                self.note(f"{error}; another makes the attempt again")
            except self._ray.exceptions.RayError as failure:  # a bug in Assay costs no other item its attempt
                self._idle.put(worker)
                raise AttemptLost(f"internal error: {failure}") from failure
            else:
                self.attempts[node] += 1
                self._idle.put(worker)
                return answer
        raise AttemptLost(f"{error}, the last of {LOSSES}")

    def summary(self) -> str:
        nodes = sorted({*self.attempts, *self.lost, *(facts.node for facts in self._facts.values())})
        return "; ".join(
            f"{node}: {count(self.attempts[node], 'attempt')}"
            + (f", {count(self.lost[node], 'worker')} lost" if self.lost[node] else "")
            for node in nodes
        )

    @property
    def engine(self) -> Engine:
        raise EngineError("the engines of a Ray cluster are on its nodes")

    def describe(self) -> dict[str, str]:
        return {**self._ask("describe"), "executor": "ray", "ray": self._ray.__version__, SLOTS: str(self.slots)}

    def settle(self, instance: Instance) -> Instance:
        return cast("Instance", self._ask("settle", instance))

    def plan(self, instance: Instance) -> TestPlan:
        return cast("TestPlan", self._ask("plan", instance))

    def plan_files(self, instance: Instance, files: Sequence[str]) -> TestPlan:
        return cast("TestPlan", self._ask("plan_files", instance, files))

    def aim(self, plan: TestPlan, instance: Instance) -> TestPlan:
        return cast("TestPlan", self._ask("aim", plan, instance))

    def assets(self, instance: Instance) -> Callable[[], Mapping[str, bytes]]:  # noqa: ARG002 - the Protocol names it
        return dict

    def image(self, instance: Instance, patch: str | None = None) -> AbstractContextManager[str]:  # noqa: ARG002
        raise EngineError("the images of a Ray cluster are on its nodes")

    def hash_surroundings(self) -> str:
        return ""  # what other machines have is not known here

    def reap(self) -> None:
        with self._lock:
            one_each = {facts.node: worker for worker, facts in self._facts.items()}
        self._call_all(list(one_each.values()), "reap")

    def abort(self) -> None:
        """End every container and build on all nodes; waiting attempts raise RunStopped."""
        self._stop_gathering()
        atexit.unregister(self._stop_gathering)
        with self._lock:
            workers = [*self._facts, *self._starting.values(), *self._unfit]
        self._idle.put(None)
        self._call_all(list(self._facts), "abort")
        for worker in workers:
            self._ray.kill(worker)

    def _take(self) -> Any:
        while True:
            worker = self._idle.get()
            if worker is None or self._ended.is_set():
                self._idle.put(None)  # for the next one that waits
                raise RunStopped("the cluster was aborted")
            if worker in self._facts:
                return worker

    def _drop(self, worker: Any) -> None:
        with self._lock:
            if facts := self._facts.pop(worker, None):
                self.lost[facts.node] += 1
        with suppress(Exception):
            self._ray.kill(worker)  # it may only be out of reach

    def _ask(self, method: str, *args: Any) -> Any:
        """Call a method on the workbench of any worker; raises what it raises."""
        while True:
            worker = self._any()
            try:
                answer = self._ray.get(worker.call.remote(method, *args))
            except self._ray.exceptions.RayActorError:
                self._drop(worker)
                continue
            if isinstance(answer, AssayError):
                raise answer
            return answer

    def _any(self) -> Any:
        """Return any worker that is open, once there is one; raises the error of the unfit if all are."""
        while not self._ended.wait(0 if self._facts else 0.1):
            with self._lock:
                if self._facts:
                    return next(iter(self._facts))
                if self._unfit and not self._starting:
                    raise next(iter(self._unfit.values()))
        raise RunStopped("the cluster was aborted")

    def _call_all(self, workers: Sequence[Any], method: str) -> None:
        calls = [worker.call.remote(method) for worker in workers]
        if calls:
            self._ray.wait(calls, num_returns=len(calls), timeout=PATIENCE)

    def _gather(self) -> None:
        while not self._ended.wait(0 if self._starting else 0.5):
            with suppress(self._ray.exceptions.RayError):
                self._start_missing()
                opened, _ = self._ray.wait(list(self._starting), timeout=0.5) if self._starting else ([], [])
                for call in opened:
                    self._admit(call)

    def _stop_gathering(self) -> None:
        self._ended.set()
        self._gathering.join(PATIENCE)

    def _start_missing(self) -> None:
        with self._lock:
            missing = self.slots - len(self._starting) - len(self._facts) - len(self._unfit)
            for _ in range(missing):
                options = {"num_cpus": 0, "num_gpus": self.gpus, "resources": {SLOTS: 1}, "max_concurrency": CALLS}
                worker = self._actor.options(**options, scheduling_strategy="SPREAD").remote(self.open_bench)
                self._starting[worker.ready.remote()] = worker

    def _admit(self, call: Any) -> None:
        """Hand out a worker that is open; an unfit one keeps its slot, so that no other is started in it."""
        with self._lock:
            worker = self._starting.pop(call)
        try:
            facts = self._ray.get(call)
        except self._ray.exceptions.RayError:
            return  # it ended while it started
        if isinstance(facts, NodeFacts) and facts.version != __version__:
            facts = UserError(f"{facts.node} has Assay {facts.version}, this machine {__version__}")
        with self._lock:
            if isinstance(facts, AssayError):
                self._unfit[worker] = facts
                self.note(f"a worker cannot be used: {facts}")
            else:
                self._facts[worker] = facts
                self._idle.put(worker)


def _connect(address: str) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise UserError("--executor ray needs Ray: pip install 'assay-bench[ray]'") from error
    try:
        ray.init(address=address or None, log_to_driver=False, logging_level="ERROR", ignore_reinit_error=True)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EngineUnavailable(f"no Ray cluster answers at {address or 'this machine'}: {error}") from error
    return ray
