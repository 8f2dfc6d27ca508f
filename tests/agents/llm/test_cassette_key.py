from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.cassette_key import hash_question, mask_ids, nearest_difference, question
from assay.agents.llm.chat import Message, Request, Speaker, Tool
from assay.agents.llm.openai_chat.requests import request_from_json, request_to_json
from played_endpoint import make_request
from tables import read_tables

TABLES = read_tables(__file__)

texts = st.text(max_size=20)
names = st.text("abcdefgh", min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
schemas = st.dictionaries(names, json_values, max_size=4)
messages = st.builds(
    Message, role=st.sampled_from([Speaker.SYSTEM, Speaker.USER, Speaker.ASSISTANT]), content=texts, reasoning=texts
)
requests = st.builds(
    Request,
    model=names,
    messages=st.lists(messages, min_size=1, max_size=4).map(tuple),
    tools=st.lists(st.builds(Tool, name=names, description=texts, parameters=schemas), max_size=2).map(tuple),
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 10**6),
    seed=st.none() | st.integers(),
    stop=st.lists(texts, max_size=2).map(tuple),
    sample=st.integers(0, 50),
)


def turned_round(value: Any) -> Any:
    """Return the same JSON with the fields of every object in the other order."""
    if isinstance(value, dict):
        return {name: turned_round(item) for name, item in reversed(value.items())}
    return [turned_round(item) for item in value] if isinstance(value, list) else value


@given(requests)
def test_key_ignores_the_order_of_fields(request: Request) -> None:
    assert hash_question(request) == hash_question(Request.model_validate_json(request.model_dump_json()))
    again = Request.model_validate(turned_round(request.model_dump(mode="json")))
    assert hash_question(again) == hash_question(request)
    posted = request_from_json(turned_round(request_to_json(request)), sample=request.sample)
    assert hash_question(posted) == hash_question(request)


@given(requests, requests)
def test_keys_are_equal_only_for_equal_questions(one: Request, other: Request) -> None:
    assert (hash_question(one) == hash_question(other)) == (question(one) == question(other))


@given(requests, st.integers(51, 99))
def test_every_change_of_a_request_changes_its_key(request: Request, sample: int) -> None:
    more = Message(role=Speaker.USER, content="more")
    changed = [
        request.model_copy(update={"sample": sample}),
        request.model_copy(update={"model": request.model + "x"}),
        request.model_copy(update={"messages": (*request.messages, more)}),
        request.model_copy(update={"tools": (*request.tools, Tool(name="more"))}),
        request.model_copy(update={"seed": (request.seed or 0) + 1}),
    ]
    assert len({hash_question(each) for each in (request, *changed)}) == 6


@pytest.mark.parametrize(("one", "other"), TABLES["volatile_texts_are_ignored_when_normalised"])
def test_volatile_texts_are_ignored_when_normalised(one: str, other: str) -> None:
    first, second = make_request(one), make_request(other)
    assert hash_question(first) != hash_question(second)
    assert hash_question(first, mask_ids) == hash_question(second, mask_ids)


@pytest.mark.parametrize("text", ["123456789012", "deadbeef", "def tmp(x)", "version 2.0", "0x10", "facade"])
def test_ordinary_words_and_numbers_are_not_volatile(text: str) -> None:
    assert mask_ids(text) == text


def test_difference_is_shown_with_its_surroundings() -> None:
    wanted: Any = {"model": "toy", "messages": [{"role": "user", "content": "x" * 300 + "HERE" + "y" * 300}]}
    near: Any = {"model": "toy", "messages": [{"role": "user", "content": "x" * 300 + "THERE" + "y" * 300}]}
    far: Any = {"model": "other", "messages": [{"role": "system", "content": "z"}, {"role": "user", "content": "q"}]}
    difference = nearest_difference(wanted, [far, near])
    assert difference.startswith("at messages[0].content the question has ...x")
    assert "HERE" in difference
    assert len(difference) < 400


@pytest.mark.parametrize(("wanted", "known", "difference"), TABLES["first_difference_of_small_values"])
def test_first_difference_of_small_values(wanted: Any, known: Any, difference: str) -> None:
    assert nearest_difference(wanted, known) == difference
