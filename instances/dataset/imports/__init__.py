"""Predictions from what other tools write, one module for each kind, found by content."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from assay.harness.domain import Prediction
from assay.harness.errors import DataError, UserError
from assay.instances.dataset.imports import assay_run, experiments, harbor, inspect_log, rows
from assay.instances.dataset.imports.base import Attempt, PredictionImport
from assay.instances.dataset.predictions import STDIN, check_id

IMPORTS: tuple[PredictionImport, ...] = (assay_run, harbor, experiments, inspect_log, rows)
"""The first that recognises a source reads it."""

__all__ = ["IMPORTS", "Imported", "PredictionImport", "import_predictions"]


@dataclass(frozen=True, slots=True)
class Imported:
    """Predictions of a source, one of each instance at most."""

    predictions: tuple[Prediction, ...]
    notes: tuple[str, ...]
    """Attempts that have no patch, and so no prediction, with the reason: one line each."""
    are_rows: bool = False
    """Whether they are a file of rows, which may have published verdicts."""


def import_predictions(source: Path, attempt: int | None = None) -> Imported:
    """Read the predictions in a file or folder: rows, or what another tool wrote.

    Args:
        attempt: number from 1 of the attempt to take of each instance; None if there is one of each.

    Raises:
        UserError: there is no such source, its kind is unknown, or it has several attempts and none is chosen.
        DataError: a part of it is wrong.
    """
    kind = _kind(source)
    found = []
    for each in kind.attempts(source):
        check_id(each.instance_id, file=each.place)  # another tool's record must not name a path
        found.append(each)
    chosen = found if attempt is None else [each for each in found if (each.number or 1) == attempt]
    _refuse_several(source, chosen)
    if not any(each.patch is not None for each in chosen):
        reason = f", such as {_note(chosen[0])}" if chosen else ""
        raise UserError(f"{source}: the {kind.NAME} has no prediction{reason}")
    predictions = tuple(each.prediction for each in chosen if each.patch is not None)
    notes = [_note(each) for each in chosen if each.patch is None]
    others = sorted({each.instance_id for each in found} - {each.instance_id for each in chosen})
    notes += (f"{name}: has no attempt {attempt}" for name in others)
    return Imported(predictions, tuple(notes), kind is rows and source != STDIN)


def _kind(source: Path) -> PredictionImport:
    for each in IMPORTS:
        if each.recognises(source):
            return each
    known = "run.json (Assay), all_preds.jsonl or preds.json (a submission or an agent) or trials (Harbor)"
    raise UserError(f"{source}: is a folder without {known}; name the file of predictions")


def _refuse_several(source: Path, attempts: list[Attempt]) -> None:
    """Raise UserError if an instance has several attempts: which one counts is for a person to say."""
    by_instance = defaultdict(list)
    for each in attempts:
        by_instance[each.instance_id.lower()].append(each)
    for several in by_instance.values():
        if len(several) > 1 and several[0].number == several[1].number:
            raise DataError("is there twice; keep one", file=several[1].place, instance=several[1].instance_id)
        if len(several) > 1:
            count = f"{len(several)} attempts at {several[0].instance_id}"
            command = f"assay dataset predictions {source} --attempt 1 -o preds.jsonl"
            raise UserError(f"{source}: has {count}; take one of each instance: {command}")


def _note(attempt: Attempt) -> str:
    return f"{attempt.instance_id}: {attempt.missing} ({attempt.place})"
