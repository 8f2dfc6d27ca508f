"""The Python API: patches in, verdicts out."""

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Unpack

from assay.harness.closing import Closing
from assay.harness.domain import Instance, Prediction, Verdict
from assay.harness.engines.cancelling import Cancellation
from assay.harness.errors import RunStopped, UserError
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.runs.attempt import attempts, evaluate_once, grade_evaluation, may_retry
from assay.harness.runs.report import RunReport
from assay.instances.dataset.load import close_names, load
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace, WorkplaceSettings

AHEAD = 16
"""Evaluations that ``evaluate_many`` begins before their turn, for each of its jobs: a slow one holds up no others."""
MODEL = "patch"  # stands for the model of a patch that is given as text


class Evaluator(Closing):
    """Evaluates patches from Python: opens engine, sources and builder once, and keeps files only in a named folder.

    Safe to use from several threads. Leaving its context ends every container that is still at work.

    Example:
        >>> from assay import Evaluator
        >>> with Evaluator("releases") as evaluator:
        ...     verdict = evaluator.evaluate("pallets__flask-2.3.2", patch)
        ...     print(verdict.outcome, verdict.reward)
        resolved 1.0
    """

    def __init__(
        self,
        dataset: str | Path | Sequence[Instance] = (),
        *,
        split: str | None = None,
        place: Workplace | None = None,
        **settings: Unpack[WorkplaceSettings],
    ) -> None:
        """Open nothing yet.

        Args:
            dataset: alias, hub id, file, folder or instances; gives instances to those who name them by id.
            split: of a hub data set or folder.
            place: where patches are evaluated; closed with the evaluator.
            settings: of a new ``Workplace``, in place of ``place``.
        """
        if place is not None and settings:
            raise TypeError("give a place or its settings, not both")
        self.dataset, self.split = dataset, split
        self.place = place or Workplace(**settings)
        self._ended, self._loading = threading.Event(), threading.Lock()
        self._pool = ThreadPoolExecutor(self.place.jobs, thread_name_prefix="assay")

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The data set's instances; raises UserError for a data set that cannot be read."""
        return tuple(self._by_id.values())

    def evaluate(self, instance: Instance | str, patch: str | Prediction) -> Verdict:
        """Evaluate a patch in a fresh container.

        Args:
            instance: an instance, or the id of one of the data set, in any case.
            patch: a unified diff, or a prediction that holds one.

        Returns:
            The verdict. A failure of the engine or the environment is a verdict too (``infra_error`` after three
            attempts, ``env_error``), whose ``reward`` is None.

        Raises:
            UserError: there is no such instance. EngineUnavailable: no engine answers.
            RunStopped: the evaluator was closed meanwhile.
        """
        verdict, _ = self.judge(instance, patch)
        return verdict

    def judge(self, instance: Instance | str, patch: str | Prediction) -> tuple[Verdict, Evaluation]:
        """Evaluate a patch as ``evaluate`` does; return the evidence, output and report files with the verdict."""
        return self.judge_task(self.place.task(*self.pair(instance, patch)))

    def judge_task(self, task: Task, cancellation: Cancellation | None = None) -> tuple[Verdict, Evaluation]:
        """Evaluate a patch that ``Workplace.task`` has planned, as ``judge`` does.

        Args:
            task: instance, patch and plan.
            cancellation: ends the evaluation, its container too, when another thread asks for that.

        Raises:
            RunStopped: it was cancelled, or the evaluator was closed meanwhile.
        """
        cancellation = cancellation or Cancellation()
        for _ in attempts(self._ended):
            evaluation = evaluate_once(task, self.place.bench, _labels(task), cancellation)
            if self._ended.is_set() or cancellation.requested:
                what = "the evaluator is closed" if self._ended.is_set() else "cancelled"
                raise RunStopped(f"{task.instance.id}: {what}")
            if not may_retry(evaluation):
                break
        return grade_evaluation(task, evaluation), evaluation

    def evaluate_many(
        self, pairs: Iterable[tuple[Instance | str, str | Prediction]], jobs: int | None = None
    ) -> Iterator[Verdict]:
        """Evaluate pairs of an instance and a patch, several at once; yield the verdicts in the order of the pairs.

        What ``evaluate`` raises for a pair is raised at its turn, once the verdicts before it are out.

        Args:
            pairs: may be endless: it is read as evaluations are begun.
            jobs: evaluations at once; the evaluator's own number by default.
        """
        jobs = jobs or self.place.jobs
        pool = ThreadPoolExecutor(jobs, thread_name_prefix="assay")
        begun: deque[Future[Verdict]] = deque()
        try:
            for pair in pairs:
                begun.append(pool.submit(self.evaluate, *pair))
                while len(begun) >= AHEAD * jobs or (begun and begun[0].done()):
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        except KeyboardInterrupt:
            self.close()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    async def evaluate_async(self, instance: Instance | str, patch: str | Prediction) -> Verdict:
        """Evaluate a patch as ``evaluate`` does, ``jobs`` of them at once, without blocking the event loop.

        The tests of a call that is cancelled run to their end or to the evaluator's.
        """
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.evaluate, instance, patch)

    def run(
        self, pairs: Iterable[tuple[Instance | str, str | Prediction]], folder: str | Path, *, fresh: bool = False
    ) -> RunReport:
        """Evaluate pairs and keep everything in a run folder, as ``assay evaluate`` does.

        Args:
            pairs: at most one patch for each instance.
            folder: of the run; the same call resumes it. Folders side by side share verdicts on the same content.
            fresh: evaluate again what has a verdict there.

        Raises:
            UserError: an instance is unknown or there twice. RunStopped: a signal ended the run; it can be resumed.
        """
        found = [self.pair(*pair) for pair in pairs]
        names = [instance.id for instance, _ in found]
        twice = sorted(name for name, number in Counter(names).items() if number > 1)
        if twice:
            raise UserError(f"a run has one patch for each instance; there are several for {', '.join(twice)}")
        path = Path(folder).expanduser().absolute()
        report, _ = EvaluationRun(path.name, path.parent, self.place, fresh=fresh).evaluate(found, names)
        return report

    def pair(self, instance: Instance | str, patch: str | Prediction) -> tuple[Instance, Prediction]:
        """Return an instance and a prediction for it; raises UserError for an unknown id."""
        found = instance if isinstance(instance, Instance) else self._find(instance)
        if isinstance(patch, Prediction):
            return found, patch
        return found, Prediction(instance_id=found.id, model=MODEL, patch=patch)

    def expect(self, instance: Instance | str) -> None:
        """Have a container wait for an instance that is probably asked for first, once its image is built.

        Does nothing without ``spares``, or where as many instances are expected already.

        Raises:
            UserError: there is no such instance. EnvironmentFailure: its image cannot be built. EngineError: the engine
                failed.
        """
        task = self.place.task(*self.pair(instance, ""))
        self.place.expect(task, _labels(task))

    def close(self) -> None:
        """End every container that is at work; later calls raise RunStopped."""
        self._ended.set()
        self.place.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _find(self, name: str) -> Instance:
        with self._loading:
            known = self._by_id
        if name.lower() not in known:
            raise UserError(f"there is no instance {name}{close_names(name, known)}")
        return known[name.lower()]

    @cached_property
    def _by_id(self) -> dict[str, Instance]:
        found: Sequence[Instance]
        if isinstance(self.dataset, str | Path):
            sources = self.place.make_sources()
            found = load(str(self.dataset), split=self.split, published_images=True, sources=sources).instances
        else:
            found = self.dataset
        return {each.id.lower(): each for each in found}


def _labels(task: Task) -> dict[str, str]:
    return {"assay.instance": task.instance.id}
