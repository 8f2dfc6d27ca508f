"""The predictions of a run, a line of JSON each."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from assay.harness.domain import Prediction
from assay.harness.files import read_regular, replace_file


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    lines = "".join(json.dumps(each.model_dump()) + "\n" for each in predictions)  # a patch may not be UTF-8
    replace_file(path, lines.encode())


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Read a whole file; raises OSError, and ValueError for a line that is no prediction."""
    return tuple(map(_prediction, read_regular(path).splitlines()))


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
        return Prediction.model_validate_json(line)
    except ValidationError:  # a patch that is not UTF-8 has escapes that ``json`` alone reads
        return Prediction.model_validate(json.loads(line))
