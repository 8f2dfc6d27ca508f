"""The routes, asked over HTTP through a real server."""

import json
import re
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from assay import Instance
from assay.harness.domain import Asset
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.harness.runs.store import RunStore
from assay.instances.dataset.formats import native
from assay.service import guard
from assay.service import server as serving
from served import Served, served, until
from stand_ins import row
from toy import GOLD, MORE_TESTS, TESTS

Serve = Callable[..., Served]
WRONG = GOLD.replace("+    return a + b", "+    return a * b")


def ask(name: str = "acme__calc-1", patch: str = GOLD, **more: Any) -> dict[str, Any]:
    return {"instance_id": name, "patch": patch, **more}


def wrong(number: int) -> str:
    return GOLD.replace("+    return a + b", f"+    return a * {number}")


def test_the_gold_patch_is_resolved_and_another_is_not(serve: Serve) -> None:
    with serve().client() as client:
        good, bad = (client.post("/v1/evaluate", json=ask("ACME__calc-1", patch)) for patch in (GOLD, WRONG))
    assert (good.status_code, bad.status_code) == (200, 200)
    assert (good.json()["outcome"], good.json()["reward"], good.json()["resolved"]) == ("resolved", 1.0, True)
    assert (bad.json()["outcome"], bad.json()["reward"]) == ("unresolved", 0.0)
    assert bad.json()["unfixed"] == ["tests/test_calc.py::test_add"]


def test_two_hundred_clients_that_ask_for_few_contents_cause_one_evaluation_of_each(serve: Serve) -> None:
    here = serve()
    here.engine.seconds = 0.3
    contents = [(f"acme__calc-{n}", patch) for n in (1, 2) for patch in (GOLD, WRONG, wrong(3))]

    def one(number: int) -> tuple[int, Any]:
        name, patch = contents[number % len(contents)]
        with here.client() as client:
            got = client.post("/v1/evaluate", json=ask(name, patch, wait=600))
        return got.status_code, (name, patch == GOLD, got.json()["instance_id"], got.json()["resolved"])

    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(one, range(200)))

    assert {status for status, _ in answers} == {200}
    assert all(name == answered and is_gold == resolved for _, (name, is_gold, answered, resolved) in answers)
    assert here.engine.opened == len(contents)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"patch": GOLD}, 422, "give either instance_id or instance"),
        ({"instance_id": "acme__calc-1"}, 422, "field patch: is missing"),
        (ask(patch=3), 422, "field patch"),  # type: ignore[arg-type]
        (ask(timeout=-1), 422, "field timeout"),
        (ask(timeout="1"), 422, "field timeout"),
        (ask(wait=1e9), 422, "field wait"),
        (ask(priority=1.5), 422, "field priority"),
        (ask(pach=""), 422, "field pach: is unknown"),
        (ask("acme__calk-1"), 404, "no instance acme__calk-1; close: acme__calc-1"),
        ({"instance": {"repo": "x"}, "patch": ""}, 403, "field instance: instances are taken only"),
        ([], 422, "the body is not a JSON object"),
        ("{", 422, "the body is not JSON"),
        ("[" * 100_000, 422, "the body is not JSON"),
        ("\xff", 422, "the body is not JSON"),
        ("", 422, "the body is not JSON"),
    ],
)
def test_a_malformed_body_is_answered_by_one_line_that_names_the_field(
    serve: Serve, body: Any, status: int, words: str
) -> None:
    content = body.encode("latin-1") if isinstance(body, str) else json.dumps(body).encode()
    with serve().client() as client:
        got = client.post("/v1/evaluate", content=content, headers={"Content-Type": "application/json"})
    assert got.status_code == status
    assert words in got.json()["error"]
    assert "\n" not in got.json()["error"]


def test_a_text_that_is_no_unicode_is_a_rejected_patch_and_no_error(serve: Serve) -> None:
    with serve().client() as client:
        got = client.post(
            "/v1/evaluate",
            content=b'{"instance_id": "acme__calc-1", "patch": "\\ud800"}',
            headers={"Content-Type": "application/json"},
        )
    assert (got.status_code, got.json()["outcome"]) == (200, "patch_rejected")


