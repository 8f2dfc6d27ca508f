"""What the model is shown, and what becomes of its test files; the sides and the comparison are played."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import (
    Apply,
    ApplyStatus,
    Divergence,
    Evidence,
    GeneratorResult,
    Instance,
    PatchDiffFinding,
    Prediction,
    ProbeObservation,
    Status,
    TestPlan,
    TestReport,
)
from assay.harness.engines.fake import FakeEngine
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.patchdiff.contract import Context, Contribution, Settings
from assay.harness.patchdiff.generators.llm import generate
from assay.harness.patchdiff.generators.llm.generate import CONVERSATIONS, GENERATOR
from assay.harness.patchdiff.generators.llm.prompts import SAME
from assay.harness.patchdiff.probing import Program
from assay.harness.patchdiff.sides import Side, Sides
from assay.harness.patchdiff.survey import Survey
from assay.harness.patchdiff.targets import Target
from changes import change

ANSWER = "```python\ndef test_a():\n    assert calc.f(1)\n\n\ndef test_b():\n    assert calc.f(2)\n```"
VALUE = ProbeObservation(kind="value")
Compared = Callable[..., tuple[Contribution, list[str], list[Program]]]


class PlayedSides(Sides):
    """Sides on which ``test_a`` fails with the candidate alone."""

    def test(self, side: Side, plan: TestPlan, files: Mapping[str, bytes] | None = None) -> Evaluation:
        (path,) = files or ("",)
        assert plan.command.startswith("export PYTEST_ADDOPTS='-k test_assay_llm'\n")
        statuses = {"test_a": Status.FAILED if side is Side.CANDIDATE else Status.PASSED, "test_b": Status.PASSED}
        report = TestReport(tests={f"{path}::{name}": status for name, status in statuses.items()})
        evidence = Evidence(instance_id="x", apply=Apply(status=ApplyStatus.APPLIED), report=report)
        return Evaluation(evidence)


def divergence(finding: PatchDiffFinding, test: str = "test_a") -> Divergence:
    probe = f"tests/test_assay_llm.py::{test}|m0|s1#1"
    return Divergence(
        finding=finding, generator="llm", probe=probe, base=VALUE, gold=VALUE, candidate=VALUE, confirmed=3
    )


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, instance: Instance) -> Compared:
    """Run the generator; comparisons find, one after the other, what is given."""

    def run(
        *found: Sequence[Divergence],
        answer: str = ANSWER,
        survey: Survey | None = None,
        patch: str = "",
        note: str = "",
    ) -> tuple[Contribution, list[str], list[Program]]:
        asked, programs = list[str](), list[Program]()
        rest: Iterator[Sequence[Divergence]] = iter(found)

        def ask(messages: Sequence[tuple[str, str]]) -> str:
            asked.append(messages[-1][1])
            return answer

        def differences(_context: Context, generator: str, program: Program) -> Contribution:
            assert generator == "llm"
            programs.append(program)
            return Contribution(GeneratorResult(name="llm", probes=9, note=note), tuple(next(rest)))

        monkeypatch.setattr(generate, "find_differences", differences)
        monkeypatch.setattr(generate, "record", lambda _context: [])
        plan = TestPlan(command="true", runner="pytest")
        gold = instance.model_copy(update={"gold_patch": patch}) if patch else instance
        task = Task(gold, Prediction(instance_id=instance.id, patch=patch or gold.gold_patch), plan)
        sides = PlayedSides(task, "image", FakeEngine({}))
        seen = survey or Survey((), ("tests/test_calc.py",))
        context = Context(sides, seen, Settings(("llm",)), lambda _instance, _files: plan, ask)
        return GENERATOR.generate(context), asked, programs

    return run


def test_first_difference_that_counts_against_the_patch_is_enough(compare: Compared) -> None:
    found, asked, (program,) = compare([divergence(PatchDiffFinding.CHANGED_UNRELATED)])
    assert [each.finding for each in found.divergences] == [PatchDiffFinding.CHANGED_UNRELATED]
    assert len(asked) == 1
    assert [*program.files] == ["tests/test_assay_llm.py"]
    assert program.reproduce(SimpleNamespace(), {"key": {}}) == {"key": program.files["tests/test_assay_llm.py"]}  # type: ignore[arg-type]


def test_undecided_difference_begins_another_conversation_and_is_kept(compare: Compared) -> None:
    undecided, hard = divergence(PatchDiffFinding.DIVERGENT), divergence(PatchDiffFinding.UNFIXED_LIKE_BASE)
    found, asked, _ = compare([undecided], [hard])
    assert (found.divergences, len(asked)) == ((hard,), 2)
    found, asked, _ = compare([undecided], [], [])
    assert (found.divergences, len(asked)) == ((undecided,), CONVERSATIONS)


def test_difference_in_a_test_that_passes_on_both_sides_does_not_count(compare: Compared) -> None:
    found, *_ = compare([divergence(PatchDiffFinding.CHANGED_UNRELATED, "test_b")], [], [])
    assert found.divergences == ()
    assert found.result.note.startswith(f"{CONVERSATIONS} conversations: no difference that holds")


def test_note_says_why_a_test_that_distinguishes_the_patches_shows_no_difference(compare: Compared) -> None:
    found, *_ = compare([], [], [], note="the time was not enough for any probe")
    assert found.result.note == f"{CONVERSATIONS} conversations: the time was not enough for any probe"
    found, *_ = compare(answer=SAME)
    assert found.result.note == f"{CONVERSATIONS} conversations: no test that distinguishes the patches"


def test_nothing_runs_where_the_model_finds_the_patches_equivalent(compare: Compared) -> None:
    found, asked, programs = compare(answer=f"{SAME}.\n")
    assert (found.divergences, programs, len(asked)) == ((), [], CONVERSATIONS)


def test_model_sees_code_before_other_files_and_of_long_files_what_is_near(compare: Compared) -> None:
    lines = [f"line {number}" for number in range(1, 1001)]
    gold, candidate = ("\n".join([*lines[:499], text, *lines[500:]]) for text in ("good", "bad"))
    texts: Any = {Side.GOLD: {"calc.py": gold}, Side.CANDIDATE: {"calc.py": candidate}}
    target = Target("calc.py", "f", {Side.GOLD: ((498, 502),)})
    patch = change("CHANGES.txt", adds=["news"]) + change("calc.py", adds=["good"])
    survey = Survey((target,), ("tests/test_calc.py",), texts=texts)
    _, (asked, *_), _ = compare(answer=SAME, survey=survey, patch=patch)
    assert asked.index("+good") < asked.index("+news")
    assert "-good\n+bad" in asked
    code = asked.split("## calc.py, with patch A")[1]
    assert [text in code for text in ("line 400", "line 600", "line 300", "line 700")] == [True, True, False, False]
