"""Replay recorded patches and trajectories as a solver."""

from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from assay.agents.contract import Capabilities, Oracle, SolutionStatus, SolveOutcome, SolveSession
from assay.agents.trajectory import Step, Trajectory
from assay.harness.domain import Model
from assay.harness.errors import UserError

PATCHES = ("patch.diff", "{id}.patch", "{id}.diff", "{id}.pred")
TRAJECTORIES = ("trajectory.json", "{id}.trajectory.json", "{id}.json")


class ReplaySettings(Model):
    source: Path
    """A predictions file in SWE-bench's format, or a folder: of a solver's run, or with a patch and perhaps a
    trajectory (ATIF) in ``<id>/`` or ``<id>.*`` files."""


class ReplaySolver:
    """Applies the recorded patch of each instance and copies its recorded trajectory, if there is one."""

    Settings: ClassVar[type[Model]] = ReplaySettings
    name = "replay"
    version = "1"
    capabilities = Capabilities(oracle=frozenset({Oracle.INSTANCE_ID}), needs_model=False)

    def __init__(self, settings: ReplaySettings) -> None:
        """Read the source; raises UserError if it is missing or malformed."""
        source = settings.source.expanduser()
        if not source.exists():
            raise UserError(f"there is nothing to replay at {source}; set source to a predictions file or a folder")
        self._folder = source if source.is_dir() else None
        self._patches: dict[str, str] = {}
        if self._folder is None:
            from assay.instances.dataset.predictions import read_predictions

            self._patches = {each.instance_id.lower(): each.patch for each in read_predictions(source)}

    def solve(self, session: SolveSession) -> SolveOutcome:
        """Apply the recorded patch; if it does not apply, return it as the outcome's patch."""
        name = session.oracles.instance_id
        patch = self._patch(name)
        if patch is None:
            return SolveOutcome(status=SolutionStatus.AGENT_ERROR, error=f"nothing is recorded for {name}")
        recorded = self._trajectory(name)
        for step in recorded.steps if recorded else ():
            session.recorder.add(step)
        if recorded is None:
            session.recorder.add(Step(source="agent", message="applies the recorded patch", llm_call_count=0))
        if session.workspace.apply(patch):
            return SolveOutcome()
        return SolveOutcome(patch=patch, error="the recorded patch does not apply")

    def _patch(self, name: str) -> str | None:
        if self._folder is None:
            return self._patches.get(name.lower())
        file = _first(self._folder, name, PATCHES)
        return file.read_text(encoding="utf-8", errors="replace") if file else None

    def _trajectory(self, name: str) -> Trajectory | None:
        file = _first(self._folder, name, TRAJECTORIES) if self._folder else None
        if file is None:
            return None
        try:
            return Trajectory.model_validate_json(file.read_bytes())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"]))
            raise UserError(f"{file} is no trajectory in ATIF: {field}: {first['msg']}; import it first") from error


def _first(folder: Path, name: str, patterns: tuple[str, ...]) -> Path | None:
    """Return the first existing file of an instance: in a run's folder, in a folder of its name, or in the folder."""
    files = (
        place / pattern.replace("{id}", name)
        for place in (folder / "instances" / name / "0", folder / name, folder)
        for pattern in patterns
        if place != folder or "{id}" in pattern
    )
    return next(filter(Path.is_file, files), None)
