"""The comparisons of a run with gold: resume, assess, save. An exception becomes a comparison not assessed."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from assay.harness.domain import PatchDiffResult
from assay.harness.engines.base import Engine
from assay.harness.errors import AssayError, AttemptLost
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.assess import PatchDiffRecord, assess, not_assessed
from assay.harness.patchdiff.contract import Ask, Settings
from assay.harness.patchdiff.generators import find_generators
from assay.harness.patchdiff.sides import Sides
from assay.harness.runs.crew import Progress, make_crew
from assay.harness.runs.keys import content_key, rooms_edition
from assay.harness.runs.pulse import Note, pulse, silent
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from assay.harness.runs.workbench import Workbench

KEPT = ".index/patchdiff"  # folder beside the runs for observations of trees without a candidate's patch


@dataclass(frozen=True, slots=True)
class PatchDiffRunner:
    """Compares patches of a run with the gold patches and saves the results in the run's store; the Work of a Crew."""

    store: RunStore
    bench: Workbench
    settings: Settings
    ask: Ask | None = None
    model: str = ""
    """Name of the model behind ``ask``: its answers decide what is found."""
    jobs: int = 1
    fresh: bool = False
    """Ignore saved comparisons."""
    note: Note = silent
    """Called in any thread with the current step of each comparison."""
    every: float = 30.0

    def execute(
        self, tasks: Sequence[Task], progress: Progress[Task, PatchDiffResult] | None = None
    ) -> list[PatchDiffResult]:
        """Compare patches without a saved comparison; return all, in order. Raises RunStopped, PluginError."""
        find_generators(self.settings.generators)
        return make_crew(self.bench, self.jobs).complete(self, tasks, fresh=self.fresh, progress=progress)

    def key(self, task: Task) -> str:
        return task.instance.id

    def find_known(self, task: Task) -> PatchDiffResult | None:
        """Return the saved comparison of the same content and settings, unless it has an error."""
        saved = self.store.load_patchdiff(task.instance.id)
        if saved is None or saved.key != self._content_key(task) or saved.comparison.error:
            return None
        return saved.comparison

    def plan(self, pending: Mapping[str, Task], _total: int) -> list[str]:
        return list(pending)

    def begin(self, task: Task, _number: int) -> None:
        """The journal has what was compared."""

    def attempt(self, task: Task, _number: int) -> PatchDiffRecord:
        """Compare one patch with gold; a cluster shows nobody the steps."""
        labels = {"assay.run": self.store.root.name, "assay.instance": task.instance.id}
        kept = None if self.fresh else self.store.root.parent / KEPT
        make_sides = partial(Sides, labels=labels, kept=kept)
        if self.bench.cluster is not None:
            try:
                return self.bench.cluster.attempt(
                    partial(assess_task, task, settings=self.settings, make_sides=make_sides)
                )
            except AttemptLost as error:
                return PatchDiffRecord(not_assessed(task, self.settings, str(error)))
        with pulse(lambda text: self.note(f"{task.instance.id}: {text}"), self.every) as note:
            return assess_task(task, self.bench, self.settings, make_sides, ask=self.ask, note=note)

    def may_retry(self, _task: Task, _assessment: PatchDiffRecord) -> bool:
        """Return False: the next run tries again what was not assessed."""
        return False

    def save(self, task: Task, assessment: PatchDiffRecord) -> PatchDiffResult:
        saved = SavedPatchDiff(key=self._content_key(task), comparison=assessment.comparison)
        self.store.save_patchdiff(saved, assessment.files)
        return assessment.comparison

    def _content_key(self, task: Task) -> str:
        settings = repr(sorted(asdict(self.settings).items()))
        parts = (content_key(task), rooms_edition("patchdiff"), settings, self.model)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def assess_task(
    task: Task,
    bench: Workbench,
    settings: Settings,
    make_sides: Callable[[Task, str, Engine], Sides],
    *,
    ask: Ask | None = None,
    note: Note = silent,
) -> PatchDiffRecord:
    """Compare a task's patch with gold; an error becomes a comparison that is not assessed."""
    try:
        with bench.image(task.instance, task.instance.gold_patch) as image:  # one for both sides
            task = replace(task, assets=bench.assets(task.instance))
            return assess(make_sides(task, image, bench.engine), settings, bench.plan_files, ask, note)
    except AssayError as error:
        problem = str(error)
    except Exception as error:  # a bug in Assay must not cost the other instances their comparisons
        problem = f"internal error: {error!r}"
    return PatchDiffRecord(not_assessed(task, settings, problem))
