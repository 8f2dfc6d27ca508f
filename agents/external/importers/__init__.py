"""Importers of other projects' agent records into ATIF, one module each."""

from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from assay.agents.external.importers import atif, claude_stream, codex_json, mini, sweagent
from assay.agents.trajectory import Trajectory
from assay.harness.errors import DataError, UserError
from assay.harness.names import did_you_mean
from assay.harness.plugins import Registry


class TrajectoryImporter(Protocol):
    """A module that reads one format."""

    def read(self, content: bytes) -> Trajectory:
        """Read a record; raises ValueError if it is none of the format."""
        ...


IMPORTERS = Registry[TrajectoryImporter](
    "importer",
    "",
    {"sweagent": sweagent, "mini": mini, "claude_stream": claude_stream, "codex_json": codex_json, "atif": atif},
)


def import_trajectory(format_name: str, content: bytes, source: str = "") -> Trajectory:
    """Read a trajectory of a format in ``IMPORTERS``, else raise UserError; ``source`` names the file in errors."""
    if format_name not in IMPORTERS:
        raise UserError(f"there is no importer {format_name!r}{did_you_mean(format_name, IMPORTERS)}")
    problem = f"this is not a trajectory in the format {format_name}"
    try:
        return IMPORTERS[format_name].read(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{problem}: {first['msg']}", file=source, field=field) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"{problem}: {error}", file=source) from error


def import_file(format_name: str, path: Path) -> Trajectory:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    return import_trajectory(format_name, content, str(path))
