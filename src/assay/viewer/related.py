"""Links from the page of an instance to what is kept beside its verdict."""

from collections.abc import Iterator
from dataclasses import dataclass

from assay.harness.domain import PatchDiffFinding
from assay.viewer.files import read_inside
from assay.viewer.findings import load_comparison
from assay.viewer.runs import ViewedRun, Viewer
from assay.viewer.solved import find_solver
from assay.viewer.trajectories import FILE


@dataclass(frozen=True, slots=True)
class ShownTrajectory:
    """A trajectory that has a page."""

    run: str
    sample: str


@dataclass(frozen=True, slots=True)
class Related:
    """Everything else about one evaluation."""

    finding: PatchDiffFinding | None
    """The result of the comparison with gold; None if there is none."""
    differences: int
    trajectory: ShownTrajectory | None


def find_related(viewer: Viewer, run: ViewedRun, instance_id: str) -> Related:
    """Find an instance's comparison and trajectory in a run, and in the solver's run behind it."""
    saved = load_comparison(run, instance_id)
    comparison = saved.comparison if saved else None
    return Related(
        finding=comparison.finding if comparison else None,
        differences=len(comparison.divergences) if comparison else 0,
        trajectory=next(_trajectories(viewer, run, instance_id), None),
    )


def _trajectories(viewer: Viewer, run: ViewedRun, instance_id: str) -> Iterator[ShownTrajectory]:
    solver = find_solver(viewer, run)
    if solver is not None:
        sample = str(solver.sample)
        if read_inside(solver.run.store.root, ("instances", instance_id, sample, FILE), 0) is not None:
            yield ShownTrajectory(solver.run.key, sample)
