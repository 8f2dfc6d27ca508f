"""Real things to load from: a package index on this machine, git repositories, and data sets, all made here."""

import hashlib
import io
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assay.harness.domain import Archive
from assay.instances.sources import Sources


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@dataclass
class Index:
    """A folder that is served as a package index."""

    folder: Path
    url: str = ""
    links: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, version: str, files: Mapping[str, str | bytes], **modes: int) -> Archive:
        """Publish a release with these files and return its name."""
        archive = make_archive(f"{name}-{version}", files)
        digest = hashlib.sha256(archive).hexdigest()
        (self.folder / "files").mkdir(exist_ok=True)
        (self.folder / "files" / f"{name}-{version}.tar.gz").write_bytes(archive)
        links = self.links.setdefault(name, [])
        links.append(f'<a href="../../files/{name}-{version}.tar.gz#sha256={digest}">{name}-{version}.tar.gz</a>')
        page = self.folder / "simple" / name
        page.mkdir(parents=True, exist_ok=True)
        (page / "index.html").write_text("<html><body>" + "<br/>".join(links) + "</body></html>")
        return Archive(name=name, version=version, sha256=digest)


def make_archive(top: str, files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size = len(data)
            member.mode = 0o755 if path.endswith(".sh") else 0o644
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    folder = tmp_path / "index"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/simple"
        monkeypatch.setenv("UV_DEFAULT_INDEX", url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield Index(folder, url)
        server.shutdown()
        thread.join()


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(cache=tmp_path / "cache")


@dataclass
class Repository:
    """A git repository with a work tree."""

    folder: Path

    def git(self, *args: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"]
        done = subprocess.run(["git", *who, *args], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, message: str = "state") -> str:
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "work"
    folder.mkdir()
    made = Repository(folder)
    made.git("init", "--quiet")
    return made
