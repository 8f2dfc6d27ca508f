"""Running an instance's hidden tests, as they are or with other text, on base, on gold, or with a patch."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.harness.domain import FAILING, PASSING, ApplyStatus, Status
from assay.harness.engines.base import Engine
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.languages.recorders import RECORDS
from assay.harness.patches.diff import leave_out
from assay.harness.reports import lookup
from assay.harness.rulings.normalise import match_labels

OUT = "/tmp/assay-report"
READING = 60.0
"""Seconds in which files are copied."""
Note = Callable[[str], object]


def silent(_step: str) -> None:
    """Show nothing of the steps."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """A task, and where its tests run; each run has a fresh container."""

    __test__ = False

    task: Task
    image: str
    engine: Engine
    labels: Mapping[str, str] = field(default_factory=dict)

    def read(self, paths: Sequence[str], patch: str = "") -> dict[str, str]:
        """Return the files among ``paths`` that exist and are UTF-8, with a patch and the tests; raises as ``run``."""
        copies = (f"[ ! -f {path} ] || cp --parents -- {path} {OUT}/" for path in map(shlex.quote, paths))
        command = "\n".join([f"mkdir -p {OUT}", *copies, ""])
        bare = {"command": command, "report_path": OUT, "report_format": "status_json", "runner": "", "guarded": False}
        limits = self.task.plan.limits.model_copy(update={"seconds": READING})
        plan = self.task.plan.model_copy(update={**bare, "limits": limits})
        left = self._evaluate(replace(self.task, plan=plan), patch).report_files
        texts = {path: left[path].decode(errors="replace") for path in paths if path in left}
        return {path: text for path, text in texts.items() if text.encode() == left[path]}

    def run(self, patch: str, files: Mapping[str, bytes] | None = None) -> Evaluation:
        """Run the tests with a patch, and ``files`` in place of theirs; raises EngineError, or EnvironmentFailure."""
        return self._evaluate(self.task, patch, files)

    def run_gold(self, files: Mapping[str, bytes]) -> Evaluation:
        """Run the tests as ``run`` does, with the gold patch."""
        return self.run(self.task.instance.gold_patch, files)

    def read_statuses(self, evaluation: Evaluation) -> Callable[[str], set[Status]]:
        """Return a function from a label to the statuses of its tests; none if they did not run."""
        tests = match_labels(self.task.instance, evaluation.evidence.report.tests)
        return lambda label: {*lookup(label, tests)} - {Status.MISSING}

    def _evaluate(self, task: Task, patch: str, files: Mapping[str, bytes] | None = None) -> Evaluation:
        prediction = task.prediction.model_copy(update={"patch": patch})
        assets = {**task.assets(), **(files or {})}
        plan = task.plan.model_copy(update={"test_patch": leave_out(task.plan.test_patch, files or {})})
        task = replace(task, prediction=prediction, plan=plan, runs_empty=True, fail_fast=False)
        found = evaluate(
            replace(task, assets=lambda: assets, records=RECORDS if files else ""), self.image, self.engine, self.labels
        )
        if found.evidence.error:
            raise EngineError(found.evidence.error)
        applied = found.evidence.apply
        if applied.status not in {ApplyStatus.APPLIED, ApplyStatus.EMPTY}:
            raise EnvironmentFailure(f"the tree for counter-tests cannot be made: {applied.detail}")
        return found


def summarise(statuses: set[Status]) -> Status:
    """Return whether a counter-test passed, failed, or did not run; of several, one that fails is enough."""
    if statuses & FAILING:
        return Status.FAILED
    return Status.PASSED if statuses & PASSING else Status.MISSING
