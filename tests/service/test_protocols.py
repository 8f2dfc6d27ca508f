"""Other protocols' routes, asked as their clients ask, and by the real clients where those install."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from answered import ANSWER as BLOCKS
from answered import make_project
from assay.service.protocols import open_reward
from served import Served, served, until
from toy import GOLD

pytestmark = pytest.mark.slow

Serve = Callable[..., Served]
ANSWER = f"I changed the sign:\n```diff\n{GOLD}```\nThat is all."


# Open Reward Standard


def begin(client: httpx.Client, **task: Any) -> dict[str, str]:
    events = client.post("/create_session").text
    headers = {"X-Session-ID": events.split("data: ")[1].split("\n")[0]}
    created = client.post("/create", json={"env_name": "assay", **task}, headers=headers)
    assert created.status_code == 200, created.text
    return headers


def call(client: httpx.Client, headers: dict[str, str], **body: Any) -> list[tuple[str, str]]:
    answer = {"name": "submit_patch", "input": {"patch": GOLD}, **body}
    text = client.post("/assay/call", json=answer, headers=headers).text
    events = [part for part in text.split("\n\n") if part.startswith("event: ")]
    return [
        (lines[0].removeprefix("event: "), lines[1].removeprefix("data: ")) for lines in map(str.splitlines, events)
    ]


@pytest.mark.parametrize("task", [{"task_spec": {"instance_id": "acme__calc-2"}}, {"split": "train", "index": 1}])
def test_a_session_of_ors_ends_in_a_reward(serve: Serve, task: dict[str, Any]) -> None:
    with serve().client() as client:
        headers = begin(client, **task)
        assert "add subtracts" in client.get("/assay/prompt", headers=headers).text
        events = call(client, headers)
        client.post("/delete", headers=headers)
        assert client.post("/ping", headers=headers).status_code == 404
    output = json.loads("".join(data for kind, data in events if kind in {"chunk", "end"}))["output"]
    assert (output["reward"], output["finished"], output["metadata"]["outcome"]) == (1.0, True, "resolved")


def test_a_failure_of_the_engine_is_an_error_event_of_ors_and_no_output(serve: Serve) -> None:
    here = serve()
    here.break_engine()
    with here.client() as client:
        events = call(client, begin(client, split="train", index=0))
    assert [kind for kind, _ in events] == ["task_id", "error"]
    assert "node 7 is gone" in events[-1][1]


def test_a_call_of_ors_whose_stream_broke_is_resumed_without_a_second_evaluation(serve: Serve) -> None:
    here = serve()
    here.engine.seconds = 1.0
    with here.client() as client:
        headers = begin(client, split="train", index=0)
        body = {"name": "submit_patch", "input": {"patch": GOLD}}
        with client.stream("POST", "/assay/call", json=body, headers=headers) as broken:
            lines = broken.iter_lines()
            assert next(lines) == "event: task_id"
            name = next(lines).removeprefix("data: ")
        events = call(client, headers, task_id=name)
        assert call(client, headers, task_id="another")[0][0] == "error"
    assert [kind for kind, _ in events] == ["task_id", "end"]
    assert here.engine.opened == 1


def test_a_session_of_ors_that_ends_takes_its_evaluation_with_it(serve: Serve) -> None:
    here = serve(jobs=1)
    here.engine.seconds = 600
    with here.client() as client:
        headers = begin(client, split="train", index=0)
        body = {"name": "submit_patch", "input": {"patch": GOLD}}
        with client.stream("POST", "/assay/call", json=body, headers=headers) as stream:
            assert next(stream.iter_lines()) == "event: task_id"
            until(lambda: here.engine.alive)
        client.post("/delete", headers=headers)
        until(lambda: not here.engine.alive)


def test_a_session_of_ors_without_a_sign_of_its_client_is_ended(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve().client() as client:
        headers = begin(client, split="train", index=0)
        monkeypatch.setattr(open_reward, "STALE", 0.0)
        begin(client, split="train", index=1)
        assert client.get("/assay/prompt", headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/create", {"split": "train", "index": 99}, 400),
        ("/create", {"split": "test", "index": 0}, 400),
        ("/create", {"task_spec": {"instance_id": "x"}}, 404),
        ("/create", {"env_name": "other", "split": "train", "index": 0}, 404),
        ("/assay/tasks", {"split": "test"}, 422),
        ("/assay/task", {"split": "train", "index": -1}, 400),
        ("/assay/call", {"name": "submit_patch", "input": {}}, 404),
    ],
)
def test_what_ors_cannot_have_is_refused(serve: Serve, path: str, body: dict[str, Any], status: int) -> None:
    with serve().client() as client:
        got = client.post(path, json=body, headers={"X-Session-ID": "s"})
        assert client.post("/create", json=body).status_code in {400, 422}
    assert got.status_code == status
    assert "error" in got.json()


# NeMo Gym


def rollout(text: str, **row: Any) -> dict[str, Any]:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    response = {"output": [{"type": "reasoning", "summary": []}, message]}
    return {"responses_create_params": {"input": "?"}, "response": response, "instance_id": "acme__calc-1", **row}


def test_a_rollout_of_nemo_gym_comes_back_with_its_reward(serve: Serve) -> None:
    with serve().client() as client:
        assert client.post("/seed_session", json=rollout("")).json() == {}
        good = client.post("/verify", json=rollout(ANSWER, difficulty="easy")).json()
        bad = client.post("/verify", json=rollout("I give up.")).json()
        given = client.post("/verify", json=rollout("", model_patch=GOLD)).json()
        means = client.post("/aggregate_metrics", json={"verify_responses": [good, bad, given]}).json()
    assert (good["reward"], good["resolved"], good["difficulty"], good["mask_sample"]) == (1.0, True, "easy", False)
    assert good["response"] == rollout(ANSWER)["response"]
    assert good["model_patch"].strip() == GOLD.strip()
    assert (bad["reward"], bad["outcome"]) == (0.0, "patch_rejected")
    assert given["reward"] == 1.0
    assert means["agent_metrics"]["mean/reward"] == pytest.approx(2 / 3)


def test_an_answer_of_nemo_gym_that_breaks_the_grammar_is_minus_one(tmp_path: Path) -> None:
    project = make_project(tmp_path / "mirrors")
    settings = {"mirrors": [tmp_path / "mirrors"]}
    with served(project, tmp_path / "own", reward="swe_rl", settings=settings) as here, here.client() as client:
        good, bad = (client.post("/verify", json=rollout(each)).json() for each in (BLOCKS, "I give up."))
        patch = client.post("/step", json={"action": {"patch": GOLD, "instance_id": "acme__calc-1"}})
    assert (good["reward"], bad["reward"]) == (1.0, -1.0)
    assert "+    return a + b" in good["model_patch"]
    assert (patch.status_code, "swe_rl rewards what a model wrote" in patch.text) == (422, True)


def test_a_rollout_that_the_engine_ended_is_503_and_no_reward(serve: Serve) -> None:
    here = serve()
    here.break_engine()
    with here.client() as client:
        got = client.post("/verify", json=rollout(ANSWER))
    assert got.status_code == 503
    assert "reward" not in got.json()


def test_masked_answers_are_left_out_of_the_means(serve: Serve) -> None:
    answers = [{"instance_id": "a", "reward": 1.0}, {"instance_id": "a", "reward": 0.0, "mask_sample": True}]
    with serve().client() as client:
        means = client.post("/aggregate_metrics", json={"verify_responses": answers}).json()
    assert means["agent_metrics"] == {"mean/reward": 1.0}


# OpenEnv


def socket_of(here: Served) -> Any:
    return connect(here.url.replace("http://", "ws://") + "/ws", proxy=None, open_timeout=60)


def say(socket: Any, kind: str, **data: Any) -> Any:
    socket.send(json.dumps({"type": kind, "data": data}))
    return json.loads(socket.recv(timeout=60))


def test_an_episode_of_openenv_ends_in_a_reward(serve: Serve) -> None:
    with socket_of(serve()) as socket:
        first = say(socket, "reset", instance_id="acme__calc-2", episode_id="e")["data"]
        last = say(socket, "step", patch=GOLD)["data"]
        state = say(socket, "state")["data"]
        names = [say(socket, "reset")["data"]["observation"]["instance_id"] for _ in range(4)]
    assert (first["observation"]["problem_statement"], first["reward"], first["done"]) == ("add subtracts", None, False)
    assert (last["reward"], last["done"], last["observation"]["outcome"]) == (1.0, True, "resolved")
    assert state == {"episode_id": "e", "step_count": 1, "instance_id": "acme__calc-2"}
    assert names == ["acme__calc-1", "acme__calc-2", "acme__calc-3", "acme__calc-1"]


def test_messages_that_are_none_are_answered_by_an_error_and_the_session_goes_on(serve: Serve) -> None:
    with socket_of(serve()) as socket:
        socket.send("{")
        assert json.loads(socket.recv())["data"]["code"] == "INVALID_JSON"
        assert say(socket, "fly")["data"]["code"] == "UNKNOWN_TYPE"
        assert say(socket, "step", patch=GOLD)["data"]["message"].endswith("send reset first")
        assert say(socket, "step", pach="")["data"]["code"] == "VALIDATION_ERROR"
        assert say(socket, "reset", instance_id="nothing")["data"]["code"] == "EXECUTION_ERROR"
        assert say(socket, "reset")["type"] == "observation"


def test_a_failure_of_the_engine_is_an_error_of_openenv_and_no_reward(serve: Serve) -> None:
    here = serve()
    here.break_engine()
    with socket_of(here) as socket, here.client() as client:
        say(socket, "reset")
        answer = say(socket, "step", patch=GOLD)
        over_http = client.post("/step", json={"action": {"patch": GOLD, "instance_id": "acme__calc-1"}})
    assert answer["type"] == "error"
    assert "node 7 is gone" in answer["data"]["message"]
    assert over_http.status_code == 503


def test_over_http_each_call_of_openenv_is_an_episode(serve: Serve) -> None:
    with serve().client() as client:
        first = client.post("/reset", json={"seed": 1}).json()
        last = client.post("/step", json={"action": {"patch": GOLD, "instance_id": "acme__calc-2"}}).json()
        assert client.post("/step", json={"action": {"patch": GOLD}}).status_code == 422
        assert client.get("/schema").json()["action"]["required"] == ["patch"]
    assert first["observation"]["instance_id"] == "acme__calc-2"
    assert last["reward"] == 1.0


def test_a_client_of_openenv_that_leaves_takes_its_evaluation_with_it(serve: Serve) -> None:
    here = serve(jobs=1)
    here.engine.seconds = 600
    with socket_of(here) as socket:
        say(socket, "reset")
        socket.send(json.dumps({"type": "step", "data": {"patch": GOLD}}))
        until(lambda: here.engine.alive)
    until(lambda: not here.engine.alive)


def test_a_web_socket_needs_the_token_too(serve: Serve) -> None:
    with pytest.raises(Exception, match="403"), socket_of(serve(token="a-secret-of-some-length")):
        pass
