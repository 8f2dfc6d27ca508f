"""Existing tests with other inputs: every operand of an assertion is observed, under mutated literals and names.

Test amplification by observation, as in DSpot, without a model: the oracle is the gold patch.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from assay.harness import languages
from assay.harness.domain import GeneratorResult
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.generators import copies
from assay.harness.patchdiff.generators.suites.reach_map import ReachMap
from assay.harness.patchdiff.probe.running import bare_name, select_files
from assay.harness.patchdiff.probing import Program, explain_absence, find_differences, run_with_gold
from assay.harness.patchdiff.reproduction.amplified import make_amplified_draft
from assay.harness.patchdiff.reproduction.confirm import reproduce

NAME = "amplify"
LOOKED_AT = 16  # test files, the nearest first, that are searched for tests that reach a target
FILES = 6  # files with such tests that are amplified
COPIES = 6000
"""Changed tests in all: many of each where few reach a target, from ``FEWEST`` to ``MOST`` of each."""
FEWEST, MOST = 8, 400
OWN_COPIES, MOST_OWN = 6000, 1500  # changed copies of the issue's own tests in all, and at most of each
SECONDS = 10.0
SEARCH = 0.4  # share of the turn for the search for tests
LIMIT = 2.0  # seconds of one test
COPIED = frozenset(name for name, language in languages.LANGUAGES.items() if language.SYNTAX.copying)
"""Languages in which the project itself runs copies of tests with other literals."""


def _generate(context: Context) -> Contribution:
    """Find the test files that reach a target with gold; observe their tests and mutations of them on all sides."""
    if copying := languages.find(context.sides.instance.language).SYNTAX.copying:
        return copies.generate(context, copying)
    tests, lines = find_tests(context)
    files = select_files(tests, context.survey.test_files)[:FILES]
    if not files:
        return Contribution(GeneratorResult(name=NAME, note=explain_absence("no test reaches a target", lines)))
    own = {bare_name(test) for test in context.sides.instance.fail_to_pass}
    each = min(MOST, max(FEWEST, COPIES // len(tests)))
    of_own = min(MOST_OWN, max(each, OWN_COPIES // max(1, sum(bare_name(test) in own for test in tests))))
    return find_differences(context, NAME, _program(context, files, tests, each, of_own))


def find_tests(context: Context) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the tests of the nearest files that reach a target with gold, and the lines of the search."""
    looked_at = ReachMap(context).promising(context.survey.test_files)[:LOOKED_AT]
    lines = run_with_gold(context.part(SEARCH), _program(context, looked_at))
    return list(dict.fromkeys(str(line["test"]) for line in lines if line.get("target"))), lines


def _program(context: Context, files: Sequence[str], tests: Sequence[str] = (), each: int = 0, own: int = 0) -> Program:
    settings = {
        "files": list(files),
        "tests": list(tests),
        "seed": context.settings.seed,
        "mutants": each,
        "own": list(context.sides.instance.fail_to_pass),
        "own_mutants": own,
        "words": list(context.survey.words) if tests else [],
        "limit": LIMIT,
    }
    make_files = partial(reproduce, make_draft=make_amplified_draft)
    return Program(NAME, settings, context.pace(SECONDS), make_files, tests=files)


GENERATOR = Generator(_generate, languages=frozenset({"python", *COPIED}))
