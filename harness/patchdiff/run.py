"""Comparisons of a run: resume, save. An exception becomes a comparison that could not be made."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from assay import __version__
from assay.harness.domain import PatchDiffResult
from assay.harness.engines.base import Engine
from assay.harness.errors import AssayError
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.assess import Assessment, assess, not_assessed
from assay.harness.patchdiff.contract import Ask, Note, PlanTests, Settings
from assay.harness.patchdiff.generators import find_generators
from assay.harness.patchdiff.progress import Pulse
from assay.harness.patchdiff.sides import Sides
from assay.harness.runs.dispatch import Crew
from assay.harness.runs.executors import Executor
from assay.harness.runs.runner import Prepare
from assay.harness.runs.store import RunStore, SavedPatchDiff, content_key

Finished = Callable[[PatchDiffResult, bool], None]
"""Told of each comparison, and whether it was known already; may be called from any thread."""


@dataclass(frozen=True, slots=True)
class PatchDiffRunner:
    """Compares patches of a run with the gold patches, and keeps what comes out in the run's store."""

    store: RunStore
    engine: Engine
    prepare: Prepare
    executor: Executor
    settings: Settings
    plan_tests: PlanTests
    ask: Ask | None = None
    model: str = ""
    """Of ``ask``, since what it answers decides what is found."""
    jobs: int = 1
    fresh: bool = False
    finished: Finished = lambda _comparison, _known: None
    note: Note = lambda _text: None
    """Told what each comparison is at, every so many seconds; may be called from any thread."""
    every: float = 30.0
    abort: Callable[[], None] | None = None
    """Ends all work that is under way, at once; the engine's own by default."""

    def execute(self, tasks: Sequence[Task]) -> list[PatchDiffResult]:
        """Compare what has no comparison yet and return all, in the order of the tasks.

        Raises:
            KeyboardInterrupt: told to stop; what is finished is saved. PluginError: there is no such generator.

        In the main thread a second interrupt, or work that does not end after the first, ends the process with 130.
        """
        find_generators(self.settings.generators)
        known = {} if self.fresh else self._known(tasks)
        pending = [task for task in tasks if task.instance.id not in known]
        crew = Crew(self.executor, self.jobs, self.abort or self.engine.abort)
        for comparison in crew.run(partial(self._work, crew), pending):
            known[comparison.instance_id] = comparison
        return [known[task.instance.id] for task in tasks]

    def _known(self, tasks: Sequence[Task]) -> dict[str, PatchDiffResult]:
        known = {}
        for task in tasks:
            saved = self.store.load_patchdiff(task.instance.id)
            if saved is not None and saved.key == self._key(task) and not saved.comparison.error:
                known[task.instance.id] = saved.comparison
                self.finished(saved.comparison, True)
        return known

    def _key(self, task: Task) -> str:
        settings = repr(sorted(asdict(self.settings).items()))
        return hashlib.sha256(f"{content_key(task, __version__)}\0{settings}\0{self.model}".encode()).hexdigest()

    def _work(self, crew: Crew, task: Task) -> PatchDiffResult:
        with crew.at_work(task.instance.id):
            compared = self._compare(task)
        self.store.save_patchdiff(SavedPatchDiff(key=self._key(task), comparison=compared.comparison), compared.files)
        self.finished(compared.comparison, False)
        return compared.comparison

    def _compare(self, task: Task) -> Assessment:
        labels = {"assay.run": self.store.root.name, "assay.instance": task.instance.id}
        make = partial(Sides, task, engine=self.engine, labels=labels)
        try:
            sides = make(self.prepare(task.instance))
            with Pulse(lambda text: self.note(f"{task.instance.id}: {text}"), self.every) as note:
                return assess(sides, self.settings, self.plan_tests, self.ask, note)
        except AssayError as error:
            return Assessment(not_assessed(make(""), self.settings, str(error)))
        except Exception as error:  # a mistake of ours must not cost the other instances their comparisons
            return Assessment(not_assessed(make(""), self.settings, f"internal error: {error!r}"))
