"""Open the workspace of an instance: build the agent's image, start the container, check it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.agents.sampling.workspaces.agent_image import AgentImages, check_start
from assay.agents.sampling.workspaces.checkout import CheckoutWorkspace
from assay.agents.sampling.workspaces.container import ContainerSpec, PatchTests
from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import ApplyStatus, Instance, Prediction, PublishedImage, Status, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.errors import AssayError, EngineError, UserError
from assay.harness.evaluation.evaluate import Task, evaluate
from assay.harness.runs.workbench import Workbench

LIFETIME = 24 * 3600.0
"""Seconds after which an agent's container may be removed if its owner cannot be reached."""
STATEMENT = "STATEMENT.md"


@dataclass(frozen=True, slots=True)
class WorkspaceOpener:
    bench: Workbench
    images: AgentImages | None
    """None if other machines solve."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels of every container of the run."""

    @property
    def has_containers(self) -> bool:
        return self.bench.engine.has_containers

    @contextmanager
    def open(self, instance: Instance, mounts: Mapping[str, str]) -> Iterator[CheckoutWorkspace]:
        """Open a fresh workspace at an instance's base commit; it is removed when the context ends.

        ``mounts`` are read-only, path on the host to path in the container. Raises EngineError, and EnvironmentFailure
        if the image cannot be built, or holds more than the base commit.
        """
        labels = {**self.labels, "assay.instance": instance.id}
        with self.bench.image(instance) as image:
            if not self.has_containers:
                with statement_folder(self.bench, instance, image, labels) as workspace:
                    yield workspace
                return
            plan = self.bench.plan(instance)
            assert self.images is not None
            place = agent_container(self.bench.engine, self.images.image(image, plan), plan, labels, mounts)
            with place.open(visible_tests(self.bench, instance, image, labels)) as opened:
                check_start(opened)
                yield opened


def agent_container(
    engine: Engine, image: str, plan: TestPlan, labels: Mapping[str, str], mounts: Mapping[str, str]
) -> ContainerSpec:
    """Return the container of an agent: the tests' user and limits, but never network or capabilities."""
    limits = plan.limits.model_copy(update={"network": False, "capabilities": (), "seconds": LIFETIME})
    return ContainerSpec(engine, image, limits, labels, mounts, user=plan.user, root=plan.workdir, env=dict(plan.env))


@contextmanager
def statement_folder(
    bench: Workbench, instance: Instance, image: str, labels: Mapping[str, str]
) -> Iterator[CheckoutWorkspace]:
    """Open a folder that holds only the problem statement, for an engine without containers."""
    tests = visible_tests(bench, instance, image, labels)
    with tempfile.TemporaryDirectory(prefix="assay-agent-") as scratch:
        yield folder_workspace(
            Path(scratch) / "tree",
            {STATEMENT: instance.problem_statement},
            run_tests=lambda workspace, files, extra: tests(workspace.diff(), files, extra),
        )


class TestsNotRunError(AssayError):
    """A solver's changes could not be applied in a fresh container."""


def strip(instance: Instance, patch: str) -> Instance:
    """Return an instance without hidden tests and everything derived from them; ``patch`` stands for its gold patch."""
    nothing = {"test_patch": "", "hints": "", "fail_to_pass": (), "pass_to_pass": (), "quarantined": ()}
    return instance.model_copy(update={**nothing, "gold_patch": patch, "assets": (), "origin": None})


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
        bare = strip(instance, patch)
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
