"""Where samples are solved: the workspace of an instance, from its image to the check at the start."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.agents.sampling.image import AgentImages, check_start
from assay.agents.sampling.testing import Bench, tree_tests
from assay.agents.sampling.workspaces.box import Place
from assay.agents.sampling.workspaces.checkout import TreeWorkspace
from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.harness.domain import Instance, TestPlan
from assay.harness.engines.base import Engine

LIFETIME = 24 * 3600.0
"""Seconds after which anybody may remove an agent's container whose owner cannot be asked."""
STATEMENT = "STATEMENT.md"


@dataclass(frozen=True, slots=True)
class Habitat:
    """Opens workspaces."""

    bench: Bench
    images: AgentImages
    labels: Mapping[str, str] = field(default_factory=dict)
    """Of all containers of the run."""

    @property
    def has_containers(self) -> bool:
        """Whether workspaces are containers, into which something can be mounted."""
        return self.bench.engine.name != "fake"

    @contextmanager
    def open(self, instance: Instance, mounts: Mapping[str, str]) -> Iterator[TreeWorkspace]:
        """Open a fresh workspace at an instance's base tree; it is gone when the context ends.

        Args:
            instance: whose tree.
            mounts: read-only, path on the host to path in the container.

        Raises:
            EnvironmentFailure: there is no image, or it holds what an agent must not find.
            EngineError: the engine failed.
        """
        labels = {**self.labels, "assay.instance": instance.id}
        image = self.bench.prepare(instance)
        if not self.has_containers:
            with acted_out(self.bench, instance, image, labels) as workspace:
                yield workspace
            return
        plan = self.bench.plan(instance)
        place = agent_place(self.bench.engine, self.images.image(image, plan), plan, labels, mounts)
        with place.open(tree_tests(self.bench, instance, image, labels)) as opened:
            check_start(opened)
            yield opened


def agent_place(
    engine: Engine, image: str, plan: TestPlan, labels: Mapping[str, str], mounts: Mapping[str, str]
) -> Place:
    """Return where an agent's container runs: as the tests' user, without a network and without privileges.

    Whatever a recipe gives its tests, an agent's container has neither network nor capabilities.
    """
    limits = plan.limits.model_copy(update={"network": False, "capabilities": (), "seconds": LIFETIME})
    return Place(engine, image, limits, labels, mounts, user=plan.user, root=plan.workdir, env=dict(plan.env))


@contextmanager
def acted_out(bench: Bench, instance: Instance, image: str, labels: Mapping[str, str]) -> Iterator[TreeWorkspace]:
    """Open a folder for an engine without containers, which has no trees either: it holds the statement alone."""
    tests = tree_tests(bench, instance, image, labels)
    with tempfile.TemporaryDirectory(prefix="assay-agent-") as scratch:
        yield folder_workspace(
            Path(scratch) / "tree",
            {STATEMENT: instance.problem_statement},
            run_tests=lambda workspace, files, extra: tests(workspace.diff(), files, extra),
        )