def test_an_unknown_path_and_a_wrong_method_are_named(serve: Serve) -> None:
    with serve().client() as client:
        nothing, wrong_method = client.get("/v1/nothing"), client.get("/v1/evaluate")
    assert (nothing.status_code, wrong_method.status_code) == (404, 405)
    assert "GET /v1/nothing is no route" in nothing.json()["error"]


def test_what_takes_long_is_polled_by_its_id(serve: Serve) -> None:
    here = serve()
    here.engine.seconds = 0.5
    with here.client() as client:
        got = client.post("/v1/evaluate", json=ask(wait=0))
        assert got.status_code == 202
        assert got.json()["status"] in {"queued", "running"}
        assert got.headers["Location"] == f"/v1/evaluations/{got.json()['id']}"
        done = client.get(got.headers["Location"], params={"wait": 60})
    assert (done.status_code, done.json()["outcome"]) == (200, "resolved")
    assert here.engine.opened == 1


def test_stages_are_streamed_with_pings_between_them(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.service.v1.PING_SECONDS", 0.05)
    here = serve()
    here.engine.seconds = 0.5
    with here.client() as client:
        name = client.post("/v1/evaluate", json=ask(wait=0)).json()["id"]
        text = client.get(f"/v1/evaluations/{name}/events").text
    assert ": ping\n\n" in text
    events = re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)
    assert [event for event, _ in events] == ["running", "finished"]
    assert json.loads(events[-1][1])["outcome"] == "resolved"


def test_an_id_that_nobody_has_is_404(serve: Serve) -> None:
    with serve().client() as client:
        for name in ("0" * 64, "..%2f..%2fetc", "nothing"):
            assert client.get(f"/v1/evaluations/{name}").status_code == 404


def test_a_batch_answers_for_each_of_its_items_in_their_order(serve: Serve) -> None:
    here = serve()
    items = [ask("acme__calc-2"), ask("acme__calc-1", WRONG), ask("acme__calc-2")]
    with here.client() as client:
        got = client.post("/v1/evaluate:batch", json={"evaluations": items}).json()["results"]
    assert [(each["http_status"], each["instance_id"], each["reward"]) for each in got] == [
        (200, "acme__calc-2", 1.0),
        (200, "acme__calc-1", 0.0),
        (200, "acme__calc-2", 1.0),
    ]
    assert here.engine.opened == 2


def test_a_full_queue_refuses_with_the_seconds_to_wait_and_takes_no_part_of_a_batch(serve: Serve) -> None:
    here = serve(jobs=1, queue=2)
    here.engine.seconds = 600
    with here.client() as client:
        for number in range(3):
            assert client.post("/v1/evaluate", json=ask(patch=wrong(number), wait=0)).status_code == 202
        refused = client.post("/v1/evaluate", json=ask(patch=wrong(9), wait=0))
        known = client.post("/v1/evaluate", json=ask(patch=wrong(1), wait=0))
        health = client.get("/v1/health").json()
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) >= 1
    assert known.status_code == 202
    assert (health["running"], health["queued"]) == (1, 2)


def test_a_batch_for_which_there_is_no_room_leaves_nothing_behind(serve: Serve) -> None:
    here = serve(jobs=1, queue=1)
    items = [ask(patch=wrong(number)) for number in range(3)]
    with here.client() as client:
        assert client.post("/v1/evaluate:batch", json={"evaluations": items}).status_code == 429
        assert client.get("/v1/health").json()["queued"] == 0
    assert here.engine.opened == 0


def test_higher_priorities_are_evaluated_first_also_when_a_later_client_gives_them(serve: Serve) -> None:
    here = serve(jobs=1)
    order = []
    here.engine.fault = lambda call, image: order.append(image) if call == "open" else None
    here.engine.seconds = 0.5
    with here.client() as client:
        client.post("/v1/evaluate", json=ask("acme__calc-1", WRONG, wait=0))
        client.post("/v1/evaluate", json=ask("acme__calc-1", wait=0))
        client.post("/v1/evaluate", json=ask("acme__calc-2", wait=0))
        client.post("/v1/evaluate", json=ask("acme__calc-3", wait=0, priority=5))
        client.post("/v1/evaluate", json=ask("acme__calc-2", wait=0, priority=9))
        until(lambda: client.get("/v1/health").json() | {"version": ""} == {
            "status": "ok", "version": "", "queued": 0, "running": 0
        })  # fmt: skip
    assert [name.split(":")[0][-1] for name in order] == ["1", "2", "3", "1"]


