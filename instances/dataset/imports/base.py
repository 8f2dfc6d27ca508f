"""The Protocol of imports, what they find, and the bounded reading of files that other tools wrote."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from assay.harness.domain import Prediction
from assay.harness.errors import DataError, UserError
from assay.harness.files import read_model
from assay.harness.runs.manifest import Run

MEMBER_BYTES = 256 * 1024 * 1024  # the largest file, or member of an archive, that is read whole


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at one instance, as another tool recorded it."""

    instance_id: str
    place: str
    """File or part of a file, for messages."""
    patch: str | None = None
    """None if the record has no patch; an empty one is a prediction."""
    model: str = ""
    number: int | None = None
    """Number from 1 among the attempts at this instance; None if each instance has one attempt."""
    missing: str = ""
    """Why there is no patch."""
    oracle: str = ""
    """Parts of the answer that the solver was given, as a run of Assay says; separated by commas."""

    @property
    def prediction(self) -> Prediction:
        patch = self.patch or ""
        return Prediction(instance_id=self.instance_id, model=self.model, patch=patch, oracle=self.oracle)


class PredictionImport(Protocol):
    """A source of predictions: a module with these members, listed in ``IMPORTS``."""

    NAME: str
    """What messages call it."""

    def recognises(self, source: Path) -> bool:
        """Return whether a file or folder is of this kind, by its content; must not raise."""
        ...

    def attempts(self, source: Path) -> Iterator[Attempt]:
        """Yield every attempt, those without a patch too; raises UserError that names file, field and remedy."""
        ...


def read_oracle(folder: Path) -> str:
    run = read_model(folder / "run.json", Run)
    return run.oracle if run else ""


def read_head(source: Path, size: int = 4096) -> bytes:
    """Return the first bytes of a file; none if it is no regular file or cannot be read."""
    try:
        with source.open("rb") as file:
            return file.read(size) if source.is_file() else b""
    except OSError:
        return b""


ROWS = "give its predictions as rows (.jsonl)"  # remedy for what is too large
AGAIN = "copy or write it again"  # remedy for what is damaged


def read_bytes(path: Path, limit: int = MEMBER_BYTES, remedy: str = ROWS) -> bytes:
    """Return a regular file's content; raises UserError if there is none, DataError above ``limit`` bytes."""
    if not path.is_file():
        raise UserError(f"{path}: there is no such file")
    try:
        with path.open("rb") as file:
            return read_limited(file, str(path), limit, remedy)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def read_limited(file: IO[bytes], place: str, limit: int = MEMBER_BYTES, remedy: str = ROWS) -> bytes:
    """Return the rest of a stream; raises DataError if that is more than ``limit`` bytes."""
    content = file.read(limit + 1)
    if len(content) > limit:
        raise DataError(f"is larger than {limit // 1024**2} MiB; {remedy}", file=place)
    return content


def read_object(content: bytes, place: str) -> dict[str, Any]:
    """Return the JSON object in a file's content; raises DataError if it is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DataError(f"is not JSON: {reason}; {AGAIN}", file=place) from None
    if not isinstance(found, dict):
        raise DataError(f"is not a JSON object; {AGAIN}", file=place)
    return found


def part(value: Any, *keys: str) -> Any:
    """Look nested keys up; None where one is missing or no object."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def get_text(record: Mapping[str, Any], field: str, place: str) -> str:
    """Return a text field; raises DataError if it is missing, empty or no text."""
    value = part(record, *field.split("."))
    if not isinstance(value, str) or not value:
        raise DataError("is missing or no text; correct the record", file=place, field=field)
    return value


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder, sorted; symbolic links are left out, so none leads outside."""
    for parent, folders, names in os.walk(folder) if not folder.is_symlink() else ():
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if not path.is_symlink() and path.is_file():
                yield path
