import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.cassette_key import mask_ids
from assay.agents.llm.chat import Answer, TokenUsage, ToolCall
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import CassetteMiss, ModelUnavailable
from assay.agents.llm.scripted import Scripted
from assay.harness.errors import DataError, UserError
from planted import HOME, PLANTED, find_left, plant
from played_endpoint import Reply, make_request, said


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "tape.jsonl"


@pytest.fixture
def client(endpoint: Any) -> Iterator[ModelClient]:
    with ModelClient(Endpoint(base_url=endpoint.url)) as client:
        yield client


def test_recorded_question_is_not_asked_again(endpoint: Any, client: ModelClient, tape: Path) -> None:
    with Cassette(tape, Mode.AUTO, client) as cassette:
        first = cassette.complete(make_request())
        again = cassette.complete(make_request())
    assert len(endpoint.asked) == 1
    assert not first.replayed
    assert again == first.model_copy(update={"replayed": True})
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert cassette.complete(make_request()) == again
    assert len(endpoint.asked) == 1


def test_answer_is_recorded_completely(tape: Path) -> None:
    answer = Answer(
        content="a\nb \U0001f600",
        tool_calls=(ToolCall(id="1", name="run", arguments="{broken"),),
        reasoning="hm",
        usage=TokenUsage(prompt_tokens=3, cost=None),
        wasted=TokenUsage(completion_tokens=2, cost=0.5, estimated=True),
        tries=3,
    )
    with Cassette(tape, Mode.AUTO, Scripted([answer])) as cassette:
        cassette.complete(make_request())
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert cassette.complete(make_request()) == answer.model_copy(update={"replayed": True})


def test_samples_of_one_question_are_kept_apart(tape: Path) -> None:
    with Cassette(tape, Mode.AUTO, Scripted(str(number) for number in range(40))) as cassette:
        said = [cassette.complete(make_request(sample=number)).content for number in range(40)]
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert [cassette.complete(make_request(sample=number)).content for number in range(40)] == said
    assert len(set(said)) == 40


def test_mode_record_replaces_an_older_answer(tape: Path) -> None:
    for text in ("old", "new"):
        with Cassette(tape, Mode.RECORD, Scripted([text])) as cassette:
            assert cassette.complete(make_request()).content == text
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert cassette.complete(make_request()).content == "new"


def test_miss_names_the_nearest_difference(tape: Path) -> None:
    with Cassette(tape, Mode.AUTO, Scripted(["x", "y"])) as cassette:
        cassette.complete(make_request("what is two plus two?"))
        cassette.complete(make_request("write a poem", model="other"))
    with (
        Cassette(tape, Mode.REPLAY) as cassette,
        pytest.raises(CassetteMiss, match=r"at messages\[0\]\.content .*plus three.*plus two.*mode auto"),
    ):
        cassette.complete(make_request("what is two plus three?"))


def test_error_is_not_recorded(endpoint: Any, client: ModelClient, tape: Path) -> None:
    endpoint.plays(Reply(status=500), said("4"))
    with Cassette(tape, Mode.AUTO, client) as cassette:
        with pytest.raises(ModelUnavailable):
            cassette.complete(make_request())
        assert cassette.complete(make_request()).content == "4"
    assert len(tape.read_text().splitlines()) == 1