def test_a_failure_of_the_engine_is_503_without_a_reward_and_is_tried_again(serve: Serve) -> None:
    here = serve()

    def fault(call: str, _image: str) -> None:
        if call == "open":
            raise EngineError("node 7 is gone")

    here.engine.fault = fault
    with here.client() as client:
        for path in ("/v1/evaluate", "/v1/rewards"):
            got = client.post(path, json=ask())
            assert (got.status_code, got.json()["reward"], got.json()["outcome"]) == (503, None, "infra_error")
            assert int(got.headers["Retry-After"]) > 0
        here.engine.fault = lambda _call, _image: None
        assert client.post("/v1/rewards", json=ask()).json()["reward"] == 1.0


def test_an_environment_that_cannot_be_built_has_no_reward(serve: Serve) -> None:
    here = serve()

    def fault(call: str, _image: str) -> None:
        if call == "open":
            raise EnvironmentFailure("no such package")

    here.engine.fault = fault
    with here.client() as client:
        for path in ("/v1/evaluate", "/v1/rewards"):
            got = client.post(path, json=ask())
            assert (got.status_code, got.json()["reward"], got.json()["outcome"]) == (200, None, "env_error")


def test_a_disk_that_refuses_a_result_gives_no_reward(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunStore, "save", refuse)
    with serve().client() as client:
        got = client.post("/v1/evaluate", json=ask())
    assert (got.status_code, got.json()["reward"]) == (503, None)
    assert "No space left on device" in got.json()["reason"]


def test_a_time_limit_of_a_request_is_content_of_its_own(serve: Serve) -> None:
    here = serve()
    with here.client() as client:
        names = [client.post("/v1/evaluate", json=ask(timeout=limit)).json()["id"] for limit in (None, 5, 7.5, 5)]
    assert len(set(names)) == 3
    assert here.engine.opened == 3


def test_a_mixture_of_rewards_has_its_parts_beside_it(serve: Serve) -> None:
    body = ask(patch=WRONG, reward={"resolved": 3, "applies": 1})
    with serve().client() as client:
        got = client.post("/v1/rewards", json=body).json()
    assert got["reward"] == 0.25
    assert got["components"] == {"resolved": 0.0, "applies": 1.0}


@pytest.mark.parametrize("wanted", ["resolvd", {"resolved": 0}, {"resolved": -1}, {}, {"applies": float("inf")}])
def test_a_reward_that_cannot_be_given_is_refused_before_anything_is_evaluated(serve: Serve, wanted: Any) -> None:
    here = serve()
    with here.client() as client:
        got = client.post(
            "/v1/rewards", content=json.dumps(ask(reward=wanted)), headers={"Content-Type": "application/json"}
        )
    assert got.status_code == 422
    assert got.json()["error"].startswith("field reward: ")
    assert here.engine.opened == 0


def test_similarity_alone_starts_no_container(serve: Serve) -> None:
    here = serve()
    with here.client() as client:
        got = client.post("/v1/rewards", json=ask(reward="similarity"))
    assert (got.status_code, got.json()["reward"]) == (200, 1.0)
    assert here.engine.opened == 0


def test_instances_are_listed_without_what_would_answer_them(serve: Serve) -> None:
    with serve().client() as client:
        page = client.get("/v1/instances", params={"offset": 1, "limit": 1}).json()
        one = client.get("/v1/instances/acme__calc-2")
        assert client.get("/v1/instances", params={"limit": "many"}).status_code == 422
        assert client.get("/v1/instances/nothing").status_code == 404
    assert (page["total"], [each["id"] for each in page["instances"]]) == (3, ["acme__calc-2"])
    assert one.json()["problem_statement"] == "add subtracts"
    assert "test_add" not in one.text
    assert "return a + b" not in one.text


