"""JSON in a model's answer, and retries."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict

from assay.agents.solvers.shared.json_answers import AnswerFormatError, read_json
from assay.harness.domain import Model


class Wanted(Model):
    model_config = ConfigDict(frozen=True, extra="ignore")

    names: tuple[str, ...]


@pytest.mark.parametrize(
    "text",
    [
        '{"names": ["a", "b"]}',
        'Sure!\n```json\n{"names": ["a", "b"], "more": 1}\n```\nDone.',
        'First {this} and {"other": 1}, then {"names": ["a", "b"]}.',
        '{"names": ["a", "b"]} {"names": ["c"]}',
    ],
)
def test_first_object_of_the_schema_is_read(text: str) -> None:
    assert read_json(text, Wanted).names == ("a", "b")


def test_raw_line_feeds_in_texts_are_accepted() -> None:
    assert read_json('{"names": ["a\nb"]}', Wanted).names == ("a\nb",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("none", "there is no JSON object in it"),
        ('["names"]', "there is no JSON object in it"),
        ('{"names": ["a"', "there is no JSON object in it"),
        ('{"name": []}', "names: Field required"),
        ('{"names": [1]}', "names.0: Input should be a valid string"),
        ("{" * 5000 + '"', "there is no JSON object in it"),
        ('{"a":' * 5000, "there is no JSON object in it"),
    ],
)
def test_answer_without_the_schema_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(AnswerFormatError, match=problem):
        read_json(text, Wanted)


@given(st.text(st.characters(exclude_characters="{")), st.lists(st.text()), st.text())
def test_text_around_the_object_is_ignored(before: str, names: list[str], after: str) -> None:
    assert read_json(f"{before}{json.dumps({'names': names})}{after}", Wanted).names == tuple(names)
