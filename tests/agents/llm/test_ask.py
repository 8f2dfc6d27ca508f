from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.agents.llm.ask import make_ask, usual_endpoint
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.cassette import Mode
from assay.agents.llm.errors import BudgetExceeded, CassetteMiss
from assay.harness.errors import UserError

MESSAGES = [("system", "be brief"), ("user", "two plus two?")]


def test_a_model_is_one_function(endpoint: Any) -> None:
    assert make_ask("toy", endpoint.url)(MESSAGES) == "hello"
    assert endpoint.asked[0].body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "two plus two?"},
    ]
    assert "authorization" not in endpoint.asked[0].headers


def test_the_usual_variables_are_known(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    make_ask("toy")(MESSAGES)
    assert endpoint.asked[0].headers["authorization"] == "Bearer k"


def test_a_key_alone_means_the_usual_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        usual_endpoint()
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert usual_endpoint().key_env == "OPENAI_API_KEY"
    assert usual_endpoint("http://here/v1").base_url == "http://here/v1"


def test_what_is_asked_can_be_recorded_and_replayed(endpoint: Any, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    asker = make_ask("toy", endpoint.url, cassette=tape)
    assert asker(MESSAGES) == "hello"
    asker.stack.close()
    replay = make_ask("toy", cassette=tape, mode=Mode.REPLAY)
    assert replay(MESSAGES) == "hello"
    with pytest.raises(CassetteMiss, match=r"messages\[1\]"):
        replay([("system", "be brief"), ("user", "three plus three?")])
    assert len(endpoint.asked) == 1


def test_it_has_a_budget(endpoint: Any) -> None:
    asker = make_ask("toy", endpoint.url, limits=BudgetLimits(calls=1))
    asker(MESSAGES)
    with pytest.raises(BudgetExceeded):
        asker(MESSAGES)
    assert asker.stack.paid.spent.tokens == 110


def test_the_same_question_again_is_another_sample_in_a_replay_too(
    endpoint: Any, tmp_path: Path, make_said: Callable[..., Any]
) -> None:
    tape = tmp_path / "tape.jsonl"
    endpoint.plays(make_said("one"), make_said("two"), make_said("three"))
    asker = make_ask("toy", endpoint.url, cassette=tape)
    said = [asker(MESSAGES) for _ in range(3)]
    asker.stack.close()
    replay = make_ask("toy", cassette=tape, mode=Mode.REPLAY)
    assert [replay(MESSAGES) for _ in range(3)] == said == ["one", "two", "three"]