def test_figures_can_be_read_by_prometheus_and_add_up(serve: Serve) -> None:
    here = serve()
    with here.client() as client:
        for patch in (GOLD, WRONG, GOLD):
            client.post("/v1/evaluate", json=ask(patch=patch))
        text = client.get("/metrics").text
    found = {family.name: family for family in text_string_to_metric_families(text)}
    ended = [each for each in found["assay_evaluations"].samples if each.name.endswith("_total")]
    outcomes = {each.labels["outcome"]: each.value for each in ended}
    assert outcomes == {"resolved": 1, "unresolved": 1}
    assert here.figure("assay_reused_total") == 1
    assert here.figure("assay_overhead_seconds_count") == 2


def test_the_list_of_routes_is_whole_and_its_page_fetches_nothing(serve: Serve) -> None:
    with serve(token="a-secret-of-some-length").client() as client:
        listed = client.get("/openapi.json").json()
        page = client.get("/docs")
        for path, methods in listed["paths"].items():
            for method in methods:
                got = client.request(method.upper(), re.sub(r"\{.*?\}", "x", path))
                assert got.status_code in {200, 401}, (method, path)
    assert set(listed["components"]["schemas"]) >= {"EvaluateBody", "BatchBody", "RewardBody"}
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert not re.search(r"src=|url\(|@import|https?://", page.text)
    assert all(path in page.text for path in listed["paths"] if path not in {"/openapi.json", "/docs"})


# Who may ask, and how


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic a-secret-of-some-length"}, 401),
        ({"Authorization": "Bearer a-secret-of-some-length"}, 200),
        ({"Authorization": "bearer a-secret-of-some-length", "Host": "gpu-7.example:8000"}, 200),
        ({"Authorization": "Bearer a-secret-of-some-length", "Origin": "http://evil.example"}, 403),
    ],
)
def test_a_token_is_asked_for(serve: Serve, headers: dict[str, str], status: int) -> None:
    with serve(token="a-secret-of-some-length").client() as client:
        assert client.get("/v1/instances", headers=headers).status_code == status
        assert client.get("/v1/health").status_code == 200


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_without_a_token_what_another_site_causes_is_refused(serve: Serve, headers: dict[str, str]) -> None:
    with serve().client() as client:
        assert client.get("/v1/instances", headers=headers).status_code == 403


def test_a_form_of_another_site_is_refused(serve: Serve) -> None:
    here = serve()
    with here.client() as client:
        assert client.post("/v1/evaluate", content=json.dumps(ask())).status_code == 415
    assert here.engine.opened == 0


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_that_is_too_large_is_refused(serve: Serve, declared: bool) -> None:
    content = json.dumps(ask(patch="x" * 20_000)).encode()
    with serve(max_body=10_000).client() as client:
        got = client.post(
            "/v1/evaluate",
            content=content if declared else iter([content[:5000], content[5000:]]),
            headers={"Content-Type": "application/json"},
        )
    assert got.status_code == 413
    assert "10000" in got.json()["error"]


def connect(here: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(here.url.rpartition(":")[2])), timeout=60)


def test_a_body_that_does_not_arrive_is_given_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)
    with connect(serve()) as slow:
        slow.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert slow.recv(1000).startswith(b"HTTP/1.1 408 ")


def test_a_head_that_does_not_arrive_is_given_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.2)
    with connect(serve()) as slow:
        slow.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: local")
        assert slow.recv(1000) == b""


def test_a_hundred_silent_connections_keep_nobody_from_asking(serve: Serve) -> None:
    here = serve()
    silent = [connect(here) for _ in range(100)]
    with here.client() as client:
        assert client.post("/v1/evaluate", json=ask()).status_code == 200
    for each in silent:
        each.close()


