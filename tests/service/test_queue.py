"""The life of an evaluation: clients that leave, the end, containers that wait, early stops."""

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from served import WRONG, Served, ask, connect, served, until
from toy import GOLD, MORE_TESTS, TESTS, make_instance

pytestmark = pytest.mark.slow

Serve = Callable[..., Served]


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
    until(lambda: here.engine.alive and here.figure("assay_reused_total") == 1)
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
def fast(tmp_path: Path) -> Iterator[Served]:
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
