from assay.agents.llm.chat import Message, Request, Speaker
from assay.agents.llm.tokens import estimate_prompt, estimate_tokens


def test_tokens_are_estimated_from_length() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
    short = Request(model="m", messages=(Message(role=Speaker.USER, content="x" * 400),))
    longer = short.model_copy(update={"messages": short.messages * 2})
    assert 100 < estimate_prompt(short) < 120
    assert estimate_prompt(longer) > 200
