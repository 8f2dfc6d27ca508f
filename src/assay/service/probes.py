"""Probes of the engine that answers: gold and null of a few instances, evaluated now and then among the others.

An instance that gets them wrong is quarantined, and the engine if a second instance gets them wrong, too. What they
answered since the last good probe, for an instance its own, is withdrawn, and evaluated again once a probe is good.
Where answers are held, none is given before that probe, which comes when nothing else is to be done at the latest.
Used in the event loop's thread alone, but for ``_try``.
"""

import asyncio
import platform
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.api.evaluator import MODEL, Evaluator
from assay.choices import HoldChoice
from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import INFRASTRUCTURE, Instance, Outcome, Prediction, Verdict
from assay.harness.errors import AssayError, EngineError, RunStopped, UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.files import append_lines, replace_file
from assay.harness.program_output import cut_line
from assay.service.figures import Figures

PAUSE = 30.0  # seconds between two probes of an engine in quarantine
CANDIDATES = 20  # instances that are probed in turns: the last ones that were evaluated
MOST = 100_000  # answers that are remembered until a probe proves them
LISTED = 1000  # withdrawn answers that are listed
ENGINE = ""  # stands for the engine among the names of instances


@dataclass(frozen=True, slots=True)
class UnprovenAnswer:
    """A content that was evaluated, and is not proven by a probe yet."""

    id: str
    instance_id: str
    reward: float | None = None
    task: Task | None = None
    """None for what an earlier process evaluated."""
    vouched: bool = False
    """Whether a good probe of another instance followed: only its own instance can take it back then."""


