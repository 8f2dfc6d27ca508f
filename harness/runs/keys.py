"""What saved results depend on: their inputs, and Assay's own code by its hash, so that nobody has to keep numbers.

A release that changes neither leaves every saved evaluation valid; one that changes only the grading has them graded
again from their evidence.
"""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from assay.harness.evaluation.evaluate import Task
from assay.harness.files import code_edition

EVALUATION = ("benchmarks", "domain", "engines", "evaluation", "languages", "patches", "reports", "runners")
"""Rooms of the harness that decide what runs in a container and what is read from it."""
GRADING = ("domain", "grading", "statistics.py")
"""Rooms that decide which verdict evidence gives."""


def edition_of(*rooms: str) -> str:
    """Return the hash of all code in some rooms of the harness."""
    return code_edition(*(Path(__file__).parent.parent / room for room in rooms))


def grading_edition() -> str:
    """Return the edition of the grading, which is saved with each verdict."""
    return edition_of(*GRADING)


def content_key(task: Task) -> str:
    """Return the hash of all that an evaluation depends on; a saved one with another key is stale."""
    parts = (
        task.instance.model_dump_json(),
        task.plan.model_dump_json(),
        json.dumps([task.prediction.patch, task.runs_empty, task.fail_fast]),
        edition_of(*EVALUATION),
    )
    return sha256("\0".join(parts).encode()).hexdigest()


def full(task: Task) -> Task | None:
    """Return the task whose saved evaluation answers this one, too: all tests are run; None if they are anyway."""
    return replace(task, fail_fast=False) if task.fail_fast else None
