"""A host that asks for a password: a package index of each kind, and git repositories, served on this machine."""

import base64
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from toys import make_zip

USER, PASSWORD, TOKEN = "ada", "pl4nted%Pass-word", "planted-T0ken-0123456789"
BASIC = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
PLANTED = tuple(word.encode() for word in (PASSWORD, PASSWORD.replace("%", "%25"), BASIC, TOKEN))
"""Forms of the secrets: no file may have one after a step."""


class _Host(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.headers.get("Authorization", "") not in (f"Basic {BASIC}", f"Bearer {TOKEN}", TOKEN):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="private"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path.startswith("/git/"):
            self._serve_git()
        elif Path(self.translate_path(self.path), "index.json").is_file():
            self._serve_json(Path(self.translate_path(self.path), "index.json").read_bytes())
        else:
            super().do_GET()

    do_POST = do_GET  # noqa: N815

    def _serve_json(self, page: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.end_headers()
        self.wfile.write(page)

    def _serve_git(self) -> None:
        url = urlsplit(self.path)
        env = {
            **os.environ,
            "GIT_PROJECT_ROOT": self.directory,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        asked = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        said = subprocess.run(["git", "http-backend"], input=asked, env=env, capture_output=True, check=True).stdout
        head, _, body = said.partition(b"\r\n\r\n")
        self.send_response(200)
        self.wfile.write(b"".join(self._headers_buffer) + head + b"\r\n\r\n" + body)
        self._headers_buffer = []

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def serve_private(folder: Path, address: str = "127.0.0.1") -> Iterator[str]:
    """Serve a folder to who has the password or the token; what is below ``git`` are repositories. Yields the URL."""
    with ThreadingHTTPServer((address, 0), partial(_Host, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{address}:{server.server_port}"
        server.shutdown()


def add_wheel(root: Path) -> None:
    """Publish the wheel ``toy`` 1.0 in an index with dates."""
    info = {"METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n", "RECORD": ""}
    info["WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    wheel = make_zip({"toy.py": "MADE = 'privately'\n", **{f"toy-1.0.dist-info/{name}": info[name] for name in info}})
    (root / "simple/toy").mkdir(parents=True)
    (root / "toy-1.0-py3-none-any.whl").write_bytes(wheel)
    file = {"filename": "toy-1.0-py3-none-any.whl", "url": "../../toy-1.0-py3-none-any.whl"}
    file |= {"upload-time": "2020-01-01T00:00:00Z", "hashes": {"sha256": hashlib.sha256(wheel).hexdigest()}}
    (root / "simple/toy/index.json").write_text(json.dumps({"meta": {"api-version": "1.1"}, "files": [file]}))


def find_planted(*folders: Path) -> list[str]:
    """List the files that hold a secret; links are not followed."""
    paths = (path for folder in folders for path in (folder, *folder.rglob("*")))
    files = [path for path in paths if path.is_file() and not path.is_symlink()]
    return [str(path) for path in files if any(word in path.read_bytes() for word in PLANTED)]
