"""A folder with files of predictions: a submission to a leaderboard, or what an agent wrote."""

from collections.abc import Iterator
from pathlib import Path

from assay.harness.errors import UserError
from assay.instances.dataset.imports import rows
from assay.instances.dataset.imports.base import Attempt

NAME = "folder of predictions"
PLACES = (
    "all_preds.jsonl",
    "preds.jsonl",
    "preds.json",
    "*/preds.json",
    "evaluation/*/*/all_preds.jsonl",
    "evaluation/*/*/*/all_preds.jsonl",
)
"""Patterns of the files' places; the first that matches counts.

An entry of experiments has the first; sb-cli takes the next two; mini-swe-agent and SWE-agent write preds.json.
The others are submissions to SWE-bench-Live, to SWE-bench and SWE-PolyBench, and to Multi-SWE-bench (a file for each
language).
"""


def recognises(source: Path) -> bool:
    """Return whether a folder has a file at one of these places."""
    return bool(_files(source))


def attempts(source: Path) -> Iterator[Attempt]:
    """Yield one attempt for each row; raises DataError as ``read_predictions``, UserError for several submissions."""
    files = _files(source)
    names = sorted({path.parent.name for path in files})
    if len(names) > 1:
        raise UserError(
            f"{source}: holds {len(names)} submissions; name the folder of one of them: {', '.join(names[:5])}"
        )
    for path in files:
        yield from rows.attempts(path)


def _files(source: Path) -> list[Path]:
    for place in PLACES:
        found = sorted(path for path in source.glob(place) if path.is_file())
        if found:
            return found
    return []
