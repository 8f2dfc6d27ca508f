"""An HTTP endpoint in a thread that plays prepared replies in order and keeps the requests; makers of both."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assay.agents.llm.chat import Message, Request, Speaker


@dataclass
class Reply:
    """One reply and the faults of its transport."""

    status: int = 200
    body: str | dict[str, Any] = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    """Seconds between single bytes."""
    cut: int = 0
    """Bytes that Content-Length announces and that are not sent."""

    @property
    def text(self) -> str:
        return self.body if isinstance(self.body, str) else json.dumps(self.body)


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Played:
    """The endpoint; it repeats its last reply."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [Reply(body=said("hello"))]
        self.asked: list[Asked] = []
        self.url = ""
        self.lock = threading.Lock()

    def plays(self, *replies: Reply | dict[str, Any]) -> "Played":
        self.replies = [reply if isinstance(reply, Reply) else Reply(body=reply) for reply in replies]
        return self

    def next(self, asked: Asked) -> Reply:
        with self.lock:
            self.asked.append(asked)
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def said(text: str = "", **changes: Any) -> dict[str, Any]:
    """Return the body of a usual reply with 100 prompt tokens and 10 completion tokens."""
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "x", "model": "toy-2026-01-01", "choices": [choice], "usage": usage, **changes}


def make_request(text: str = "what is two plus two?", **changes: Any) -> Request:
    return Request(**{"model": "toy", "messages": (Message(role=Speaker.USER, content=text),), **changes})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    played: Played

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.played.next(Asked(self.path, headers, json.loads(text)))
        time.sleep(reply.delay)
        content = reply.text.encode()
        try:
            self.send_response(reply.status)
            usual = {"Content-Length": str(len(content) + reply.cut), "Connection": "close"}
            for name, value in {**usual, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in [content[at : at + 1] for at in range(len(content))] if reply.drip else [content]:
                self.wfile.write(piece)
                time.sleep(reply.drip)
        except OSError:  # the client has disconnected, as some tests make it do
            pass
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def played_endpoint(played: Played | None = None) -> Iterator[Played]:
    played = played or Played()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"played": played}))
    server.daemon_threads = True  # a late reply is not waited for
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    played.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield played
    server.shutdown()
    server.server_close()
    thread.join()
