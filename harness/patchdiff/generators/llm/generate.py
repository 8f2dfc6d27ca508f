"""Tests that a language model writes to distinguish the two patches: PatchDiff's own way (arXiv 2503.15223).

Whatever the model claims, a test counts only if it passes with gold and fails with the candidate, and if what it looks
at, observed as ``amplify`` does, differs every time while a target runs on both sides.
"""

from collections.abc import Collection
from dataclasses import replace
from difflib import unified_diff
from pathlib import PurePosixPath

from assay.harness.domain import GeneratorResult
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.decide import ORDER, is_flagged
from assay.harness.patchdiff.generators.llm.prompts import PromptMaterial
from assay.harness.patchdiff.generators.llm.protocol import TriedFile, converse
from assay.harness.patchdiff.generators.replay import record
from assay.harness.patchdiff.probe.running import bare_name
from assay.harness.patchdiff.probing import Program, Suspects, find_differences
from assay.harness.patchdiff.sides import Side
from assay.harness.patchdiff.survey import Survey
from assay.harness.patches.diff import read_diff, render

NAME = "llm"
CONVERSATIONS = 3  # each begins anew; the model's own variety makes them differ
FILE = "test_assay_llm.py"
SECONDS = 20.0  # seconds for the tests of one file
AROUND = 120  # lines around each target in the prompt


def _generate(context: Context) -> Contribution:
    """Ask for test files until one counts against the patch; raises whatever the model's client raises."""
    if context.ask is None:
        return Contribution(GeneratorResult(name=NAME, note="no model is named"))
    material, best, asked = _material(context), None, 0
    why = "no test that distinguishes the patches"
    while asked < CONVERSATIONS:
        asked += 1
        trial = converse(material, context.answer, lambda text: _try_file(context, text))
        found = _compare_looks(context, trial) if trial else None
        if found and found.divergences:
            best = min(filter(None, (best, found)), key=lambda each: ORDER.index(each.divergences[0].finding))
        elif found:
            why = found.result.note or "no difference that holds in the tests that distinguish the patches"
        if not context.seconds_left or (best and is_flagged(best.divergences[0].finding)):
            break
    return best or Contribution(GeneratorResult(name=NAME, probes=asked, note=f"{asked} conversations: {why}"))


def _material(context: Context) -> PromptMaterial:
    sides, survey = context.sides, context.survey
    both = [survey.texts.get(side, {}) for side in (Side.GOLD, Side.CANDIDATE)]
    paths = sorted({*both[0], *both[1]})
    lines = ((path, *(text.get(path, "").splitlines() for text in both)) for path in paths)
    apart = (unified_diff(one, other, f"A/{path}", f"B/{path}", lineterm="") for path, one, other in lines)
    return PromptMaterial(
        issue=sides.instance.problem_statement,
        gold_patch=_code_first(sides.patch(Side.GOLD), paths),
        candidate_patch=_code_first(sides.patch(Side.CANDIDATE), paths),
        code_diff="\n".join(line for diff in apart for line in diff),
        targets=tuple(each.label for each in survey.targets),
        context=_code(survey),
        traces=tuple(
            f"{call['module']}.{call['qualname']}: (positional, by keyword) = {call['literal']}"
            for call in record(context)
            if call.get("literal")
        ),
        runner=context.plan([_place(context)]).runner,
    )


def _code_first(patch: str, sources: Collection[str]) -> str:
    """Put a diff's code files first: too long a diff is cut."""
    return render(sorted(read_diff(patch), key=lambda change: change.path not in sources)) if patch else ""


def _code(survey: Survey) -> dict[str, str]:
    found = {}
    for path in dict.fromkeys(each.path for each in survey.targets):
        lines = survey.texts.get(Side.GOLD, {}).get(path, "").splitlines()
        spans = [span for each in survey.targets if each.path == path for span in each.places.get(Side.GOLD, ())]
        near = {at for first, last in spans for at in range(first - AROUND, min(last, len(lines)) + AROUND)}
        found[path] = "\n".join(line for at, line in enumerate(lines, 1) if at in near)
    return {path: text for path, text in found.items() if text}


def _place(context: Context) -> str:
    """Return the test file's path: beside the instance's own tests, whose fixtures it may use."""
    return str(PurePosixPath((context.survey.test_files or ("tests/x",))[0]).parent / FILE)


def _try_file(context: Context, text: str) -> TriedFile:
    path = _place(context)
    plan = context.plan([path], context.confirming.seconds_left)
    if plan.runner == "pytest":  # the recipe may always run all tests
        alone = f"export PYTEST_ADDOPTS='-k {PurePosixPath(path).stem}'\n{plan.command}"
        plan = plan.model_copy(update={"command": alone})
    sides, files = (Side.GOLD, Side.CANDIDATE), {path: text.encode()}
    both = context.sides.map_sides(sides, lambda side: context.sides.test(side, plan, files))
    gold, candidate = (each.evidence.report.tests for each in both)
    return TriedFile(text, gold, candidate, *(each.output.decode(errors="replace") for each in both))


def _compare_looks(context: Context, trial: TriedFile) -> Contribution:
    """Observe the distinguishing tests on all sides, and keep the divergences in these."""
    path, differing = _place(context), {bare_name(name) for name in trial.differing}
    settings = {"files": [path], "seed": 0, "mutants": 0, "limit": SECONDS}

    def reproduce(_context: Context, suspects: Suspects) -> dict[str, str]:
        return dict.fromkeys(suspects, trial.file)

    program = Program("amplify", settings, SECONDS, reproduce, files={path: trial.file}, tests=[path])
    found = find_differences(context, NAME, program)
    kept = tuple(each for each in found.divergences if bare_name(each.probe) in differing)
    return replace(found, result=found.result.model_copy(update={"divergences": len(kept)}), divergences=kept)


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
