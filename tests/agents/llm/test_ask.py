from pathlib import Path
from typing import Any

import pytest

from assay.agents.llm.ask import make_ask, usual_endpoint
from assay.agents.llm.errors import CassetteMiss
from assay.harness.errors import UserError
from played_endpoint import said

MESSAGES = [("system", "be brief"), ("user", "two plus two?")]


def test_ask_without_a_key_posts_the_messages(endpoint: Any) -> None:
    assert make_ask("toy", endpoint.url)(MESSAGES) == "hello"
    assert endpoint.asked[0].body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "two plus two?"},
    ]
    assert "authorization" not in endpoint.asked[0].headers


def test_endpoint_and_key_come_from_the_environment(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    make_ask("toy")(MESSAGES)
    assert endpoint.asked[0].headers["authorization"] == "Bearer k"


def test_endpoint_needs_a_key_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        usual_endpoint()
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert usual_endpoint().key_env == "OPENAI_API_KEY"
    assert usual_endpoint("http://here/v1").base_url == "http://here/v1"


def test_recorded_answers_are_replayed(endpoint: Any, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    asker = make_ask("toy", endpoint.url, cassette=tape)
    assert asker(MESSAGES) == "hello"
    asker.stack.close()
    replay = make_ask("toy", cassette=tape)
    assert replay(MESSAGES) == "hello"
    with pytest.raises(CassetteMiss, match=r"messages\[1\]"):
        replay([("system", "be brief"), ("user", "three plus three?")])
    assert len(endpoint.asked) == 1


def test_question_with_other_durations_is_replayed(endpoint: Any, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    endpoint.plays(said("one"), said("two"))
    asker = make_ask("toy", endpoint.url, cassette=tape)
    answers = [asker([("user", f"1 passed in {seconds} s")]) for seconds in (0.57, 0.61)]
    asker.stack.close()
    replay = make_ask("toy", cassette=tape)
    assert [replay([("user", f"1 passed in {seconds} s")]) for seconds in (0.84, 0.9)] == answers == ["one", "two"]


def test_recording_that_does_not_exist_needs_a_model_to_ask(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no model to ask"):
        make_ask("toy", cassette=tmp_path / "none.jsonl")


def test_repeated_question_gets_another_sample_when_recorded_and_replayed(endpoint: Any, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    endpoint.plays(said("one"), said("two"), said("three"))
    asker = make_ask("toy", endpoint.url, cassette=tape)
    answers = [asker(MESSAGES) for _ in range(3)]
    asker.stack.close()
    replay = make_ask("toy", cassette=tape)
    assert [replay(MESSAGES) for _ in range(3)] == answers == ["one", "two", "three"]
