"""The routes, asked over HTTP through a real server."""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from assay.harness.domain import Asset
from assay.harness.errors import EnvironmentFailure
from assay.harness.runs.store import RunStore
from assay.instances.dataset.formats import native
from served import WRONG, Served, ask, until, wrong
from stand_ins import row
from toy import GOLD, make_instance

pytestmark = pytest.mark.slow

Serve = Callable[..., Served]
JSON = {"Content-Type": "application/json"}


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
        ({"instance_id": "acme__calc-1"}, 422, "give either patch or answer"),
        (ask(answer="x"), 422, "give either patch or answer"),
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
        got = client.post("/v1/evaluate", content=content, headers=JSON)
    assert got.status_code == status
    assert words in got.json()["error"]
    assert "\n" not in got.json()["error"]


def test_a_text_that_is_no_unicode_is_a_rejected_patch_and_no_error(serve: Serve) -> None:
    with serve().client() as client:
        content = b'{"instance_id": "acme__calc-1", "patch": "\\ud800"}'
        got = client.post("/v1/evaluate", content=content, headers=JSON)
    assert (got.status_code, got.json()["outcome"]) == (200, "patch_rejected")


def test_an_unknown_path_method_or_id_is_refused(serve: Serve) -> None:
    with serve().client() as client:
        nothing, wrong_method = client.get("/v1/nothing"), client.get("/v1/evaluate")
        ids = {client.get(f"/v1/evaluations/{name}").status_code for name in ("0" * 64, "..%2f..%2fetc", "nothing")}
    assert (nothing.status_code, wrong_method.status_code, ids) == (404, 405, {404})
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
        batch = client.post("/v1/evaluate:batch", json={"evaluations": [ask(patch=wrong(1)), ask(patch=wrong(9))]})
        known = client.post("/v1/evaluate", json=ask(patch=wrong(1), wait=0))
        health = client.get("/v1/health").json()
    assert (refused.status_code, batch.status_code) == (429, 429)
    assert int(refused.headers["Retry-After"]) >= 1
    assert known.status_code == 202
    assert (health["running"], health["queued"]) == (1, 2)


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
    here.break_engine()
    with here.client() as client:
        for path in ("/v1/evaluate", "/v1/rewards"):
            got = client.post(path, json=ask())
            assert (got.status_code, got.json()["reward"], got.json()["outcome"]) == (503, None, "infra_error")
            assert int(got.headers["Retry-After"]) > 0
        here.engine.fault = lambda _call, _image: None
        assert client.post("/v1/rewards", json=ask()).json()["reward"] == 1.0


def test_an_environment_that_cannot_be_built_has_no_reward(serve: Serve) -> None:
    here = serve()
    here.break_engine(EnvironmentFailure("no such package"))
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
        got = client.post("/v1/rewards", content=json.dumps(ask(reward=wanted)), headers=JSON)
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


def test_a_patch_where_an_answer_is_rewarded_is_refused(serve: Serve) -> None:
    with serve().client() as client:
        got = client.post("/v1/rewards", json=ask(reward={"swe_rl": 1, "resolved": 1}))
    assert got.status_code == 422
    assert "field answer: is missing; swe_rl rewards what a model wrote" in got.json()["error"]


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


def test_a_row_that_names_a_file_of_this_machine_is_refused(serve: Serve) -> None:
    assets = (Asset(path="tests/a.bin", url="file:///etc/passwd"),)
    theirs = native.from_instance(make_instance(id="other__project-7", assets=assets))
    with serve(accepts_instances=True).client() as client:
        got = client.post("/v1/evaluate", json={"instance": theirs, "patch": GOLD})
    assert (got.status_code, got.json()["error"]) == (422, "field instance: assets may have https addresses only")
