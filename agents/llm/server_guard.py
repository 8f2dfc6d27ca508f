"""A process between a run and its model server: it ends the server's process group when the run ends, in whatever way.

Standard input is a pipe from the run. A line on it says that the server has answered: from then on it is started again
if it ends. The end of the pipe is the end of the run. Standard output has a line for each start, with the number of the
process group, and for each end, with its status and how many starts are left.
"""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
EVERY = 0.1  # seconds between two looks
STARTED = "started"

Server = subprocess.Popen[bytes]


def guard(log: Path, restarts: int, command: str) -> None:
    """Run a server until the run ends, or it has ended too often."""
    server, has_answered = start(log, command), False
    while True:
        if select.select([sys.stdin], [], [], EVERY)[0]:
            if not os.read(sys.stdin.fileno(), 64):
                end(server)
                return
            has_answered = True
        status = server.poll()
        if status is None:
            continue
        signal_group(server, signal.SIGKILL)  # what it left
        left = restarts if has_answered else 0
        tell(status, left)
        if not left:
            return
        server, restarts = start(log, command), restarts - 1


def start(log: Path, command: str) -> Server:
    with log.open("ab") as output:
        words = ["/bin/sh", "-c", command]
        server = Server(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    tell(STARTED, server.pid)
    return server


def tell(*numbers: int | str) -> None:
    os.write(sys.stdout.fileno(), (" ".join(map(str, numbers)) + "\n").encode())


def end(server: Server) -> None:
    signal_group(server, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        server.wait(GRACE)
    signal_group(server, signal.SIGKILL)


def signal_group(server: Server, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(server.pid, number)


if __name__ == "__main__":
    guard(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
