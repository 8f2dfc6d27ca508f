"""A run of Assay: the predictions that it evaluated, or that a solver made."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from assay.harness.domain import Prediction
from assay.harness.errors import DataError, UserError, field_error
from assay.harness.files import read_model
from assay.harness.runs.manifest import Run, join_marks
from assay.instances.dataset.imports.base import Attempt, read_bytes, read_object, read_oracle
from assay.instances.dataset.predictions import read_predictions

NAME = "run of Assay"


def recognises(source: Path) -> bool:
    return read_model(source / "run.json", Run) is not None


def attempts(source: Path) -> Iterator[Attempt]:
    """Yield the predictions; a solver's samples are attempts 1, 2 and so on. Raises UserError for none, DataError."""
    evaluated, mark = source / "predictions.jsonl", read_oracle(source)
    samples = [source / "preds.jsonl", *sorted(source.glob("preds.*.jsonl"), key=_read_sample_number)]
    if evaluated.is_file():
        for each in _find_evaluated(evaluated):
            yield Attempt(
                each.instance_id, str(evaluated), each.patch, each.model, oracle=join_marks(mark, each.oracle)
            )
    elif samples[0].is_file():
        for number, path in enumerate(samples, start=1):
            attempt = number if len(samples) > 1 else None
            for each in read_predictions(path):
                yield Attempt(each.instance_id, str(path), each.patch, each.model, attempt, oracle=mark)
    else:
        raise UserError(f"{source}: the run has no predictions yet; repeat its command, which resumes it")


def _read_sample_number(path: Path) -> int:
    digits = path.name.split(".")[1]
    return int(digits) if digits.isdecimal() else 0


def _find_evaluated(path: Path) -> Iterator[Prediction]:
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        try:
            yield Prediction.model_validate(read_object(line, str(path)))
        except (ValidationError, DataError) as error:
            found = error if isinstance(error, DataError) else field_error(error)
            raise DataError(found.problem, file=str(path), line=number, field=found.field) from None
