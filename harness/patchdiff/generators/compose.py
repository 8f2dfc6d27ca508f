"""Calls that no test makes: the issue's own snippets and the nearest tests, changed by operators (a table).

An operator changes a call by what the changed code asks for, where ``amplify`` changes what a test has.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from assay.harness.domain import GeneratorResult
from assay.harness.patchdiff.asking import find_asked
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.generators.amplify import LIMIT, find_tests
from assay.harness.patchdiff.generators.snippets import write_snippets
from assay.harness.patchdiff.probe.operators import SNIPPET
from assay.harness.patchdiff.probe.running import bare_name, select_files
from assay.harness.patchdiff.probing import Program, explain_absence, find_differences
from assay.harness.patchdiff.reproduction.amplified import make_amplified_draft
from assay.harness.patchdiff.reproduction.confirm import decode, reproduce
from assay.harness.patchdiff.sides import Side, read_files
from assay.harness.patches.diff import find_touched_paths

NAME = "compose"
FILES = 4  # test files, the nearest first, beside that of the snippets
COPIES, OWN_COPIES = 3000, 4000  # changed tests in all, and of the issue's own
FEWEST, MOST, MOST_OWN = 6, 60, 500  # of each
SECONDS = 14.0
FILE = "test_assay_issue.py"


def _generate(context: Context) -> Contribution:
    reaching, lines = find_tests(context)
    mine, seen = (
        {bare_name(test) for test in context.sides.instance.fail_to_pass},
        [str(each.get("test")) for each in lines],
    )
    found = list(dict.fromkeys([*reaching, *(test for test in seen if bare_name(test) in mine)]))
    snippets = _write_snippets(context) if SNIPPET in context.settings.operators else {}
    path, (text, names) = next(iter(snippets.items()), ("", ("", [])))
    files = [*snippets, *select_files(found, context.survey.test_files)[:FILES]]
    if not files:
        return Contribution(GeneratorResult(name=NAME, note=explain_absence("no test reaches a target", lines)))
    own = [*(f"{path}::{name}" for name in names), *(test for test in found if bare_name(test) in mine)]
    settings: Mapping[str, Any] = {
        "files": files,
        "tests": [*(f"{path}::{name}" for name in names), *found],
        "own": own,
        "snippets": path,
        "seed": context.settings.seed,
        "mutants": min(MOST, max(FEWEST, COPIES // max(1, len(found)))),
        "own_mutants": min(MOST_OWN, OWN_COPIES // max(1, len(own))),
        "words": list(context.survey.words),
        "operators": list(context.settings.operators),
        "asked": asdict(find_asked(context.survey.texts, context.survey.targets, context.survey.words)),
        "limit": LIMIT,
    }
    laid = {path: text} if path else {}
    make_files = partial(reproduce, make_draft=make_amplified_draft, laid=laid)
    program = Program("amplify", settings, context.pace(SECONDS), make_files, files=laid, tests=files)
    return find_differences(context, NAME, program)


def _write_snippets(context: Context) -> dict[str, tuple[str, list[str]]]:
    """Return the snippets' test file and its tests, by its path: beside the instance's first own test file."""
    own = [path for path in context.survey.test_files if path in find_touched_paths(context.sides.instance.test_patch)]
    sources = read_files(context.sides, Side.GOLD, own[:FILES]) if own else {}
    text, names = write_snippets(context.sides.instance.problem_statement, map(decode, sources.values()))
    folder = PurePosixPath(next(iter([*own, *context.survey.test_files]), "")).parent
    return {(folder / FILE).as_posix(): (text, names)} if text else {}


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
