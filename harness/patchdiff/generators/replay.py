"""Recorded calls made again on every side, with the arguments as they were and with mutations of them.

The suite makes these calls with gold: of the changed functions, and of their callers.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from assay.harness.domain import GeneratorResult
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.generators.suites.reach_map import ReachMap
from assay.harness.patchdiff.probe.running import bare_name, select_files
from assay.harness.patchdiff.probing import Program, explain_absence, find_differences, run_with_gold
from assay.harness.patchdiff.reproduction.calls import make_call_draft
from assay.harness.patchdiff.reproduction.confirm import reproduce

NAME = "replay"
FILES = 12  # test files, the nearest first, whose calls are recorded
CALLS = 40  # different calls of one function that are kept
PART = 0.5  # share of the turn for recording
COPIES = 6000
"""Changed calls in all: many of each where few were recorded, from ``FEWEST`` to ``MOST`` of each."""
FEWEST, MOST = 4, 150
RECORD_SECONDS, SECONDS = 20.0, 8.0
LIMIT = 2.0  # seconds of one call


def record(context: Context) -> Sequence[Mapping[str, Any]]:
    """Run the nearest test files with gold once; return the lines of the probe ``record``, most of them calls."""
    files = ReachMap(context).promising(context.survey.test_files)[:FILES]
    own = list(context.sides.instance.fail_to_pass)
    settings = {"files": files, "functions_cap": 10, "calls_cap": CALLS, "own": own}
    program = Program("record", settings, context.pace(RECORD_SECONDS), tests=files)
    return run_with_gold(context.part(PART), program)


def _generate(context: Context) -> Contribution:
    lines = record(context)
    calls = [line for line in lines if "qualname" in line]
    if not calls:
        note = explain_absence("no call of a changed function could be recorded", lines)
        return Contribution(GeneratorResult(name=NAME, note=note))
    own = {bare_name(test) for test in context.sides.instance.fail_to_pass}
    others = sum(bare_name(call["test"]) not in own for call in calls)
    weight = max(1, others // max(1, len(calls) - others))  # the issue's own tests have half of all copies
    settings = {
        "calls": [{**call, "weight": weight if bare_name(call["test"]) in own else 1} for call in calls],
        "seed": context.settings.seed,
        "mutants": min(MOST, max(FEWEST, COPIES // len(calls))),
        "words": list(context.survey.words),
        "donors": [text for line in lines for text in line.get("strings", ())],
        "limit": LIMIT,
    }
    make_files = partial(reproduce, make_draft=make_call_draft)
    tests = select_files([str(each["test"]) for each in calls], context.survey.test_files)
    return find_differences(context, NAME, Program(NAME, settings, context.pace(SECONDS), make_files, tests=tests))


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
