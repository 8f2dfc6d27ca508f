"""Runs inside an agent's container: forwards 127.0.0.1:PORT to the proxy's Unix socket while a command runs.

Programs need an address to reach the model, and a container without a network has only its loopback interface. This
file is copied into the container alone and needs nothing but Python 3.9 or later.

    python3 -I bridge.py PORT SOCKET GRACE COMMAND...

The exit code is the command's. After the proxy has refused a question because the budget is used up (status 402), the
command has GRACE seconds to end; then its process group is terminated.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

KILL_AFTER = 5.0  # seconds between SIGTERM and SIGKILL
CHUNK = 65536
OVER_BUDGET = b" 402 "


def main(port: int, path: str, grace: float, command: list[str]) -> int:
    refused = threading.Event()
    server = socket.create_server(("127.0.0.1", port))
    threading.Thread(target=_serve, args=(server, path, refused), daemon=True).start()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_when, args=(refused, grace, child), daemon=True).start()
    code = child.wait()
    _signal(child, signal.SIGKILL)  # processes that it left behind in its group
    return code if code >= 0 else 128 - code


def _serve(server: socket.socket, path: str, refused: threading.Event) -> None:
    while True:
        connection, _ = server.accept()
        threading.Thread(target=_connect, args=(connection, path, refused), daemon=True).start()


def _connect(client: socket.socket, path: str, refused: threading.Event) -> None:
    with client, socket.socket(socket.AF_UNIX) as proxy:
        try:
            proxy.connect(path)
            upstream = threading.Thread(target=_forward, args=(client, proxy), daemon=True)
            upstream.start()
            _forward_reply(proxy, client, refused)
            _shut_down(client, socket.SHUT_RDWR)  # ends the other direction, which the program may keep open
            upstream.join()
        except OSError:
            return  # either side has disconnected


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        for data in iter(lambda: source.recv(CHUNK), b""):
            target.sendall(data)
    _shut_down(target, socket.SHUT_WR)


def _forward_reply(source: socket.socket, target: socket.socket, refused: threading.Event) -> None:
    """Forward the only reply of a connection, and note whether it is a refusal."""
    start = source.recv(CHUNK)
    target.sendall(start)
    if OVER_BUDGET in start.split(b"\r\n", 1)[0]:
        refused.set()
    _forward(source, target)


def _shut_down(connection: socket.socket, direction: int) -> None:
    with suppress(OSError):
        connection.shutdown(direction)


def _end_when(refused: threading.Event, grace: float, child: "subprocess.Popen[bytes]") -> None:
    refused.wait()
    for patience, number in ((grace, signal.SIGTERM), (KILL_AFTER, signal.SIGKILL)):
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