def test_nonsense_is_answered_by_400(serve: Serve) -> None:
    with connect(serve()) as client:
        client.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_does_not_read_its_answer_is_given_up(
    make_instance: Callable[..., Instance], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "KEPT_SECONDS", 1)
    long = make_instance(problem_statement="x" * 30_000_000)
    with served([long], tmp_path) as here, connect(here) as deaf:
        deaf.sendall(b"GET /v1/instances/acme__calc-1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connections = here.server._server.server_state.connections
        until(lambda: connections)
        until(lambda: not connections)


# Instances of clients


def test_a_row_of_a_client_is_evaluated_where_that_is_allowed(serve: Serve) -> None:
    here = serve(accepts_instances=True)
    with here.client() as client:
        got = client.post("/v1/evaluate", json={"instance": row("other__project-7"), "patch": GOLD})
        again = client.post("/v1/evaluate", json={"instance": row("other__project-7"), "patch": GOLD})
        changed = {**row("other__project-7"), "FAIL_TO_PASS": ["tests/test_calc.py::test_same"], "PASS_TO_PASS": []}
        other = client.post("/v1/evaluate", json={"instance": changed, "patch": GOLD})
    assert (got.json()["instance_id"], got.json()["outcome"]) == ("other__project-7", "resolved")
    assert again.json()["id"] == got.json()["id"] != other.json()["id"]
    assert here.engine.opened == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"patch": None}, "field patch"),
        ({"created_at": "yesterday"}, "field created_at"),
        ({"instance_id": "../x"}, "field instance_id"),
    ],
)
def test_a_row_that_is_wrong_is_refused_by_its_field(serve: Serve, changes: dict[str, Any], words: str) -> None:
    with serve(accepts_instances=True).client() as client:
        body = {"instance": {**row("other__project-7"), **changes}, "patch": GOLD}
        got = client.post("/v1/evaluate", json=body)
        nothing = client.post("/v1/evaluate", json={"instance": {"a": 1}, "patch": GOLD})
    assert (got.status_code, nothing.status_code) == (422, 422)
    assert words in got.json()["error"]
    assert "of no known dialect" in nothing.json()["error"]


def test_a_row_that_names_a_file_of_this_machine_is_refused(
    serve: Serve, make_instance: Callable[..., Instance]
) -> None:
    assets = (Asset(path="tests/a.bin", url="file:///etc/passwd"),)
    theirs = native.from_instance(make_instance(id="other__project-7", assets=assets))
    with serve(accepts_instances=True).client() as client:
        got = client.post("/v1/evaluate", json={"instance": theirs, "patch": GOLD})
    assert (got.status_code, got.json()["error"]) == (422, "field instance: assets may have https addresses only")


# Clients that leave


def leave_after_asking(here: Served, body: dict[str, Any]) -> socket.socket:
    content = json.dumps(body).encode()
    connected = connect(here)
    kind = "Host: localhost\r\nContent-Type: application/json\r\n"
    head = f"POST /v1/evaluate HTTP/1.1\r\n{kind}Content-Length: {len(content)}\r\n\r\n"
    connected.sendall(head.encode() + content)
    return connected


def test_an_evaluation_whose_clients_have_all_left_is_ended_with_its_container(serve: Serve) -> None:
    here = serve(jobs=1)
    here.engine.seconds = 600
    first, second = (leave_after_asking(here, ask(wait=600)) for _ in range(2))
    until(lambda: here.engine.alive)
    first.close()
    with here.client() as client:
        assert client.get("/v1/health").json()["running"] == 1
        second.close()
        until(lambda: not here.engine.alive)
        here.engine.seconds = 0
        assert client.post("/v1/evaluate", json=ask()).json()["outcome"] == "resolved"
    assert here.figure("assay_cancelled_total") == 1


def test_a_queued_evaluation_whose_client_has_left_never_begins(serve: Serve) -> None:
    here = serve(jobs=1)
    here.engine.seconds = 600
    with here.client() as client:
        client.post("/v1/evaluate", json=ask(wait=0))
        left = leave_after_asking(here, ask(patch=WRONG, wait=600))
        until(lambda: client.get("/v1/health").json()["queued"] == 1)
        left.close()
        until(lambda: client.get("/v1/health").json()["queued"] == 0)
    assert here.engine.opened == 1


def test_an_id_that_is_given_back_ends_its_evaluation_unless_another_client_waits(serve: Serve) -> None:
    here = serve(jobs=1)
    here.engine.seconds = 600
    with here.client() as client:
        name = client.post("/v1/evaluate", json=ask(wait=0)).json()["id"]
        client.post("/v1/evaluate", json=ask(wait=0))  # the same id: given out once
        until(lambda: here.engine.alive)
        waiting = leave_after_asking(here, ask(wait=600))
        until(lambda: here.figure("assay_reused_total") == 2)
        client.delete(f"/v1/evaluations/{name}")
        assert client.get("/v1/health").json()["running"] == 1
        waiting.close()
        until(lambda: client.get("/v1/health").json()["running"] == 0)


