"""Recorded calls made again on every side, with the arguments as they were and with mutations of them."""

from functools import partial

from assay.harness.domain import GeneratorResult
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.generators.recording import record
from assay.harness.patchdiff.probing import Program, differences
from assay.harness.patchdiff.reproduction.calls import call_draft
from assay.harness.patchdiff.reproduction.confirm import reproduced

NAME = "replay"
COPIES = 6000
"""Changed calls in all: many of each where few were recorded, at least ``FEWEST`` and at most ``MOST`` of each."""
FEWEST, MOST = 4, 150
SECONDS = 8.0
LIMIT = 2.0
"""Seconds that one call may take."""


def _generate(context: Context) -> Contribution:
    """Record with gold, then make the calls again on all sides."""
    recorded = record(context)
    if not recorded.calls:
        return Contribution(GeneratorResult(name=NAME, note=recorded.note))
    settings = {
        "calls": list(recorded.calls),
        "seed": context.settings.seed,
        "mutants": min(MOST, max(FEWEST, COPIES // len(recorded.calls))),
        "words": list(context.survey.words),
        "donors": list(recorded.strings),
        "limit": LIMIT,
    }
    reproduce = partial(reproduced, make_draft=call_draft)
    tests = [path for path in context.survey.test_files if any(str(c["test"]).startswith(path) for c in recorded.calls)]
    return differences(context, Program(NAME, settings, context.paced(SECONDS), reproduce, tests=tests))


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
