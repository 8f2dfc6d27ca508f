"""Calls and base classes in files of each language, listed by hand."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.tree_search.relations import Mention, mentions
from assay.harness.languages import LANGUAGES
from assay.harness.languages.syntax import parse

CASES = yaml.safe_load(Path(__file__).with_name("relations.yaml").read_text())


def read(language: str, path: str, text: str) -> tuple[Mention, ...]:
    parsed = parse(language, path, text)
    assert parsed is not None
    return mentions(parsed)


def test_every_language_with_a_query_has_a_case() -> None:
    assert {name for name, language in LANGUAGES.items() if language.SYNTAX.mentions} == set(CASES)


@pytest.mark.parametrize("language", CASES)
def test_mentions_are_calls_and_bases(language: str) -> None:
    case = CASES[language]
    found = read(language, case["path"], case["text"])
    assert [[each.relation, each.name, each.line] for each in found] == case["mentions"]


def test_file_of_another_language_is_read_as_that() -> None:
    assert [each.name for each in read("java", "run.py", "f()")] == ["f"]


@given(st.sampled_from(sorted(CASES)), st.integers(0, 200), st.text(max_size=20))
def test_broken_code_gives_the_mentions_that_parse(language: str, cut: int, noise: str) -> None:
    path, text = CASES[language]["path"], CASES[language]["text"]
    broken = text[:cut] + noise + text[cut:]
    lines = broken.encode(errors="replace").count(b"\n") + 1
    assert all(each.name and 1 <= each.line <= lines for each in read(language, path, broken))
