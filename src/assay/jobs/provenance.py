"""Audits of trajectories, and what they and a screening say against passes, as every front door does it."""

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

from assay.agents.external.importers import import_file
from assay.agents.provenance.trajectory_audit import TrajectoryAudit, TrajectoryVerdict, audit_trajectory
from assay.agents.trajectory import Trajectory
from assay.harness.domain import Instance, Model
from assay.harness.errors import DataError, UserError
from assay.harness.exports.base import RunToExport
from assay.harness.files import read_text
from assay.harness.metrics.screening import EXCUSES
from assay.harness.patches.diff import MalformedPatchError
from assay.jobs.audit import SavedAudit
from assay.jobs.screen import screen_run


class AuditedTrajectory(Model):
    """The audit of one trajectory, or why there is none."""

    instance_id: str
    file: str
    audit: TrajectoryAudit | None = None
    problem: str = ""


def audit_file(path: Path, form: str, patch: Path | None = None, instance: Instance | None = None) -> TrajectoryAudit:
    """Audit the file of a trajectory; raises UserError, DataError.

    Args:
        path: the file.
        form: its form, a name in ``IMPORTERS``.
        patch: the patch; by default the file ``patch.diff`` beside it, or the submission that the record holds.
        instance: its instance; without one, nothing is known of the hidden tests and the project's name.
    """
    trajectory = import_file(form, path)
    beside = path.with_name("patch.diff")
    submitted = (trajectory.extra or {}).get("submission")
    if patch is None and not beside.is_file() and not isinstance(submitted, str):
        raise UserError(f"{path} holds no patch, and there is no patch.diff beside it; name one with --patch FILE")
    source = patch or (beside if beside.is_file() else None)
    return _audit(trajectory, read_text(source) if source else str(submitted), instance, str(source or path))


def _audit(trajectory: Trajectory, patch: str, instance: Instance | None, source: str) -> TrajectoryAudit:
    about = {"tests": instance.test_patch, "repo": instance.repo} if instance else {}
    try:
        return audit_trajectory(trajectory, patch, **about)
    except MalformedPatchError as error:
        raise DataError(f"is no patch: {error}", file=source) from None


def audit_run(run: RunToExport) -> Iterator[AuditedTrajectory]:
    """Audit the trajectory of each prediction of a run, those without one included."""
    for prediction in run.predictions:
        name = prediction.instance_id
        path = run.trajectories.get(name)
        if path is None:
            yield AuditedTrajectory(instance_id=name, file="", problem="no trajectory")
            continue
        try:
            found = _audit(import_file("atif", path), prediction.patch, run.store.load_instance(name), name)
        except (UserError, DataError) as error:
            yield AuditedTrajectory(instance_id=name, file=str(path), problem=str(error))
        else:
            yield AuditedTrajectory(instance_id=name, file=str(path), audit=found)
        run.progress(name)


def find_reproaches(run: RunToExport, saved: SavedAudit | None, cutoff: date | None) -> Mapping[str, tuple[str, ...]]:
    """Hold a screening and the audits of trajectories against passes; return their reproaches by instance id."""
    found: dict[str, list[str]] = {}
    for kind, rate in screen_run(run.store, saved, cutoff).reproaches.items():
        for name in rate.resolved_ids if kind not in EXCUSES else ():
            found.setdefault(name, []).append(f"screened: {kind}")
    for each in audit_run(run):
        if each.audit and each.audit.verdict is TrajectoryVerdict.LEAKED:
            kinds = ", ".join(sorted({leak.kind for leak in each.audit.leaks}))
            found.setdefault(each.instance_id, []).append(f"the trajectory shows the answer first: {kinds}")
    return {name: tuple(reasons) for name, reasons in found.items()}