@dataclass(eq=False)
class Prober:
    evaluator: Evaluator
    figures: Figures
    jobs: Executor
    share: float
    """Share of the evaluations' seconds that probes may take; 0 for none."""
    unproven_file: Path
    """Names what is not proven, for the next process."""
    forget: Callable[[str], None]
    """Drops a content's verdict, in memory and on the disk."""
    evaluate_again: Callable[[str, Task], None]
    hold: HoldChoice = field(default=HoldChoice.NONE, init=False)
    withdrawn: deque[UnprovenAnswer] = field(default_factory=lambda: deque(maxlen=LISTED))
    withdrawals: int = 0
    _reasons: dict[str, str] = field(default_factory=dict)
    """Why an instance, or the engine, is in quarantine."""
    _unproven: dict[str, UnprovenAnswer] = field(default_factory=dict)
    _candidates: OrderedDict[str, Task] = field(default_factory=OrderedDict)
    """Tasks by instance; the one that was probed least recently is first."""
    _again: dict[str, UnprovenAnswer] = field(default_factory=dict)
    _is_idle: Callable[[], bool] = field(default=lambda: True, init=False)
    _held: "dict[str, asyncio.Future[bool]]" = field(default_factory=dict)
    """Whether an answer that is held is proven (true) or withdrawn."""
    _working: float = 0.0
    _probing: float = 0.0
    _check: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        with suppress(OSError):
            for line in self.unproven_file.read_text(encoding="utf-8").splitlines() if self.share else ():
                key, name, vouched = (*line.split(" "), "", "")[:3]
                self._unproven[key] = UnprovenAnswer(key, name, vouched=vouched == "vouched")

    def hold_answers(self, choice: HoldChoice, is_idle: Callable[[], bool]) -> None:
        """Hold answers from now on; an earlier process' that no probe has proven are dropped.

        Raises UserError: no probe could ever prove one.
        """
        self.hold, self._is_idle = choice, is_idle
        if choice is HoldChoice.NONE:
            return
        if not self.share:
            raise UserError(f"--hold {choice} waits for probes; leave out --probe 0")
        if not any(map(_get_own_patch, self.evaluator.instances)):
            raise UserError(f"--hold {choice} needs an instance with a gold patch, which probes evaluate")
        self._drop(self._unproven)

    def find_reason(self, instance_id: str) -> str:
        """Return why no answer on an instance counts now; empty if it does."""
        return self._reasons.get(ENGINE) or self._reasons.get(instance_id, "")

    def refuse(self, instance_id: str) -> Verdict | None:
        """Return the verdict on whatever is asked about what is in quarantine; it has no reward."""
        reason = self.find_reason(instance_id)
        if not reason:
            return None
        return Verdict(instance_id=instance_id, outcome=Outcome.INFRA_ERROR, reason=f"in quarantine: {reason}")

    def withdraw(self, instance_id: str) -> Verdict:
        """Return the verdict in place of an answer that was held and withdrawn."""
        reason = "the answer could not be proven by a probe"
        unproven = Verdict(instance_id=instance_id, outcome=Outcome.INFRA_ERROR, reason=reason)
        return self.refuse(instance_id) or unproven

    def note(
        self, key: str, task: Task, verdict: Verdict, seconds: float, planned: Task | None
    ) -> "asyncio.Future[bool] | None":
        """Note an evaluation that ended, and begin a probe if its share of the time allows one.

        Args:
            planned: the instance's task without a client's limits; None for an instance of a client's own.

        Returns:
            Whether the answer is proven (true) or withdrawn, where answers are held; None if it may be given.
        """
        if not self.share:
            return None
        held = None
        if verdict.outcome not in INFRASTRUCTURE:
            self.add(UnprovenAnswer(key, verdict.instance_id, verdict.reward, task))
            if self.hold is not HoldChoice.NONE:
                held = self._held[key] = asyncio.get_running_loop().create_future()
        self._working += seconds
        if planned is not None and _get_own_patch(planned.instance):
            self._candidates.setdefault(verdict.instance_id, planned)
            while len(self._candidates) > CANDIDATES and self.hold is not HoldChoice.INSTANCE:
                self._candidates.popitem(last=False)
        if self._candidates and self._probing <= self.share * self._working:
            self._begin()
        return held

    def begin_if_idle(self) -> None:
        """Begin a probe if answers wait for one and nothing else is to be done."""
        if self._held and self._is_idle():
            self._begin()

    def is_held(self, key: str) -> bool:
        """Return whether the answer on a content may not be given yet."""
        return key in self._held

    def _begin(self) -> None:
        if self._check is None:
            self._check = asyncio.get_running_loop().create_task(self._probe_until_good())
            self._check.add_done_callback(self._end_check)

    def add(self, answered: UnprovenAnswer) -> None:
        """Note an answer that the next good probe has to prove."""
        if self.share:
            self._unproven[answered.id] = answered
            with suppress(OSError):
                append_lines(self.unproven_file, [f"{answered.id} {answered.instance_id} new".encode()])

    def as_json(self) -> dict[str, Any]:
        return {
            "quarantine": {name or "engine": reason for name, reason in self._reasons.items()},
            "withdrawals": self.withdrawals,
            "withdrawn": [
                {"id": each.id, "instance_id": each.instance_id, "was": each.reward} for each in self.withdrawn
            ],
        }

    def end(self) -> None:
        if self._check is not None:
            self._check.cancel()
        for key in [*self._held]:
            self._settle(key, False)

    def _end_check(self, check: "asyncio.Task[None]") -> None:
        self._check = None
        if check.cancelled():
            return
        if error := check.exception():
            self._drop(self._held)
            if not isinstance(error, RunStopped):
                raise error
        self.begin_if_idle()

    async def _probe_until_good(self) -> None:
        """Probe one instance, a second if it is wrong, and go on for as long as the engine is in quarantine."""
        if not self._candidates:
            await asyncio.get_running_loop().run_in_executor(self.jobs, self._add_candidate)
        first = self._choose()
        if await self._probe(first):
            return
        others = [name for name in self._candidates if name not in self._reasons]
        if not (others and await self._probe(others[0])):
            wrong = f"{self.evaluator.place.engine} on {platform.node()}: {self._reasons[first]}"
            self._quarantine(ENGINE, wrong, [key for key, each in self._unproven.items() if not each.vouched])
        while ENGINE in self._reasons:
            await asyncio.sleep(PAUSE)
            if await self._probe(next(iter(self._candidates))):
                self._release(ENGINE)
                for name in [each for each in self._reasons if each in self._candidates]:
                    await self._probe(name)

    def _add_candidate(self) -> None:
        """Plan an instance of the data set for a probe, since none that can be probed was evaluated."""
        for instance in self.evaluator.instances:
            with suppress(AssayError):
                task = self.evaluator.place.task(instance, Prediction(instance_id=instance.id, model=MODEL))
                if _get_own_patch(instance):
                    self._candidates[instance.id] = task
                    return
        raise EngineError("no instance with a gold patch can be planned, so that no probe proves what was answered")

    def _choose(self) -> str:
        """Return the instance that was probed least recently; where answers wait for their own, one of these."""
        wanted = {self._unproven[key].instance_id for key in self._held} if self.hold is HoldChoice.INSTANCE else set()
        return next((name for name in self._candidates if name in wanted), next(iter(self._candidates)))

    async def _probe(self, name: str) -> bool:
        """Evaluate gold and null of an instance; return whether both were right."""
        before, began = set(self._unproven), time.monotonic()
        self._candidates.move_to_end(name)
        task = self._candidates[name]
        wrong = await asyncio.get_running_loop().run_in_executor(self.jobs, self._try, task)
        self._probing += time.monotonic() - began
        self.figures.probes.labels("wrong" if wrong else "right").inc()
        if wrong:
            self._quarantine(name, wrong, [key for key, each in self._unproven.items() if each.instance_id == name])
            return False
        if name in self._reasons:
            self._release(name)
        for key in before:
            answered = self._unproven.pop(key)
            if answered.instance_id != name:
                self._unproven[key] = replace(answered, vouched=True)
            if answered.instance_id == name or not self._needs_own_probe(answered):
                self._settle(key, True)
        for key in [each for each in self._unproven if each not in self._held][:-MOST]:
            del self._unproven[key]
        self._write()
        return True

    def _try(self, task: Task) -> str:
        """Return the fault of the answers to gold and null; empty if there is none."""
        name, own = task.instance.id, _get_own_patch(task.instance)
        for kind, patch in (("gold", own), ("null", "")):
            prediction = Prediction(instance_id=name, model=kind, patch=patch)
            asked = replace(task, prediction=prediction, runs_empty=True, fail_fast=False)
            verdict, _ = self.evaluator.judge_task(asked)
            if verdict.resolved != (kind == "gold") or verdict.outcome in INFRASTRUCTURE:
                return f"the {kind} patch of {name} was {verdict.outcome} in a probe: {cut_line(verdict.reason)}"
        return ""

    def _quarantine(self, name: str, reason: str, keys: Collection[str]) -> None:
        self._reasons[name] = reason
        self._show()
        for key in keys:
            answered = self._again[key] = self._unproven.pop(key)
            self.forget(key)
            if not self._settle(key, False):
                self.withdrawn.append(answered)
                self.withdrawals += 1
                self.figures.withdrawn.inc()
        self._write()

    def _drop(self, keys: Iterable[str]) -> None:
        """Drop answers that were given to nobody."""
        for key in [*keys]:
            del self._unproven[key]
            self.forget(key)
            self._settle(key, False)
        self._write()

    def _needs_own_probe(self, answered: UnprovenAnswer) -> bool:
        return self.hold is HoldChoice.INSTANCE and answered.instance_id in self._candidates

    def _settle(self, key: str, is_proven: bool) -> bool:
        """Let those who wait for an answer's proof go on; return whether anybody did."""
        held = self._held.pop(key, None)
        if held is not None:
            held.set_result(is_proven)
        return held is not None

    def _release(self, name: str) -> None:
        """Lift a quarantine, and have evaluated again what was withdrawn with it."""
        del self._reasons[name]
        self._show()
        for key, answered in [*self._again.items()]:
            if not self.find_reason(answered.instance_id):
                del self._again[key]
                if answered.task is not None:
                    self.evaluate_again(key, answered.task)

    def _write(self) -> None:
        lines = "".join(
            f"{each.id} {each.instance_id} {'vouched' if each.vouched else 'new'}\n" for each in self._unproven.values()
        )
        with suppress(OSError):
            replace_file(self.unproven_file, lines.encode())

    def _show(self) -> None:
        self.figures.quarantined.labels("engine").set(ENGINE in self._reasons)
        self.figures.quarantined.labels("instance").set(len(self._reasons.keys() - {ENGINE}))


def _get_own_patch(instance: Instance) -> str:
    """Return the patch of the instance itself that has to be resolved; empty if it has none."""
    return instance.test_patch if find_benchmark(instance.rule).patches_are_tests else instance.gold_patch
