"""Recorded calls made again on every side, with the arguments as they were and with mutations of them."""

import time
from functools import partial

from assay.harness.domain import GeneratorResult
from assay.harness.patchdiff.contract import Context, Contribution, Generator, joined
from assay.harness.patchdiff.generators.recording import CALLS, Recorded, record
from assay.harness.patchdiff.probing import Program, differences
from assay.harness.patchdiff.reproduction.calls import call_draft
from assay.harness.patchdiff.reproduction.confirm import reproduced
from assay.harness.patchdiff.reproduction.in_place import in_place_draft

NAME = "replay"
COPIES = 6000
"""Changed calls in all: many of each where few were recorded, at least ``FEWEST`` and at most ``MOST`` of each."""
FEWEST, MOST = 4, 150
IN_PLACE, IN_PLACE_OWN = 60, 200
"""Changed copies of a call that is made again where a test makes it, and where a test of the issue itself does."""
SECONDS = 8.0
LIMIT = 2.0
"""Seconds that one call may take."""


def _generate(context: Context) -> Contribution:
    """Record with gold, replay on all sides; then call the same functions again where the tests call them."""
    began = time.monotonic()
    recorded = record(context)
    took = round(time.monotonic() - began, 3)
    programs = [_in_process(context, recorded)] if recorded.calls else []
    programs += [_in_place(context, recorded)] if recorded.functions else []
    recording = Contribution(GeneratorResult(name=NAME, seconds=took, note=recorded.note))
    return joined([recording, *(differences(context, NAME, each) for each in programs)])


def _in_place(context: Context, recorded: Recorded) -> Program:
    settings = {
        "files": list(recorded.files),
        "tests": list(recorded.tests),
        "own": list(context.sides.instance.fail_to_pass),
        "functions": list(recorded.functions),
        "seed": context.settings.seed,
        "mutants": IN_PLACE,
        "own_mutants": IN_PLACE_OWN,
        "calls_cap": CALLS,
        "words": list(context.survey.words),
        "donors": list(recorded.strings),
        "limit": LIMIT,
    }
    return Program("in_place", "inplace", settings, SECONDS, partial(reproduced, make_draft=in_place_draft))


def _in_process(context: Context, recorded: Recorded) -> Program:
    settings = {
        "calls": list(recorded.calls),
        "seed": context.settings.seed,
        "mutants": min(MOST, max(FEWEST, COPIES // len(recorded.calls))),
        "words": list(context.survey.words),
        "donors": list(recorded.strings),
        "limit": LIMIT,
    }
    return Program(NAME, "replay", settings, SECONDS, partial(reproduced, make_draft=call_draft))


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
