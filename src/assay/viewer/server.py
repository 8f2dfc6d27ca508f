"""The server of the pages, for one person on this machine.

It binds a loopback address unless there is a token, answers GET and HEAD only, and refuses requests that another site
makes a browser send: a foreign Host (DNS rebinding), a foreign Origin, a page of another site that embeds or reads.
With ``control`` it also takes POST of orders to runs, and with an annotator POST of a person's answers, from its own
pages alone: they hold a token, made up anew for each server, that no other site can read. Answers go to one file.
"""

import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from assay.harness.errors import AssayError, UserError
from assay.harness.runs.control import give_order
from assay.service.guard import LOOPBACK, is_loopback
from assay.version import __version__
from assay.viewer import assets, raw
from assay.viewer.annotate import save_answer
from assay.viewer.live import read_events
from assay.viewer.pages import Pages
from assay.viewer.rendering import CONTROLLING, SERVED
from assay.viewer.runs import ViewedRun, Viewer

COOKIE = "assay_token"
HEADERS = {
    "Content-Security-Policy": f"{SERVED}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
CONTROLLED = {
    "Content-Security-Policy": f"{CONTROLLING}; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",  # or the browser says no Origin with a form
}
MAX_FORM = 16 * 1024  # bytes of an order or an answer
Act = Callable[[ViewedRun, Mapping[str, str]], str]
"""Does what a form asks for a run; returns the path of the page to show next."""
RAW_CSP = "default-src 'none'; sandbox; frame-ancestors 'none'"


class ViewServer(ThreadingHTTPServer):
    """Serves the pages of some runs until ``shutdown``."""

    daemon_threads = True

    def __init__(
        self, viewer: Viewer, host: str = "127.0.0.1", port: int = 0, token: str = "", *, control: bool = False
    ) -> None:
        """Bind an address; port 0 takes a free one.

        Raises UserError for a wide address without a token, with control, or with an annotator.
        """
        if host not in LOOPBACK and control:
            raise UserError(f"--control and --host {host} exclude each other: only who started a run may control it")
        if host not in LOOPBACK and viewer.annotator:
            raise UserError(f"--annotate and --host {host} exclude each other: one person answers, on this machine")
        if host not in LOOPBACK and not token:
            raise UserError(f"--host {host} lets other machines in; add --token, or leave the host out")
        self.token, self.control = token, control
        self.form_token = secrets.token_urlsafe(18) if control or viewer.annotator else ""
        self.pages = Pages(viewer, is_served=True, control=control, token=self.form_token)
        self.viewer = viewer
        if ":" in host:
            import socket

            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            message = f"{host} port {port}: {error.strerror or error}; choose another --port, 0 for any that is free"
            raise UserError(message) from error

    @property
    def url(self) -> str:
        """The address of the first page, with the token if there is one."""
        host, port = self.server_address[:2]
        name = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"http://{name}:{port}/" + (f"?token={self.token}" if self.token else "")


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    protocol_version = "HTTP/1.1"
    server_version = f"assay/{__version__}"
    sys_version = ""
    disable_nagle_algorithm = True  # or a body waits 40 ms for the ACK of its head
    timeout = 60

    def do_GET(self) -> None:
        try:
            url = urlsplit(self.path)
        except ValueError:
            self._send_text(HTTPStatus.BAD_REQUEST, "the address cannot be read")
            return
        if problem := self._foreign():
            self._send_text(HTTPStatus.FORBIDDEN, problem)
        elif not self._is_known():
            self._admit(url.path, url.query)
        else:
            self._answer(unquote(url.path).removeprefix("/"))

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """Give an order to a run, or write an answer, for a form of the viewer's pages."""
        self.close_connection = True  # what else is in the body is never read as a request
        length, host = self.headers.get("Content-Length", ""), self.headers.get("Host", "")
        text = self.rfile.read(int(length)) if length.isdecimal() and int(length) <= MAX_FORM else b""
        is_ours = is_loopback(host) and self.headers.get("Origin") == f"http://{host}"
        acts = {
            "/control": self._control if self.server.control else None,
            "/annotate": self._annotate if self.server.viewer.annotator else None,
        }
        act = acts.get(self.path)
        if not any(acts.values()):
            problem = "this server changes nothing; assay view --control has buttons, and --annotate FILE takes answers"
            self._send_text(HTTPStatus.NOT_IMPLEMENTED, problem)
        elif act is None or not text:
            self._send_text(HTTPStatus.BAD_REQUEST, "this is no order and no answer")
        elif not (is_ours and self._is_known() and self.headers.get("Sec-Fetch-Site") in {None, "same-origin"}):
            self._send_text(HTTPStatus.FORBIDDEN, "requests of other sites are refused")
        else:
            self._obey(act, {name: values[0] for name, values in parse_qs(text.decode(errors="replace")).items()})

    def _obey(self, act: Act, form: Mapping[str, str]) -> None:
        run = self.server.viewer.run(form.get("run", ""))
        if not secrets.compare_digest(form.get("token", "").encode(), self.server.form_token.encode()):
            self._send_text(HTTPStatus.FORBIDDEN, "reload the page: its token is of another server")
        elif run is None:
            self._send_text(HTTPStatus.NOT_FOUND, "there is no such run")
        else:
            try:
                path = act(run, form)
            except (AssayError, OSError) as error:
                self._send_text(HTTPStatus.CONFLICT, str(error))
                return
            self._begin(HTTPStatus.SEE_OTHER, "text/plain; charset=utf-8", 0)
            self.send_header("Location", f"/{path}")
            self.end_headers()

    def _control(self, run: ViewedRun, form: Mapping[str, str]) -> str:
        give_order(run.store, form.get("order", ""), form.get("value", ""))
        return f"{run.key}/index.html"

    def _annotate(self, run: ViewedRun, form: Mapping[str, str]) -> str:
        return save_answer(self.server.viewer, run, form)

    def _foreign(self) -> str:
        """Return why a request is not from one of our own pages or a person; empty if it is."""
        host = self.headers.get("Host", "")
        if not self.server.token and not is_loopback(host):
            return "this server answers to 127.0.0.1 and localhost only"
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            return "requests of other sites are refused"
        if self.headers.get("Sec-Fetch-Site") in {"cross-site", "same-site"}:
            is_visit = (
                self.headers.get("Sec-Fetch-Mode") == "navigate" and self.headers.get("Sec-Fetch-Dest") == "document"
            )
            return "" if is_visit else "requests of other sites are refused"
        return ""

    def _is_known(self) -> bool:
        if not self.server.token:
            return True
        pairs = (pair.strip().partition("=") for pair in self.headers.get("Cookie", "").split(";"))
        given = next((value for name, _, value in pairs if name == COOKIE), "")
        return secrets.compare_digest(given.encode(), self.server.token.encode())

    def _admit(self, path: str, query: str) -> None:
        given = parse_qs(query).get("token", [""])[0]
        if not secrets.compare_digest(given.encode(), self.server.token.encode()):
            self._send_text(HTTPStatus.FORBIDDEN, "open the address with the token that `assay view` printed")
            return
        self._begin(HTTPStatus.SEE_OTHER, "text/plain; charset=utf-8", 0)
        self.send_header("Set-Cookie", f"{COOKIE}={self.server.token}; HttpOnly; SameSite=Strict; Path=/")
        self.send_header("Location", f"/{path.lstrip('/')}")  # two slashes would name another host
        self.end_headers()

    def _answer(self, path: str) -> None:
        if path.startswith("assets/"):
            name = path.removeprefix("assets/")
            content = assets.read(name)
            if content is not None:
                self._send(content, assets.get_type(name))
                return
        if "/raw/" in path and self._send_raw(path):
            return
        run = self.server.viewer.run(path.removesuffix("/events"))
        if run is not None and path.endswith("/events"):
            self._send_events(run)
            return
        try:
            page = self.server.pages.find_html(path + "index.html" if path == "" or path.endswith("/") else path)
        except (AssayError, OSError) as error:  # a run that was moved or is being written
            self._send_text(HTTPStatus.INTERNAL_SERVER_ERROR, f"the run cannot be read: {error}")
            return
        if page is None:
            self._send_text(HTTPStatus.NOT_FOUND, "there is no such page")
        else:
            self._send(page.encode(errors="replace"), "text/html; charset=utf-8")

    def _send_raw(self, path: str) -> bool:
        file = raw.open_path(self.server.viewer, path)
        if file is None:
            return False
        with file:
            size = file.seek(0, 2)
            file.seek(0)
            self._begin(HTTPStatus.OK, "text/plain; charset=utf-8", size, csp=RAW_CSP)
            self.end_headers()
            if self.command != "HEAD":
                shutil.copyfileobj(file, self.wfile)
        return True

    def _send_events(self, run: ViewedRun) -> None:
        """Send the state of a live run until it ends or the page is left."""
        self.close_connection = True  # nobody knows how long it will be
        self._begin(HTTPStatus.OK, "text/event-stream", None)
        self.end_headers()
        with suppress(AssayError, OSError):
            for event in read_events(run) if self.command != "HEAD" else ():
                self.wfile.write(event)

    def _send_text(self, status: HTTPStatus, text: str) -> None:
        self._send(f"{text}\n".encode(), "text/plain; charset=utf-8", status)

    def _send(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._begin(status, kind, len(content))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _begin(self, status: HTTPStatus, kind: str, length: int | None, csp: str = "") -> None:
        self.send_response(status)
        own = CONTROLLED if self.server.form_token else {}
        for name, value in HEADERS.items():
            self.send_header(name, csp if csp and name == "Content-Security-Policy" else own.get(name, value))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """A person looks at pages, not at requests."""
