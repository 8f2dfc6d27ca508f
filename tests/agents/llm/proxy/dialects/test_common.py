from typing import Any

import pytest

from assay.agents.llm.chat import Answer, Message, Request, Speaker, TokenUsage, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ParsedRequest
from assay.agents.llm.proxy.dialects.common import (
    answer_id,
    arguments_object,
    build_request,
    check_tools_left,
    image_part,
    merge_system_messages,
    message_from_parts,
    message_text,
    text_part,
    total_usage,
)

HI = Message(role=Speaker.USER, content="hi")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", {}),
        ('{"a": 1}', {"a": 1}),
        ("ls -l", {"arguments": "ls -l"}),
        ("[1]", {"arguments": "[1]"}),
        ("[" * 100_000, {"arguments": "[" * 100_000}),
    ],
)
def test_malformed_arguments_become_an_object(arguments: str, expected: dict[str, Any]) -> None:
    assert arguments_object(arguments) == expected


def test_answer_id_depends_on_question_and_answer_alone() -> None:
    questions = [ParsedRequest(Request(model="toy", messages=(Message(role=Speaker.USER, content=t),))) for t in "ab"]
    answers = [Answer(content="x"), Answer(content="y"), Answer(tool_calls=(ToolCall(id="1", name="f", arguments=""),))]
    ids = [answer_id("msg", question, answer) for question in questions for answer in answers]
    assert len(set(ids)) == 6
    assert ids[0] == answer_id("msg", questions[0], Answer(content="x", usage=TokenUsage(prompt_tokens=5)))
    assert ids[0].startswith("msg_")


def test_usage_of_all_answers_is_summed() -> None:
    one, other = TokenUsage(prompt_tokens=1, cost=0.5), TokenUsage(completion_tokens=2, cost=None)
    assert total_usage([Answer(usage=one)]) == one
    assert total_usage([Answer(usage=one), Answer(usage=other)]) == one + other


def test_text_parts_become_one_text_and_other_parts_stay() -> None:
    assert message_from_parts(Speaker.USER, [text_part("a"), text_part("b")]).content == "a\n\nb"
    mixed = message_from_parts(Speaker.USER, [text_part("a"), image_part("data:x"), text_part("b")])
    assert isinstance(mixed.content, tuple)
    assert message_text(mixed) == "a\n\nb"


def test_system_texts_become_one_at_the_start_and_later_ones_the_users() -> None:
    first, second, third = (
        Message(role=Speaker.SYSTEM, content=text) for text in ("be brief", "be kind", "a file changed")
    )
    answer = Message(role=Speaker.ASSISTANT, content="yes?")
    assert merge_system_messages([first, HI, second, answer, third]) == (
        Message(role=Speaker.SYSTEM, content="be brief\n\nbe kind"),
        HI,
        answer,
        Message(role=Speaker.USER, content="a file changed"),
    )
    assert merge_system_messages([HI]) == (HI,)


def test_wrong_field_of_a_request_is_named() -> None:
    assert build_request({"model": "toy", "messages": (HI,), "seed": None}).seed is None
    with pytest.raises(MalformedBody, match="field max_tokens"):
        build_request({"model": "toy", "messages": (HI,), "max_tokens": 0})


def test_request_is_rejected_if_all_its_tools_are_left_out() -> None:
    check_tools_left(False, [])
    check_tools_left(True, ["web_search"])
    with pytest.raises(MalformedBody, match="not available: web_search, code"):
        check_tools_left(False, ["web_search", "code"])
