"""Open the workspace of an instance: build the agent's image, start the container, check it."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.agents.sampling.workspaces.agent_image import AgentImages, check_start
from assay.agents.sampling.workspaces.checkout import CheckoutWorkspace
from assay.agents.sampling.workspaces.container import ContainerSpec
from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.agents.sampling.workspaces.visible_tests import visible_tests
from assay.harness.domain import Instance, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.runs.workbench import Workbench

LIFETIME = 24 * 3600.0
"""Seconds after which an agent's container may be removed if its owner cannot be reached."""
STATEMENT = "STATEMENT.md"


@dataclass(frozen=True, slots=True)
class WorkspaceOpener:
    """Opens workspaces of instances."""

    bench: Workbench
    images: AgentImages
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
