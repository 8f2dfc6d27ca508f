"""Tests that a language model writes to distinguish the two patches: PatchDiff's own way (arXiv 2503.15223).

Whatever the model claims, a test counts only if it came out the same in every round on both sides and executed a
target on both; it is its own reproduction.
"""

from pathlib import PurePosixPath

from assay.harness.domain import Divergence, GeneratorResult, Status
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.decide import Sighting, divergence_of, of_test
from assay.harness.patchdiff.generators.llm.prompts import PromptMaterial
from assay.harness.patchdiff.generators.llm.protocol import TriedFile, converse
from assay.harness.patchdiff.generators.replay import record
from assay.harness.patchdiff.probing import Program, run_lines
from assay.harness.patchdiff.sides import Side

NAME = "llm"
CONVERSATIONS = 3
"""Each begins anew; the model's own variety makes them differ."""
FILE = "test_assay_llm.py"
REACH_SECONDS = 20.0
ROUND_SECONDS = 3.0
"""About what one run of a test file takes."""


def _generate(context: Context) -> Contribution:
    """Ask for test files, keep what holds; raises whatever the model's client raises."""
    if context.ask is None:
        return Contribution(GeneratorResult(name=NAME, note="no model is named"))
    material, asked = _material(context), 0
    while asked < CONVERSATIONS and context.seconds_left > 0:
        asked += 1
        trial = converse(material, context.ask, lambda text: _trial(context, text))
        found = _confirmed(context, trial) if trial else []
        if trial and found:
            file = f"test_llm_{asked}.py"
            result = GeneratorResult(name=NAME, probes=asked, reached=len(found), divergences=len(found))
            shown = tuple(each.model_copy(update={"reproduction": file}) for each in found)
            return Contribution(result, shown, {file: trial.file})
    note = f"{asked} conversations, and no test that distinguishes the patches"
    return Contribution(GeneratorResult(name=NAME, probes=asked, note=note))


def _material(context: Context) -> PromptMaterial:
    sides, survey = context.sides, context.survey
    return PromptMaterial(
        issue=sides.instance.problem_statement,
        gold_patch=sides.patch(Side.GOLD),
        candidate_patch=sides.patch(Side.CANDIDATE),
        targets=tuple(each.label for each in survey.targets),
        context=survey.texts.get(Side.BASE, {}),
        traces=tuple(
            f"{call['module']}.{call['qualname']}: (positional, by keyword) = {call['literal']}"
            for call in record(context)
            if call.get("literal")
        ),
    )


def _place(context: Context) -> str:
    """Return where the test file is laid: beside the instance's own tests, whose fixtures it may use."""
    nearest = context.survey.test_files[:1] or ("tests/x",)
    return str(PurePosixPath(nearest[0]).parent / FILE)


def _run(context: Context, text: str, *sides: Side) -> list[Evaluation]:
    path = _place(context)
    plan = context.plan([path], context.confirming.seconds_left)
    return context.sides.at_once(sides, lambda side: context.sides.test(side, plan, {path: text.encode()}))


def _trial(context: Context, text: str) -> TriedFile:
    both = _run(context, text, Side.GOLD, Side.CANDIDATE)
    gold, candidate = (each.evidence.report.tests for each in both)
    return TriedFile(text, gold, candidate, *(each.output.decode(errors="replace") for each in both))


def _confirmed(context: Context, trial: TriedFile) -> list[Divergence]:
    """Repeat a test file on both sides; keep the tests that hold and execute a target on both."""
    reaching = _reaching(context, trial.file)
    kept = [name for name in trial.differing if name in reaching]
    rounds, wanted = 0, context.confirming.rounds(ROUND_SECONDS)
    while kept and rounds < wanted:
        again = _trial(context, trial.file).differing
        kept = [name for name in kept if name in again]
        rounds += 1
    if not kept:
        return []
    (base,) = _run(context, trial.file, Side.BASE)
    before, after = base.evidence.report.tests, of_test(Status.FAILED)
    return [
        divergence_of(NAME, name, of_test(before.get(name)), Sighting(of_test(Status.PASSED), name), after, rounds)
        for name in kept
    ]


def _reaching(context: Context, text: str) -> set[str]:
    """Return the tests of a file that execute a target with gold and with the candidate."""
    path = _place(context)
    settings = {"files": [path], "seed": 0, "mutants": 0, "limit": REACH_SECONDS}
    program = Program("amplify", settings, REACH_SECONDS, files={path: text})
    found = []
    for side in (Side.GOLD, Side.CANDIDATE):
        (lines,) = run_lines(context, program, side, [0])
        found.append({str(line["test"]) for line in lines if line.get("target")})
    return found[0] & found[1]


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
