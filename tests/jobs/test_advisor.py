"""Answers of a model, written by hand, and what set-up makes of them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.agents.llm.ask import make_ask
from assay.agents.llm.errors import ModelUnavailable
from assay.harness.domain import Recipe
from assay.instances.setup.project import Project
from assay.instances.setup.project_facts import read_facts
from assay.jobs.advisor import ModelAdvisor
from played_endpoint import played_endpoint, said

RECIPE = Recipe(repo="acme/calc", toolchain="3.9", packages=("pytest",), env={"PYTEST_ADDOPTS": "-x", "A": "1"})


FACTS = read_facts(Project("acme/calc", "python", datetime(2021, 6, 1, tzinfo=UTC), (), {}), ["3.9", "3.11"])


def advise(answer: str) -> Recipe | None:
    """Return what is made of an answer."""
    return ModelAdvisor("model", lambda _messages: answer).advise(FACTS, RECIPE, "output")


def test_fields_of_the_answer_replace_those_of_the_recipe() -> None:
    found = advise("Try this:\n```yaml\ntoolchain: '3.11'\npackages: [pytest, mock]\nsystem_packages: [git]\n```\n")
    changes = {"toolchain": "3.11", "packages": ("pytest", "mock"), "system_packages": ("git",)}
    assert found == RECIPE.model_copy(update=changes)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("no block", None),
        ("```yaml\n```", None),
        ("```yaml\n[a, list]\n```", None),
        ("```yaml\npackages: {a: b}\n```", None),
        ("```yaml\na: [b\n```", None),
        ("```yaml\ntest_command: 'true'\n```", RECIPE),
        ("```yaml\nenv: {PYTEST_ADDOPTS: --deselect=tests, A: '1'}\n```", RECIPE),
        ("```yaml\ntest_files: all\n```", RECIPE),
        ("```yaml\ntoolchain: '2.7'\n```", RECIPE),
        ("```yaml\nrepo: other/one\n```", RECIPE),
        ("```yaml\nnetwork: true\n```", RECIPE),
    ],
)
def test_an_answer_of_no_use_is_dropped_and_a_model_chooses_no_tests_and_nothing_that_is_not_there(
    answer: str, found: Recipe | None
) -> None:
    assert advise(answer) == found


def test_the_question_has_recipe_versions_and_the_end_of_the_output() -> None:
    asked: list[str] = []

    def ask(messages: Sequence[tuple[str, str]]) -> str:
        asked.extend(text for _, text in messages)
        return ""

    ModelAdvisor("model", ask).advise(FACTS, RECIPE, "x" * 50_000 + "the end")
    assert "acme/calc (python, commit of 2021-06-01)" in asked[0]
    assert "toolchain: '3.9'" in asked[0]
    assert "3.9, 3.11" in asked[0]
    assert "xthe end\n" in asked[0]
    assert len(asked[0]) < 15_000


def test_a_model_that_does_not_answer_ends_no_search() -> None:
    said: list[str] = []

    def ask(_messages: Sequence[tuple[str, str]]) -> str:
        raise ModelUnavailable("nobody there")

    assert ModelAdvisor("model m", ask, said.append).advise(FACTS, RECIPE, "") is None
    assert said == ["model m gives no answer: nobody there"]


def test_a_recorded_answer_needs_no_endpoint(tmp_path: Path) -> None:
    answer, cassette = "```yaml\nconstraints: ['numpy<2']\n```", tmp_path / "answers.jsonl"
    with played_endpoint() as played:
        played.plays(said(answer))
        ask = make_ask("m", played.url, cassette=cassette)
        live = ModelAdvisor("model m", ask).advise(FACTS, RECIPE, "output")
        ask.stack.close()
    assert live == RECIPE.model_copy(update={"constraints": ("numpy<2",)})
    replay = make_ask("m", cassette=cassette)
    assert ModelAdvisor("model m", replay).advise(FACTS, RECIPE, "output") == live
    replay.stack.close()
