"""What a command prints, made safe for a terminal."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from assay.harness.errors import make_printable


class PrintableStream:
    """A stream of text on which nothing from a file, a model or a container moves the cursor or hides other text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(make_printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guard_streams() -> Iterator[None]:
    """Let this process print only what is safe."""
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(cast("TextIO", PrintableStream(sys.stdout))))
        stack.enter_context(redirect_stderr(cast("TextIO", PrintableStream(sys.stderr))))
        yield


def get_raw(stream: TextIO) -> TextIO:
    """Return the stream beneath a guarded one, for what prints colours and makes its own texts printable."""
    return stream._stream if isinstance(stream, PrintableStream) else stream
