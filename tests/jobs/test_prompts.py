"""Prompts in SWE-RL's form, of a repository on the disk."""

from pathlib import Path
from typing import Any

import pytest

from answered import ANSWER, CALC, make_project
from assay.harness.domain import Instance, Outcome, Verdict
from assay.instances.trees.sources import Sources, tree_ref
from assay.jobs.prompts import NoPromptError, make_prompt_row
from assay.rewards import RewardCase, mixture_of, reward
from histories import begin
from toy import GOLD, make_instance

MORE = {
    "calc.py": CALC,
    "shop/money.py": "def add_price(a, b):\n    '''add subtracts nothing here'''\n",
    "shop/other.py": "def unrelated():\n    pass\n",
    "tests/test_add.py": "# add subtracts\n",
    "notes.txt": "add subtracts\n",
}


@pytest.fixture
def project(tmp_path: Path) -> tuple[Instance, Sources]:
    (instance, *_) = make_project(tmp_path / "mirrors")
    return instance, Sources([tmp_path / "mirrors"], tmp_path / "cache")


def messages(row: dict[str, Any]) -> str:
    return "\n".join(each["content"] for each in row["prompt"])


def test_prompt_has_the_issue_and_the_files_as_they_are_and_nothing_of_the_fix(
    project: tuple[Instance, Sources],
) -> None:
    row = make_prompt_row(*project)
    assert [each["role"] for each in row["prompt"]] == ["system", "user"]
    assert "add subtracts" in messages(row)
    assert f"### calc.py\n```\n{CALC}```" in messages(row)
    assert "a + b" not in messages(row)
    assert "test_" not in messages(row)
    assert (row["context"], row["oracle"], row["patch"]) == (["calc.py"], ["calc.py"], GOLD)
    assert (row["instance_id"], row["base_commit"]) == ("acme__calc-1", project[0].base_commit)
    assert row["reward_model"]["ground_truth"] == "acme__calc-1"


def test_answer_to_the_example_of_the_prompt_has_a_reward(project: tuple[Instance, Sources]) -> None:
    instance, sources = project
    verdict = Verdict(instance_id=instance.id, outcome=Outcome.NOT_RUN)
    case = RewardCase(instance, "", verdict, ANSWER, lambda path: sources.read_text(tree_ref(instance), path))
    assert reward(mixture_of("swe_rl"), case).reward == 1.0


def test_further_files_are_sources_like_the_issue_and_no_tests(tmp_path: Path) -> None:
    commit = begin(tmp_path / "mirrors/acme__calc", MORE).git("rev-parse", "HEAD")
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    row = make_prompt_row(make_instance(base_commit=commit), sources, more=5)
    assert (row["context"], row["oracle"]) == (["calc.py", "shop/money.py"], ["calc.py"])
    assert messages(row).index("### calc.py") < messages(row).index("### shop/money.py")


@pytest.mark.parametrize(
    "gold", ["", "words", GOLD.replace("calc.py", "new.py").replace("--- a/new.py", "--- /dev/null")]
)
def test_instance_without_a_file_to_show_has_no_prompt(project: tuple[Instance, Sources], gold: str) -> None:
    instance, sources = project
    with pytest.raises(NoPromptError, match="gold_patch"):
        make_prompt_row(instance.model_copy(update={"gold_patch": gold}), sources)
