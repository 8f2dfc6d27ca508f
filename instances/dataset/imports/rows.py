"""Predictions as rows: SWE-bench's, sb-cli's and Assay's own files (.jsonl or .json)."""

from collections.abc import Iterator
from pathlib import Path

from assay.harness.runs.manifest import join_marks
from assay.instances.dataset.imports.base import Attempt, read_oracle
from assay.instances.dataset.predictions import read_predictions

NAME = "file of predictions"


def recognises(source: Path) -> bool:
    return not source.is_dir()


def attempts(source: Path) -> Iterator[Attempt]:
    """Yield one attempt for each row, marked as the run in the file's folder is; raises DataError."""
    mark = read_oracle(source.parent)
    for each in read_predictions(source):
        yield Attempt(each.instance_id, str(source), each.patch, each.model, oracle=join_marks(mark, each.oracle))
