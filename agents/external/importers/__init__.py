"""Trajectories that agents of others write, read into ATIF. To add a form, write a module with ``read`` and name it."""

from importlib import import_module
from pathlib import Path

from pydantic import ValidationError

from assay.agents.trajectory import Trajectory
from assay.harness.errors import DataError, UserError

IMPORTERS = {
    "sweagent": "assay.agents.external.importers.sweagent",
    "mini": "assay.agents.external.importers.mini",
    "claude_stream": "assay.agents.external.importers.claude_stream",
    "codex_json": "assay.agents.external.importers.codex_json",
}
"""Name of a form to the module whose ``read`` takes the bytes of a file and returns a trajectory."""


def import_trajectory(form: str, content: bytes, source: str = "") -> Trajectory:
    """Read a trajectory.

    Args:
        form: a name among ``IMPORTERS``.
        content: of the file.
        source: the file's name, for errors.

    Raises:
        UserError: there is no such form, or the file is not of it; says where.
    """
    if form not in IMPORTERS:
        raise UserError(f"there is no importer {form!r}; known are {', '.join(sorted(IMPORTERS))}")
    try:
        trajectory: Trajectory = import_module(IMPORTERS[form]).read(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(
            f"this is no trajectory of the form {form}: {first['msg']}", file=source, field=field
        ) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"this is no trajectory of the form {form}: {error}", file=source) from error
    return trajectory


def import_file(form: str, path: Path) -> Trajectory:
    """Read a trajectory from a file; raises UserError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    return import_trajectory(form, content, str(path))
