"""Run the repository's own tests on a solver's changes, in a fresh container; no hidden test takes part."""

from collections.abc import Mapping, Sequence

from assay.agents.sampling.workspaces.container import PatchTests
from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import ApplyStatus, Instance, Prediction, PublishedImage, Status
from assay.harness.errors import AssayError, EngineError, UserError
from assay.harness.evaluation.evaluate import Task, evaluate
from assay.harness.runs.workbench import Workbench


class TestsNotRunError(AssayError):
    """A solver's changes could not be applied in a fresh container."""


def visible_tests(bench: Workbench, instance: Instance, image: str, labels: Mapping[str, str]) -> PatchTests:
    """Return a function that runs test files of an instance's base commit with a patch applied.

    The instance is stripped of hidden tests and everything derived from them. The solver's own patch takes the place
    of the gold patch, so that files it touches, tests included, stay as the solver left them.
    """

    def run(patch: str, files: Sequence[str], extra: Mapping[str, bytes]) -> dict[str, Status]:
        if isinstance(instance.environment, PublishedImage):
            raise UserError(
                "the script of a published image runs hidden tests, so that it cannot run a solver's own; "
                "use --environment recipe"
            )
        plan = bench.plan_files(instance, files).model_copy(update={"restore": (), "test_patch": "", "runner": ""})
        nothing = {"test_patch": "", "hints": "", "fail_to_pass": (), "pass_to_pass": (), "quarantined": ()}
        bare = instance.model_copy(update={**nothing, "gold_patch": patch, "assets": (), "origin": None})
        prediction = Prediction(instance_id=instance.id, patch=patch)
        label_test = find_benchmark(bare.rule).label_test
        task = Task(bare, prediction, plan, runs_empty=True, assets=lambda: extra, label_test=label_test)
        evidence = evaluate(task, image, bench.engine, labels).evidence
        if evidence.error:
            raise EngineError(evidence.error)
        if evidence.apply.status not in {ApplyStatus.APPLIED, ApplyStatus.EMPTY}:
            raise TestsNotRunError(f"the changes cannot be tested: {evidence.apply.detail}")
        return dict(evidence.report.tests)

    return run
