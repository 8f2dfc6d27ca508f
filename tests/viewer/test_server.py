"""The server, asked over HTTP."""

import httpx
import pytest

from assay.harness.errors import UserError
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
