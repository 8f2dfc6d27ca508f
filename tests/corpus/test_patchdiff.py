"""Patches that pass every test and are seen only beside the gold patch: the cases that are marked for PatchDiff."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness import languages
from assay.harness.domain import Instance, PatchDiffFinding, PatchDiffResult, TestPlan
from assay.harness.engines.docker import DockerEngine
from assay.harness.patchdiff.assess import assess
from assay.harness.patchdiff.contract import PlanTests, Settings
from assay.harness.patchdiff.decide import is_flagged
from assay.harness.patchdiff.sides import Sides
from corpus.model import Case, corpus
from corpus.stage import Place, nothing_left, task_of

pytestmark = pytest.mark.docker

CASES = [case for case in corpus().cases if case.mark == "patchdiff"]
USUAL = Settings(("suites", "compose", "amplify", "replay"), budget=3600, confirmations=5, test_files=False)


def planned(place: Place) -> PlanTests:
    def plan(_instance: Instance, files: Sequence[str]) -> TestPlan:
        own = " ".join(languages.find("python").test_targets(["tests/test_calc.py"]))
        return place.plan.model_copy(update={"command": place.plan.command.replace(own, " ".join(files))})

    return plan


def sides_of(case: Case, place: Place, engine: DockerEngine, patch: str = "") -> Sides:
    task = task_of(case, corpus().projects[case.language], place)
    if patch:
        task = replace(task, prediction=task.prediction.model_copy(update={"patch": patch}))
    return Sides(task, place.image, engine)


def compared(case: Case, place: Place, engine: DockerEngine, patch: str = "") -> PatchDiffResult:
    return assess(sides_of(case, place, engine, patch), USUAL, planned(place)).comparison


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id, marks=[pytest.mark.exhaustive] * (case.number != "35")) for case in CASES]
)
def test_patch_that_passes_every_test_is_flagged(
    case: Case, tmp_path: Path, docker_engine: DockerEngine, place: Callable[[str, str], Place]
) -> None:
    where = place(case.language, case.instance)
    with nothing_left(tmp_path, docker_engine):
        comparison = compared(case, where, docker_engine)
    assert is_flagged(comparison.finding), comparison
    assert comparison.null_divergences == 0


@pytest.mark.exhaustive
def test_flagged_patch_has_a_test_file_that_passes_with_gold_only(
    tmp_path: Path, docker_engine: DockerEngine, place: Callable[[str, str], Place]
) -> None:
    case = next(case for case in CASES if case.number == "35")
    where = place(case.language, case.instance)
    settings = replace(USUAL, generators=("replay",), test_files=True)
    with nothing_left(tmp_path, docker_engine):
        done = assess(sides_of(case, where, docker_engine), settings, planned(where))
    names = {each.reproduction for each in done.comparison.divergences} - {""}
    assert names == set(done.files)
    assert all("Passes with gold, fails with the patch" in text for text in done.files.values())
    assert names


def test_gold_compared_with_itself_shows_no_difference(
    tmp_path: Path, docker_engine: DockerEngine, place: Callable[[str, str], Place]
) -> None:
    where = place("python", CASES[0].instance)
    with nothing_left(tmp_path, docker_engine):
        comparison = compared(CASES[0], where, docker_engine, where.instance.gold_patch)
    assert comparison.finding is PatchDiffFinding.NO_DIFFERENCE_FOUND, comparison
    assert comparison.divergences == ()
    assert comparison.null_divergences == 0


TEST = """\
import calc


def test_small():
    assert calc.add(2, 2) == 4


def test_other_way():
    assert calc.add(5, -3) == 2
"""


@pytest.mark.exhaustive
def test_model_repairs_its_test_until_the_patches_differ(
    tmp_path: Path, docker_engine: DockerEngine, place: Callable[[str, str], Place]
) -> None:
    case = next(case for case in CASES if case.number == "36b")
    where, asked = place("python", case.instance), []
    answers = ["I cannot think of one.", f"```python\n{TEST.replace('== 2', '== 3')}```", f"```python\n{TEST}```"]

    def ask(messages: "Sequence[tuple[str, str]]") -> str:
        asked.append(list(messages))
        return answers[min(len(asked), len(answers)) - 1]

    with nothing_left(tmp_path, docker_engine):
        settings = replace(USUAL, generators=("llm",), test_files=True)
        done = assess(sides_of(case, where, docker_engine), settings, planned(where), ask)
    first, *others = done.comparison.divergences
    assert {each.probe.partition("|")[0].partition("::")[2] for each in (first, *others)} == {"test_other_way"}
    assert first.finding in {PatchDiffFinding.UNFIXED_LIKE_BASE, PatchDiffFinding.DIVERGENT}
    assert done.files[first.reproduction] == TEST
    assert len(asked) == len(answers)
    shown = "".join(text for _, text in asked[0])
    assert "calc.add: (positional, by keyword) = ((1, 2,), {},)" in shown, "calls that its tests make"
    assert ", with patch A\n\n```python\n" in shown, "the code with gold"
    assert "return a - b" in shown, "what the patches take out"
