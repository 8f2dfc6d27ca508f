"""A package index served from this machine, a git repository and an empty cache."""

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assay.instances.trees.sources import Sources
from toys import CrateIndex, GoProxy, Index, NpmRegistry, Repository


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass

    def send_head(self) -> Any:
        """Serve the JSON form of a folder that has one."""
        if self.path.endswith("/") and Path(self.translate_path(self.path), "index.json").is_file():
            self.path += "index.json"
        return super().send_head()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    folder = tmp_path / "index"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/simple"
        monkeypatch.setenv("UV_DEFAULT_INDEX", url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield Index(folder, url)
        server.shutdown()
        thread.join()


@pytest.fixture
def go_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GoProxy:
    """A module proxy of our own, which go is set to use."""
    if shutil.which("go") is None:
        pytest.skip("there is no go on this machine")
    folder = tmp_path / "proxy"
    folder.mkdir()
    monkeypatch.setenv("GOPROXY", folder.as_uri())
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    return GoProxy(folder)


@pytest.fixture
def crate_index(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CrateIndex:
    """A crate registry of our own, which cargo is set to use."""
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo on this machine")
    url = index.url.removesuffix("/simple")
    home = tmp_path / "cargo"
    home.mkdir()
    settings = '[source.crates-io]\nreplace-with = "here"\n[source.here]\nregistry = "sparse+{}/crate-index/"\n'
    (home / "config.toml").write_text(settings.format(url))
    monkeypatch.setenv("CARGO_HOME", str(home))
    return CrateIndex(index.folder, url)


@pytest.fixture
def npm_registry(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NpmRegistry:
    """A registry of our own, which npm is set to use."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm on this machine")
    url = index.url.removesuffix("/simple") + "/npm"
    monkeypatch.setenv("npm_config_registry", f"{url}/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    return NpmRegistry(index.folder, url)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(cache=tmp_path / "cache")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "work"
    folder.mkdir()
    made = Repository(folder)
    made.git("init", "--quiet")
    return made
