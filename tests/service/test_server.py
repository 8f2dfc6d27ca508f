"""The service as a process: killed, restarted, and ended by signals."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay import Evaluator, UserError
from assay.service.serve import ServiceOptions, open_server
from served import SLOW, process, until
from stand_ins import row
from toy import GOLD, make_instance

pytestmark = pytest.mark.slow

IDS = [f"acme__calc-{number}" for number in range(1, 9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row(name)) + "\n" for name in IDS))
    return tmp_path


def post(url: str, name: str, patch: str = GOLD, **more: Any) -> httpx.Response:
    body = {"instance_id": name, "patch": patch, "wait": SLOW, **more}
    return httpx.post(f"{url}/v1/evaluate", json=body, timeout=SLOW, trust_env=False)


def test_a_killed_service_has_lost_no_verdict_that_it_gave(folder: Path) -> None:
    answered: dict[str, str] = {}
    with process(folder, "rows.jsonl", "-j", "2", ASSAY_FAKE_SECONDS="0.2") as (killed, url):

        def one(name: str) -> None:
            try:
                answered[name] = post(url, name).json()["id"]
            except httpx.HTTPError:
                return

        with ThreadPoolExecutor(len(IDS)) as pool:
            asked = [pool.submit(one, name) for name in IDS]
            until(lambda: len(answered) >= 3)
            killed.kill()
        assert all(each.done() for each in asked)
    assert 3 <= len(answered) < len(IDS)
    with process(folder, "rows.jsonl", "-j", "2", ASSAY_FAKE_SECONDS="30") as (_, url):
        for name, key in answered.items():
            got = httpx.get(f"{url}/v1/evaluations/{key}", timeout=SLOW, trust_env=False).json()
            assert (got["instance_id"], got["outcome"]) == (name, "resolved")
            assert post(url, name, wait=1).status_code == 200  # nothing runs again: that would take 30 s
        assert post(url, next(name for name in IDS if name not in answered), wait=0).status_code == 202


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_service_with_status_0(folder: Path, number: int) -> None:
    with process(folder, "rows.jsonl") as (started, _):
        started.send_signal(number)
        assert started.wait(SLOW) == 0


def test_a_signal_lets_what_runs_finish_and_saves_it(folder: Path) -> None:
    with process(folder, "rows.jsonl", "-j", "1", ASSAY_FAKE_SECONDS="1") as (started, url):
        assert post(url, IDS[0], wait=0).status_code == 202
        started.send_signal(signal.SIGTERM)
        assert started.wait(SLOW) == 0
    assert len(list(folder.rglob("verdict.json"))) == 1


@pytest.mark.parametrize("again", [True, False])
def test_a_second_signal_or_the_end_of_the_time_ends_it_with_status_130(folder: Path, again: bool) -> None:
    limit = SLOW if again else 0.2
    with process(folder, "rows.jsonl", "--drain", str(limit), ASSAY_FAKE_SECONDS="600") as (started, url):
        assert post(url, IDS[0], wait=0).status_code == 202
        started.send_signal(signal.SIGTERM)
        if again:
            assert started.stderr is not None
            next(line for line in started.stderr if line.startswith("finishing 1 evaluation"))
            started.send_signal(signal.SIGTERM)
        assert started.wait(SLOW) == 130
    assert list(folder.rglob("verdict.json")) == []


def test_answers_on_a_kept_connection_wait_for_no_acknowledgement(folder: Path) -> None:
    with process(folder, "rows.jsonl") as (_, url), httpx.Client(base_url=url, timeout=SLOW, trust_env=False) as client:
        taken = [client.get("/v1/health").elapsed.total_seconds() for _ in range(60)]
    assert min(taken[30:]) < 0.03  # 0.04 is the time for which Linux keeps an ACK back


def test_an_address_that_is_taken_or_open_to_others_is_refused(tmp_path: Path) -> None:
    evaluator = Evaluator([make_instance()], engine="fake")
    with open_server(evaluator, tmp_path / "a", ServiceOptions()) as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(UserError, match=f"port {port}: .*choose another --port"):
            open_server(evaluator, tmp_path / "b", ServiceOptions(port=port)).__enter__()
    with pytest.raises(UserError, match=r"--host 0\.0\.0\.0 lets other machines in; add --token-file"):
        open_server(evaluator, tmp_path / "c", ServiceOptions(host="0.0.0.0")).__enter__()
