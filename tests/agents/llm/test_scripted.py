import pytest

from assay.agents.llm.chat import Answer
from assay.agents.llm.errors import RequestRefused
from assay.agents.llm.scripted import Scripted
from played_endpoint import make_request


def test_lines_are_answered_in_order() -> None:
    model = Scripted(["one", Answer(content="two")])
    first = model.complete(make_request())
    assert (first.content, first.model) == ("one", "toy")
    assert first.usage.completion_tokens == 1
    assert first.usage.prompt_tokens > 0
    assert first.usage.cost == 0
    assert model.complete(make_request()) == Answer(content="two")
    with pytest.raises(RequestRefused, match="no line left"):
        model.complete(make_request())


def test_function_answers_each_request() -> None:
    model = Scripted(lambda request: str(request.messages[-1].content).upper())
    assert [model.complete(make_request(text)).content for text in ("a", "b")] == ["A", "B"]