# The end


def test_at_a_signal_running_evaluations_finish_and_others_are_told_to_ask_again(serve: Serve) -> None:
    here = serve(jobs=1)
    here.engine.seconds = 2.0
    answers: dict[str, httpx.Response] = {}

    def one(patch: str) -> None:
        with here.client() as client:
            answers[patch] = client.post("/v1/evaluate", json=ask(patch=patch, wait=600))

    with here.client() as client:
        threads = []
        for number, patch in enumerate((GOLD, WRONG)):
            threads.append(threading.Thread(target=one, args=(patch,)))
            threads[-1].start()
            until(
                lambda number=number: (
                    sum(client.get("/v1/health").json()[name] for name in ("running", "queued")) > number
                )
            )
        here.stop()
        until(lambda: client.get("/v1/health").status_code == 503)
        refused = client.post("/v1/evaluate", json=ask("acme__calc-2"))
        for thread in threads:
            thread.join()
    assert (answers[GOLD].status_code, answers[GOLD].json()["outcome"]) == (200, "resolved")
    assert (answers[WRONG].status_code, answers[WRONG].json()["reward"]) == (503, None)
    assert refused.status_code == 503
    assert "Retry-After" in refused.headers
    until(lambda: here.drained)
    assert here.drained == [True]


def test_what_outlasts_the_limit_is_ended_without_a_verdict(serve: Serve) -> None:
    here = serve(jobs=1, drain=0.2)
    here.engine.seconds = 600
    with here.client() as client, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.post, "/v1/evaluate", json=ask(wait=600))
        until(lambda: here.engine.alive)
        here.stop()
        got = asked.result()
    assert (got.status_code, got.json()["reward"]) == (503, None)
    until(lambda: here.drained)
    assert here.drained == [False]
    assert Counter(path.name for path in here.folder.rglob("verdict.json")) == {}


# Containers that wait


def test_containers_wait_for_what_was_asked_last_and_are_gone_when_the_service_drains(serve: Serve) -> None:
    here = serve(settings={"spares": 2})
    with here.client() as client:
        assert client.post("/v1/evaluate", json={"instance_id": "acme__calc-1", "patch": GOLD}).status_code == 200
        until(lambda: len(here.engine.alive) == 1)  # it waits
        here.engine.seconds = 1.0
        task = {"instance_id": "acme__calc-1", "patch": WRONG, "wait": 0}
        assert client.post("/v1/evaluate", json=task).status_code == 202
        until(lambda: here.figure("assay_running") == 1)
    here.stop()
    until(lambda: here.drained)
    assert (here.drained, here.engine.alive) == ([True], set())


# Early stops


@pytest.fixture
def fast(make_instance: Callable[..., Instance], tmp_path: Path) -> Iterator[Served]:
    """A service that stops early; its instance has tests to be fixed in one of two files."""
    instance = make_instance(test_patch=TESTS + MORE_TESTS)
    with served([instance], tmp_path / "verdicts", settings={"fail_fast": True}) as here:
        yield here


def test_a_service_that_stops_early_says_so_and_runs_all_tests_for_functions_that_look_at_them(fast: Served) -> None:
    with fast.client() as client:
        early = client.post("/v1/rewards", json=ask(patch=WRONG)).json()
        assert (early["reward"], early["outcome"], early["broken"]) == (0.0, "unresolved", [])
        whole = client.post("/v1/rewards", json=ask(patch=WRONG, reward="tests")).json()
        assert (whole["reward"], whole["outcome"]) == (0.0, "unresolved")
        again = client.post("/v1/evaluate", json=ask(patch=WRONG)).json()
    assert "fail_fast" in early["flags"]
    assert not {"fail_fast", "fail_fast_not_used"} & set(whole["flags"])
    assert early["id"] != whole["id"] == again["id"]  # what ran all tests answers those that need fewer


def test_a_service_that_stops_early_resolves_what_passes_all_tests(fast: Served) -> None:
    with fast.client() as client:
        answer = client.post("/v1/rewards", json=ask()).json()
    assert (answer["reward"], answer["flags"]) == (1.0, [])
