"""A program in a Docker container that is sent its work one piece after another, over one connection."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any

from assay.harness.engines.caps import Deadline, Watch


class DockerPipe:
    """An open connection to a program; for one thread at a time."""

    def __init__(
        self,
        stream: Any,
        errors: Callable[[], AbstractContextManager[None]],
        kill: Callable[[], None],
        watch: Callable[[], Watch],
    ) -> None:
        """Take the SDK's stream, what turns its errors into ours, what ends the box, and what watches its disk."""
        from docker.utils.socket import frames_iter

        self._stream = stream
        self._errors, self._kill, self._watch = errors, kill, watch
        self._chunks: Iterator[tuple[int, bytes]] = frames_iter(stream, tty=False)  # type: ignore[no-untyped-call]

    def exchange(self, sent: bytes, end: bytes, seconds: float) -> bytes | None:
        """Send bytes; return what the program prints up to ``end``, without it, or None if it ended before."""
        told = bytearray()
        with self._errors(), self._watch(), Deadline(seconds, self._kill):
            try:
                # The SDK hides the socket of a local connection in a file that cannot be written.
                getattr(self._stream, "_sock", self._stream).sendall(sent)
            except (BrokenPipeError, ConnectionResetError):
                return None
            for _, chunk in self._chunks:
                told += chunk
                if told.endswith(end):
                    return bytes(told[: -len(end)])
        return None

    def close(self) -> None:
        """Close the connection."""
        # The SDK leaves closing to its caller, and the response hides on the socket.
        with suppress(AttributeError):
            self._stream._response.close()
        self._stream.close()
