"""Tests that a language model writes to distinguish the two patches: PatchDiff's own way (arXiv 2503.15223).

Whatever the model claims, a test counts only if it came out the same in every round on both sides and executed a
target on both; it is its own reproduction.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

from assay.harness.domain import MISSING, Divergence, GeneratorResult, ProbeObservation, Status
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.decide import Sighting, classify
from assay.harness.patchdiff.generators.llm.prompts import PromptMaterial, SourceExcerpt
from assay.harness.patchdiff.generators.llm.protocol import BothSides, converse
from assay.harness.patchdiff.generators.recording import record
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
    for number in range(CONVERSATIONS):
        if context.seconds_left <= 0:
            break
        asked += 1
        attempt = converse(material, context.ask, lambda text: _trial(context, text))
        round_ = attempt.accepted
        found = _confirmed(context, round_.file, round_.judgement.differing, number) if round_ else ()
        if round_ and found:
            result = GeneratorResult(name=NAME, probes=asked, reached=len(found), divergences=len(found))
            return Contribution(result, found, {f"test_llm_{number + 1}.py": round_.file})
    note = f"{asked} conversations, and no test that distinguishes the patches"
    return Contribution(GeneratorResult(name=NAME, probes=asked, note=note))


def _material(context: Context) -> PromptMaterial:
    sides, survey = context.sides, context.survey
    return PromptMaterial(
        issue=sides.instance.problem_statement,
        gold_patch=sides.patch(Side.GOLD),
        candidate_patch=sides.patch(Side.CANDIDATE),
        targets=tuple(each.label for each in survey.targets),
        context=tuple(SourceExcerpt(path, text) for path, text in survey.texts.get(Side.BASE, {}).items()),
        traces=tuple(
            f"{call['module']}.{call['qualname']}: (positional, by keyword) = {call['literal']}"
            for call in record(context).calls
            if call.get("literal")
        ),
    )


def _trial(context: Context, text: str) -> BothSides:
    gold, candidate = _run(context, text, (Side.GOLD, Side.CANDIDATE))
    return BothSides(
        gold=_own(gold),
        candidate=_own(candidate),
        gold_output=gold.output.decode(errors="replace"),
        candidate_output=candidate.output.decode(errors="replace"),
    )


def _place(context: Context) -> str:
    """Return where the test file is laid: beside the instance's own tests, whose fixtures it may use."""
    nearest = context.survey.test_files[:1] or ("tests/x",)
    return str(PurePosixPath(nearest[0]).parent / FILE)


def _run(context: Context, text: str, sides: Sequence[Side]) -> list[Evaluation]:
    path = _place(context)
    plan = context.plan_tests(context.sides.instance, [path])
    seconds = min(plan.limits.seconds, context.confirming.seconds_left)
    plan = plan.model_copy(update={"limits": plan.limits.model_copy(update={"seconds": seconds})})
    return context.sides.at_once(sides, lambda side: context.sides.test(side, plan, {path: text.encode()}))


def _own(evaluation: Evaluation) -> dict[str, Status]:
    evidence = evaluation.evidence
    return dict(evidence.report.tests)


def _confirmed(context: Context, text: str, tests: Sequence[str], number: int) -> tuple[Divergence, ...]:
    """Repeat a test file on both sides; keep the tests that hold and execute a target on both."""
    reaching = _reaching(context, text)
    kept = [name for name in tests if name in reaching]
    rounds, wanted = 0, context.confirming.rounds(ROUND_SECONDS)
    while kept and rounds < wanted:
        gold, candidate = (_own(each) for each in _run(context, text, (Side.GOLD, Side.CANDIDATE)))
        kept = [n for n in kept if gold.get(n) is Status.PASSED and candidate.get(n) is Status.FAILED]
        rounds += 1
    if not kept:
        return ()
    (base,) = (_own(each) for each in _run(context, text, (Side.BASE,)))
    return tuple(_divergence(name, base, rounds, number) for name in kept)


def _reaching(context: Context, text: str) -> set[str]:
    """Return the tests of a file that execute a target with gold and with the candidate."""
    path = _place(context)
    settings = {"files": [path], "seed": 0, "mutants": 0, "limit": REACH_SECONDS}
    program = Program("amplify", settings, REACH_SECONDS, files={path: text})
    found = []
    for side in (Side.GOLD, Side.CANDIDATE):
        (lines,) = run_lines(context, program, side, [0])
        found.append({str(line["test"]) for line in lines if line.get("reached")})
    return found[0] & found[1]


def _divergence(name: str, base: dict[str, Status], rounds: int, number: int) -> Divergence:
    seen = {
        status: ProbeObservation(kind="value", type="test", text=status) for status in (Status.PASSED, Status.FAILED)
    }
    before = seen.get(base.get(name, Status.MISSING), MISSING)
    finding = classify(before, Sighting(seen[Status.PASSED]), seen[Status.FAILED])
    assert finding is not None  # the two differ
    return Divergence(
        finding=finding,
        generator=NAME,
        probe=name,
        target=name,
        base=before,
        gold=seen[Status.PASSED],
        candidate=seen[Status.FAILED],
        confirmed=rounds,
        reproduction=f"test_llm_{number + 1}.py",
    )


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
