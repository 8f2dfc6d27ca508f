"""The server, asked over HTTP."""

import re
import time
from collections.abc import Iterator
from urllib.parse import urlencode

import httpx
import pytest

from assay.harness.errors import UserError
from assay.harness.runs.control import POLL, Steering, listen
from assay.viewer.runs import Viewer
from assay.viewer.server import ViewServer
from solved_run import MakeRun, Serve


def test_pages_assets_and_raw_files_are_served_with_safe_headers(make_run: MakeRun, serve: Serve) -> None:
    client = serve(make_run())
    for path, kind in {
        "/": "text/html",
        "/acme.model/": "text/html",
        "/acme.model/instances.html": "text/html",
        "/acme.model/instances/acme__calc-1.html": "text/html",
        "/assets/viewer.css": "text/css",
        "/assets/viewer.js": "text/javascript",
        "/acme.model/raw/acme__calc-1/patch.diff.txt": "text/plain",
    }.items():
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["Content-Type"] == f"{kind}; charset=utf-8"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; ")
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert client.head("/").content == b""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:80"}, 403),
        ({"Host": "localhost:9"}, 200),
        ({"Host": "[::1]"}, 200),
        ({"Host": "[::1"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200),
    ],
)
def test_request_that_another_site_caused_is_refused(
    headers: dict[str, str], status: int, make_run: MakeRun, serve: Serve
) -> None:
    assert serve(make_run()).get("/", headers=headers).status_code == status


def test_other_methods_than_get_are_refused(make_run: MakeRun, serve: Serve) -> None:
    assert serve(make_run()).post("/").status_code == 501


@pytest.fixture
def run_at_work(make_run: MakeRun, serve: Serve) -> Iterator[tuple[httpx.Client, Steering, dict[str, str]]]:
    """A client, a run at work that is shown, and the form of its page."""
    store = make_run()
    with listen(store) as steering:
        client = serve(store, control=True)
        page = client.get("/acme.model/index.html").text
        form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]+)"', page))
        assert form["run"] == "acme.model"
        yield client, steering, {**form, "order": "pause"}


def own(client: httpx.Client, **more: str) -> dict[str, str]:
    return {"Origin": str(client.base_url).rstrip("/"), **more}


def test_button_pauses_a_run(run_at_work: tuple[httpx.Client, Steering, dict[str, str]]) -> None:
    client, steering, form = run_at_work
    answer = client.post("/control", data=form, headers=own(client))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/acme.model/index.html")
    latest = time.monotonic() + 10
    while not steering.paused and time.monotonic() < latest:
        time.sleep(0.01)
    assert steering.paused
    page = client.get("/acme.model/index.html")
    assert 'value="resume"' in page.text
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert "form-action 'self'" in page.headers["Content-Security-Policy"]
    for wrong in ({"order": "burn"}, {"order": "jobs", "value": "0"}, {"order": "retry", "value": "../x"}):
        assert client.post("/control", data=form | wrong, headers=own(client)).status_code == 409
    assert client.post("/control", data=form | {"run": "other"}, headers=own(client)).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),  # its name leads here: DNS rebinding
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_order_that_another_site_gives_is_refused(
    headers: dict[str, str], status: int, run_at_work: tuple[httpx.Client, Steering, dict[str, str]]
) -> None:
    client, steering, form = run_at_work
    assert client.post("/control", content=urlencode(form), headers=own(client, **headers)).status_code == status
    assert client.post("/control", data=form).status_code == 403, "a page always says its origin"
    for token in ("", "guessed"):
        assert client.post("/control", data=form | {"token": token}, headers=own(client)).status_code == 403
    assert client.post("/control", content="x" * 20_000, headers=own(client)).status_code == 400
    assert client.get("/control", params=form).status_code == 404
    time.sleep(2 * POLL)
    assert not steering.paused


def test_orders_are_refused_where_nobody_asked_for_control(make_run: MakeRun, serve: Serve) -> None:
    store = make_run()
    with listen(store) as steering:
        client = serve(store)
        assert "<form class" not in client.get("/acme.model/index.html").text
        form = {"run": "acme.model", "order": "pause", "token": ""}
        assert client.post("/control", data=form, headers=own(client)).status_code == 501
        time.sleep(2 * POLL)
        assert not steering.paused
    with pytest.raises(UserError, match="exclude each other"):
        ViewServer(Viewer([]), host="0.0.0.0", token="secret", control=True)


def test_token_is_asked_for_once_and_then_kept_in_a_cookie(make_run: MakeRun, serve: Serve) -> None:
    client = serve(make_run(), token="secret")
    assert client.get("/").status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    answer = client.get("/?token=secret", follow_redirects=True)
    assert answer.status_code == 200
    assert "token" not in str(answer.url)
    assert client.get("/acme.model/").status_code == 200


def test_wide_address_without_token_is_refused() -> None:
    with pytest.raises(UserError, match="--token"):
        ViewServer(Viewer([]), host="0.0.0.0")


@pytest.mark.parametrize(
    "path",
    [
        "/acme.model/raw/acme__calc-1/../../../run.json.txt",
        "/acme.model/raw/%2e%2e/run.json.txt",
        "/acme.model/raw/acme__calc-1/link.txt",
        "/acme.model/raw/linked/secret.txt",
        "/acme.model/raw/acme__calc-1/pipe.txt",
        "/assets/../rendering.py",
        "/assets/%2e%2e%2frendering.py",
    ],
)
def test_file_outside_the_instances_is_not_served(path: str, make_run: MakeRun, serve: Serve) -> None:
    import os

    store = make_run()
    secret = store.root.parent / "outside"
    secret.mkdir()
    (secret / "secret.txt").write_text("secret")
    (store.root / "instances/acme__calc-1/link.txt").symlink_to(secret / "secret.txt")
    (store.root / "instances/linked").symlink_to(secret)
    os.mkfifo(store.root / "instances/acme__calc-1/pipe.txt")
    client = serve(store)
    answer = client.send(client.build_request("GET", httpx.URL(client.base_url, raw_path=path.encode())))
    assert answer.status_code == 404
    assert "secret" not in answer.text
