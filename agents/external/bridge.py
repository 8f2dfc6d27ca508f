"""Runs in an agent's container: lets a program reach the model at an address, and ends it when the budget is used up.

Programs want an address and a container without a network has none, so this listens on the loopback interface and
carries every connection to the Unix socket behind which the host's proxy waits. It stands alone and needs nothing but
a Python of 3.9 or later.

    python3 -I bridge.py PORT SOCKET GRACE COMMAND...

The exit code is the command's. Once the proxy has refused a question for want of budget (status 402), the command has
GRACE seconds to end by itself, and then is ended with all that it started in its own process group.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

LAST = 5.0
"""Seconds between the signal to end and the one that none survives."""
CHUNK = 65536
NO_BUDGET = b" 402 "


def main(port: int, path: str, grace: float, command: list[str]) -> int:
    """Run a command with the bridge beside it; return its exit code."""
    refused = threading.Event()
    server = socket.create_server(("127.0.0.1", port))
    threading.Thread(target=_serve, args=(server, path, refused), daemon=True).start()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_when, args=(refused, grace, child), daemon=True).start()
    code = child.wait()
    _signal(child, signal.SIGKILL)  # what it left behind in its group
    return code if code >= 0 else 128 - code


def _serve(server: socket.socket, path: str, refused: threading.Event) -> None:
    while True:
        line, _ = server.accept()
        threading.Thread(target=_connect, args=(line, path, refused), daemon=True).start()


def _connect(line: socket.socket, path: str, refused: threading.Event) -> None:
    with line, socket.socket(socket.AF_UNIX) as host:
        try:
            host.connect(path)
            up = threading.Thread(target=_carry, args=(line, host), daemon=True)
            up.start()
            _carry_reply(host, line, refused)
            _end(line, socket.SHUT_RDWR)  # the program may keep its end open: the other direction ends as well
            up.join()
        except OSError:
            return  # either side went away


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        for data in iter(lambda: source.recv(CHUNK), b""):
            target.sendall(data)
    _end(target, socket.SHUT_WR)


def _carry_reply(source: socket.socket, target: socket.socket, refused: threading.Event) -> None:
    """Carry one reply; the proxy gives one a connection."""
    begin = source.recv(CHUNK)
    target.sendall(begin)
    if NO_BUDGET in begin.split(b"\r\n", 1)[0]:
        refused.set()
    _carry(source, target)


def _end(line: socket.socket, direction: int) -> None:
    with suppress(OSError):
        line.shutdown(direction)


def _end_when(refused: threading.Event, grace: float, child: "subprocess.Popen[bytes]") -> None:
    refused.wait()
    for patience, number in ((grace, signal.SIGTERM), (LAST, signal.SIGKILL)):
        try:
            child.wait(patience)
            return
        except subprocess.TimeoutExpired:
            _signal(child, number)


def _signal(child: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(OSError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4:]))
