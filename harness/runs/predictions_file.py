"""The predictions of a run, a line of JSON each."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from assay.harness.domain import Prediction
from assay.harness.errors import DataError, field_error
from assay.harness.files import parse_json, read_regular, replace_file

LONGEST_ID = 200  # bytes; a file system takes 255, and folders that are being written have a longer name


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    lines = "".join(json.dumps(each.model_dump()) + "\n" for each in predictions)  # a patch may not be UTF-8
    replace_file(path, lines.encode())


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Read a whole file; raises OSError, and DataError for a line that is no prediction."""
    found = []
    for number, line in enumerate(read_regular(path).splitlines(), start=1):
        try:
            found.append(_prediction(line))
        except ValueError as error:
            problem = str(field_error(error) if isinstance(error, ValidationError) else error)
            raise DataError(f"is no prediction: {problem}", file=str(path), line=number) from None
    return tuple(found)


def readable_predictions(path: Path) -> list[Prediction]:
    """Read a file that may be missing; a line that cannot be read is no prediction."""
    try:
        lines = read_regular(path).splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        with suppress(ValueError):
            found.append(_prediction(line))
    return found


def _prediction(line: bytes) -> Prediction:
    try:
        found = Prediction.model_validate_json(line)
    except ValidationError:  # a patch that is not UTF-8 has escapes that ``json`` alone reads
        found = Prediction.model_validate(parse_json(line))
    if "\0" in found.instance_id or len(found.instance_id.encode()) > LONGEST_ID:
        raise ValueError("its instance_id can name no folder")
    return found
