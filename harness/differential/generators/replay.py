"""Recorded calls made again on every side, with the arguments as they were and with mutations of them."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from assay.harness.differential.generators.base import Context, Found
from assay.harness.differential.generators.recording import record
from assay.harness.differential.probing import Program, differences
from assay.harness.differential.reproduction.minimise import reproduced
from assay.harness.differential.reproduction.reproduce import call_drafts
from assay.harness.domain import GeneratorResult

NAME = "replay"
COPIES = 3000
"""Changed calls in all: many of each where few were recorded, at least ``FEWEST`` and at most ``MOST`` of each."""
FEWEST, MOST = 4, 80
SECONDS = 8.0
LIMIT = 2.0
"""Seconds that one call may take."""


def generate(context: Context) -> Found:
    """Record with gold, replay on all sides."""
    began = time.monotonic()
    recorded = record(context)
    if not recorded.calls:
        return Found(GeneratorResult(name=NAME, seconds=round(time.monotonic() - began, 3), note=recorded.note))
    return differences(context, NAME, program(context, NAME, calls=recorded.calls))


def program(
    context: Context,
    name: str,
    *,
    calls: Sequence[Mapping[str, Any]],
    literal_calls: Sequence[Mapping[str, Any]] = (),
) -> Program:
    """Return the program that makes calls again.

    Args:
        context: the comparison.
        name: of the generator.
        calls: as recorded.
        literal_calls: module, qualname and the text of ``(args, kwargs)``.
    """
    settings = {
        "calls": list(calls),
        "literal_calls": list(literal_calls),
        "seed": context.settings.seed,
        "mutants": min(MOST, max(FEWEST, COPIES // (len(calls) + len(literal_calls)))),
        "words": list(context.survey.words),
        "limit": LIMIT,
    }
    return Program(name, "replay.py", settings, SECONDS, partial(reproduced, make_drafts=call_drafts))
