"""A host that asks for a password: a package index of each kind, and git repositories, served on this machine."""

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from toys import CrateIndex, Index, NpmRegistry

USER, PASSWORD, TOKEN = "ada", "pl4nted%Pass-word", "planted-T0ken-0123456789"
LOGIN = f"{USER}:{PASSWORD.replace('%', '%25')}@"
BASIC = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
PLANTED = tuple(word.encode() for word in (PASSWORD, PASSWORD.replace("%", "%25"), BASIC, TOKEN))
"""Forms of the secrets: no file may have one after a step."""
POM = "<project><modelVersion>4.0.0</modelVersion>{}<packaging>pom</packaging></project>"
PARENT = "<groupId>acme</groupId><artifactId>base</artifactId><version>1</version>"


class _Host(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        page = Path(self.translate_path(self.path), "index.json")
        if self.headers.get("Authorization", "") not in (f"Basic {BASIC}", f"Bearer {TOKEN}", TOKEN):
            self._send(401, b'WWW-Authenticate: Basic realm="private"\r\nContent-Length: 0\r\n\r\n')
        elif self.path.startswith("/git/"):
            self._send(200, self._ask_git())
        elif page.is_file():
            self._send(200, b"Content-Type: application/vnd.pypi.simple.v1+json\r\n\r\n" + page.read_bytes())
        else:
            super().do_GET()

    do_POST = do_GET  # noqa: N815

    def _send(self, status: int, answer: bytes) -> None:
        self.wfile.write(f"HTTP/1.0 {status} x\r\n".encode() + answer)

    def _ask_git(self) -> bytes:
        url = urlsplit(self.path)
        how = {"GIT_PROJECT_ROOT": self.directory, "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command}
        how |= {"PATH_INFO": url.path, "QUERY_STRING": url.query, "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        for variable, header in (("CONTENT_TYPE", "Content-Type"), ("HTTP_CONTENT_ENCODING", "Content-Encoding")):
            how[variable] = self.headers.get(header, "")
        asked = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        command = ["git", "-c", "safe.directory=*", "http-backend"]
        return subprocess.run(command, input=asked, env={**os.environ, **how}, capture_output=True, check=True).stdout

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def serve_private(folder: Path, address: str = "127.0.0.1") -> Iterator[str]:
    """Serve packages, and repositories below ``git``, to who has the password or the token; yields the URL."""
    with ThreadingHTTPServer((address, 0), partial(_Host, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://{address}:{server.server_port}"
        _publish(folder, url)
        yield url
        server.shutdown()


def _publish(root: Path, url: str) -> None:
    """Publish ``toy`` 1.0 in an index of Python's with dates and in npm's, a crate and the parent of a POM."""
    project = {"pyproject.toml": "[project]\nname = 'toy'\nversion = '1.0'\n", "toy.py": "MADE = 'privately'\n"}
    Index(root).add("toy", "1.0", project, "2020-01-01T00:00:00Z")
    NpmRegistry(root, f"{url}/npm").add("toy", "1.0.0", {"index.js": ""}, "2020-01-01T00:00:00Z")
    CrateIndex(root, url).add("toys", "1.0.0", {})
    config = root / "crate-index/config.json"
    config.write_text(config.read_text().replace("{", '{"auth-required": true, ', 1))
    (root / "maven/acme/base/1").mkdir(parents=True)
    (root / "maven/acme/base/1/base-1.pom").write_text(POM.format(PARENT))


def find_planted(*folders: Path) -> list[str]:
    """List the files that hold a secret; links are not followed."""
    paths = (path for folder in folders for path in (folder, *folder.rglob("*")))
    files = [path for path in paths if path.is_file() and not path.is_symlink()]
    return [str(path) for path in files if any(word in path.read_bytes() for word in PLANTED)]