def test_file_holds_no_api_key(endpoint: Any, tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", "secret-123")
    settings = Endpoint(base_url=endpoint.url, key_env="TOY_KEY")
    with ModelClient(settings) as client, Cassette(tape, Mode.AUTO, client) as cassette:
        cassette.complete(make_request())
    assert endpoint.asked[0].headers["authorization"] == "Bearer secret-123"
    assert "secret" not in tape.read_text()


def test_file_written_by_hand_is_replayed(tape: Path) -> None:
    tape.parent.mkdir()
    request = {"messages": [{"content": "what is two plus two?", "role": "user"}], "model": "toy"}
    tape.write_text(json.dumps({"answer": {"content": "four"}, "request": request}) + "\n\n")
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert cassette.complete(make_request()).content == "four"


def test_normalised_requests_share_an_answer(tape: Path) -> None:
    with Cassette(tape, Mode.AUTO, Scripted(["ok"]), normalise=mask_ids) as cassette:
        cassette.complete(make_request("passed in 0.12s"))
    with Cassette(tape, Mode.REPLAY, normalise=mask_ids) as cassette:
        assert cassette.complete(make_request("passed in 0.34s")).content == "ok"


def test_incomplete_last_line_is_cut_off(tape: Path) -> None:
    with Cassette(tape, Mode.AUTO, Scripted(["one"])) as cassette:
        cassette.complete(make_request("1"))
    whole = tape.read_bytes()
    tape.write_bytes(whole + whole[:-20])
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert cassette.complete(make_request("1")).content == "one"
    with Cassette(tape, Mode.AUTO, Scripted(["two"])) as cassette:
        cassette.complete(make_request("2"))
        assert cassette.complete(make_request("1")).replayed
    assert tape.read_bytes().startswith(whole)
    assert len(tape.read_bytes().splitlines()) == 2


@pytest.mark.parametrize("line", ["{}", "not json", '{"request": {"model": "x"}, "answer": {}}'])
def test_wrong_line_is_named(tape: Path, line: str) -> None:
    with Cassette(tape, Mode.AUTO, Scripted(["one"])) as cassette:
        cassette.complete(make_request())
    tape.write_text(tape.read_text() + line + "\n")
    for mode in (Mode.REPLAY, Mode.AUTO):
        with pytest.raises(DataError, match=r"tape\.jsonl:2"):
            Cassette(tape, mode, Scripted([]))


def test_cassette_that_cannot_be_opened_raises(tape: Path) -> None:
    with pytest.raises(UserError, match="mode auto"):
        Cassette(tape, Mode.REPLAY)
    with pytest.raises(UserError, match="needs a model"):
        Cassette(tape, Mode.AUTO)
    with Cassette(tape, Mode.AUTO, Scripted([])), pytest.raises(UserError, match="another process"):
        Cassette(tape, Mode.AUTO, Scripted([]))
    with Cassette(tape, Mode.AUTO, Scripted(["x"])) as cassette:
        assert cassette.complete(make_request()).content == "x"


def test_threads_share_a_cassette(tape: Path) -> None:
    requests = [make_request(str(number)) for number in range(60)]
    model = Scripted(lambda request: str(request.messages[0].content))
    with Cassette(tape, Mode.AUTO, model) as cassette, ThreadPoolExecutor(8) as pool:
        list(pool.map(cassette.complete, requests))
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert [cassette.complete(request).content for request in requests] == [str(n) for n in range(60)]


ASKS_FIVE = """
    import sys
    from pathlib import Path
    from assay.agents.llm.cassette import Cassette, Mode
    from assay.agents.llm.chat import Request
    from assay.agents.llm.client import ModelClient, Endpoint

    client = ModelClient(Endpoint(base_url=sys.argv[1]))
    with Cassette(Path(sys.argv[2]), Mode.AUTO, client) as cassette:
        for number in range(5):
            body = {"model": "toy", "messages": [{"role": "user", "content": str(number)}]}
            cassette.complete(Request.model_validate(body))
"""


def test_no_answer_is_paid_for_twice_after_kill_9(endpoint: Any, tape: Path) -> None:
    quick = Reply(body=said("x"))
    endpoint.plays(quick, quick, Reply(body=said("never read"), delay=2.0))
    command = [sys.executable, "-c", textwrap.dedent(ASKS_FIVE), endpoint.url, str(tape)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as killed:
        while len(endpoint.asked) < 3:
            assert killed.poll() is None
            time.sleep(0.01)
        os.kill(killed.pid, signal.SIGKILL)
    assert len(tape.read_bytes().splitlines()) == 2
    endpoint.plays(quick)
    subprocess.run(command, check=True, capture_output=True)
    asked = [asked.body["messages"][0]["content"] for asked in endpoint.asked]
    assert asked == ["0", "1", "2", "2", "3", "4"], "only the question without an answer is asked again"
    assert len(tape.read_bytes().splitlines()) == 5


def test_secrets_of_questions_are_not_recorded_and_the_answers_are_found(
    tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    asked = "\n".join(each.line for each in PLANTED[:-2])
    with Cassette(tape, Mode.RECORD, Scripted(["fine"])) as cassette:
        cassette.complete(make_request(asked))
    assert not find_left(tape.read_bytes())
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert cassette.complete(make_request(asked)).content == "fine"


def test_an_answer_that_held_a_secret_is_asked_for_again_and_not_replayed(tape: Path) -> None:
    secret = PLANTED[0].line
    with Cassette(tape, Mode.AUTO, Scripted([secret, "unused"])) as cassette:
        said = [cassette.complete(make_request()).content for _ in range(2)]
    assert said == [secret, secret]
    assert not find_left(tape.read_bytes())
    with Cassette(tape, Mode.REPLAY) as cassette, pytest.raises(CassetteMiss, match=r"held a secret \(token\)"):
        cassette.complete(make_request())
    with Cassette(tape, Mode.AUTO, Scripted(["again"])) as cassette:
        assert cassette.complete(make_request()).content == "again"


def test_an_answer_about_folders_of_a_container_is_replayed_as_it_was(
    tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with Cassette(tape, Mode.AUTO, Scripted(["cd /home/jq/src"])) as cassette:
        cassette.complete(make_request(f"in {HOME}/x"))
    with Cassette(tape, Mode.REPLAY) as cassette:
        assert cassette.complete(make_request(f"in {HOME}/x")).content == "cd /home/jq/src"
