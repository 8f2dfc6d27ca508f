"""Connects this process's input and output, and its terminal if it has one, to a program in a box."""

import os
import select
import signal
import socket
import ssl
import termios
import threading
import tty
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress

INPUT, OUTPUT, ERRORS = 0, 1, 2
CHUNK = 65536
POLL = 0.2  # seconds between two looks at whether the program has ended


def has_terminal() -> bool:
    """Return whether a person types here and sees the output."""
    return os.isatty(INPUT) and os.isatty(OUTPUT)


def converse(
    connection: socket.socket, printed: Iterable[tuple[int, bytes]], resize: Callable[[int, int], object] | None
) -> None:
    """Pass on input and output until ``printed`` ends: chunks, each with the number of its stream.

    With ``resize``, which gets rows and columns, the terminal passes on every key and its size; it is as before when
    this returns.
    """
    over = threading.Event()
    threading.Thread(target=_send, args=(connection, over), daemon=True).start()
    with ExitStack() as stack:
        stack.callback(over.set)
        if resize is not None:
            _connect_terminal(resize, stack)
        for stream, chunk in printed:
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(ERRORS if stream == ERRORS else OUTPUT, rest) :]


def _send(connection: socket.socket, over: threading.Event) -> None:
    with suppress(OSError):  # the program has ended, or there is no input
        while not over.is_set():
            if select.select([INPUT], [], [], POLL)[0]:
                typed = os.read(INPUT, CHUNK)
                if not typed:
                    break
                connection.sendall(typed)
    if not (over.is_set() or isinstance(connection, ssl.SSLSocket)):  # which can only be closed both ways
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)


def _connect_terminal(resize: Callable[[int, int], object], stack: ExitStack) -> None:
    def report_size(*_: object) -> None:
        size = os.get_terminal_size(OUTPUT)
        resize(size.lines, size.columns)

    stack.callback(termios.tcsetattr, INPUT, termios.TCSADRAIN, termios.tcgetattr(INPUT))
    stack.callback(signal.signal, signal.SIGWINCH, signal.signal(signal.SIGWINCH, report_size))
    tty.setraw(INPUT)
    report_size()
