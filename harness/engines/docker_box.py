"""One running container of Docker, or of anything that speaks its API, and the programs that run in it."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from assay.harness.domain import Limits
from assay.harness.engines.base import Box, BoxEnd, ExecResult, Pipe
from assay.harness.engines.caps import DISK_POLL, FILE_TOO_LARGE, MIB, CappedOutput, Deadline, Watch
from assay.harness.engines.kernel import count_unlinked_bytes, memory_ran_out, processes_were_limited
from assay.harness.engines.tars import extract_files
from assay.harness.engines.terminal import converse, has_terminal
from assay.harness.errors import EngineError, ImageMissing

if TYPE_CHECKING:
    from docker import APIClient

KILLED = 137  # 128 + SIGKILL
RESIZES, STARTING = 10, 0.05
"""A program's terminal has no size while the program starts: tries to give it one, and seconds between them."""
SETTLE = 0.3  # seconds after which the engine knows that a container has ended whose command it saw killed


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn every failure of the SDK into an EngineError; the only place that knows the SDK's errors."""
    import docker.errors
    import requests.exceptions
    import urllib3.exceptions

    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise ImageMissing(str(error.explanation or error)) from error
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        raise EngineError(f"the container engine failed: {getattr(error, 'explanation', None) or error}") from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise EngineError(f"the connection to the container engine broke: {error}") from error


class DockerBox(Box):
    """A container that has been created; the engine starts it and removes it."""

    create_seconds = 0.0
    deliver_seconds = 0.0
    start_seconds = 0.0

    def __init__(self, client: "APIClient", container: str, limits: Limits) -> None:
        self.piped = self.attached = self
        self._client = client
        self._container = container
        self._limits = limits
        self._killed = False
        self._killed_by_unknown = False
        self._pid = 0

    def exec(
        self,
        command: Sequence[str],
        *,
        user: str = "root",
        workdir: str = "/",
        env: Mapping[str, str] | None = None,
        seconds: float = 60.0,
        output_bytes: int = 1024 * 1024,
    ) -> ExecResult:
        began = time.monotonic()
        with engine_errors():
            created = self._client.exec_create(
                self._container, list(command), user=user, workdir=workdir, environment=dict(env or {})
            )
        with engine_errors(), self.watch_disk() as disk, Deadline(seconds, self.kill) as deadline:
            stream = self._client.exec_start(created["Id"], socket=True)
            output = CappedOutput(output_bytes)
            for chunk in _chunks(stream):
                if output.add(chunk):
                    # Beside the reading: the engine ends a container only once its output has been taken.
                    threading.Thread(target=self.kill, daemon=True).start()
            deadline.cancel()
            exit_code = self._client.exec_inspect(created["Id"])["ExitCode"]
            self._killed_by_unknown = exit_code == KILLED and not self._killed
        seconds_taken = time.monotonic() - began
        # A single file over the limit ends its writer by a signal of its own.
        disk_exceeded = disk.fired or exit_code == FILE_TOO_LARGE
        return ExecResult(exit_code, output.text(), seconds_taken, deadline.fired, output.truncated, disk_exceeded)

    def pipe(
        self, command: Sequence[str], *, user: str = "root", workdir: str = "/", env: Mapping[str, str] | None = None
    ) -> Pipe:
        with engine_errors():
            created = self._client.exec_create(
                self._container, list(command), stdin=True, user=user, workdir=workdir, environment=dict(env or {})
            )
            return DockerPipe(self, self._client.exec_start(created["Id"], socket=True))

    def attach(self, command: Sequence[str], user: str, workdir: str, env: Mapping[str, str]) -> ExecResult:
        began, tty = time.monotonic(), has_terminal()
        with engine_errors(), self.watch_disk() as disk:
            created = self._client.exec_create(
                self._container, list(command), stdin=True, tty=tty, user=user, workdir=workdir, environment=dict(env)
            )["Id"]
            stream = self._client.exec_start(created, tty=tty, socket=True)

            def resize(rows: int, columns: int) -> None:
                for _ in range(RESIZES):
                    with suppress(EngineError), engine_errors():
                        self._client.exec_resize(created, rows, columns)
                        return
                    time.sleep(STARTING)

            converse(_get_socket(stream), _frames(stream, tty=tty), resize if tty else None)
            exit_code = self._client.exec_inspect(created)["ExitCode"]
        return ExecResult(exit_code, b"", time.monotonic() - began, disk_exceeded=disk.fired)

    def watch_disk(self) -> Watch:
        """Kill the box, while the context is open, once it has written more than its limit."""
        return Watch(DISK_POLL, self._disk_is_full, self.kill)

    def _disk_is_full(self) -> bool:
        with suppress(EngineError), engine_errors():
            found = self._client.containers(all=True, size=True, filters={"id": self._container})
            written = sum(each.get("SizeRw", 0) for each in found)
            self._pid = self._pid or self._client.inspect_container(self._container)["State"]["Pid"]
            # The engine does not see files that have been removed and are still open.
            return bool(written + count_unlinked_bytes(self._pid, self._container) > self._limits.disk_mb * MIB)
        return False

    def kill(self) -> None:
        """Kill everything in the box; does nothing if it has ended."""
        self._killed = True
        with suppress(EngineError), engine_errors():
            self._client.kill(self._container)

    def put(self, archive: bytes, to: str = "/") -> None:
        with engine_errors():
            self._client.put_archive(self._container, to, archive)

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        import docker.errors

        with engine_errors():
            try:
                chunks, _ = self._client.get_archive(self._container, path)
            except docker.errors.NotFound as error:
                if "no such container" in str(error.explanation).lower():
                    raise
                return {}
            data = CappedOutput(max_bytes + MIB)
            for chunk in chunks:
                if data.add(chunk):
                    chunks.close()
                    return {}
        return extract_files(data.text(), max_bytes)

    def end(self) -> BoxEnd:
        if self._killed_by_unknown:
            time.sleep(SETTLE)
        with engine_errors():
            state = self._client.inspect_container(self._container)["State"]
            if not (state["Running"] or state["OOMKilled"] or self._killed):
                raise EngineError("somebody else ended the container while tests ran in it")
            limited = processes_were_limited(state["Pid"], self._container)
            ran_out = memory_ran_out(state["Pid"], self._container)
            self.kill()
            self._client.wait(self._container)
            # The engine sets this when the container ends, not before.
            oom_killed = bool(self._client.inspect_container(self._container)["State"]["OOMKilled"]) or ran_out
        return BoxEnd(oom_killed, limited)


class DockerPipe(Pipe):
    """An open connection to a program in a box; for one thread at a time."""

    def __init__(self, box: DockerBox, stream: Any) -> None:
        self._box = box
        self._stream = stream
        self._chunks = _chunks(stream)

    def exchange(self, sent: bytes, end: bytes, seconds: float) -> bytes | None:
        printed = bytearray()
        with engine_errors(), self._box.watch_disk(), Deadline(seconds, self._box.kill):
            try:
                _get_socket(self._stream).sendall(sent)
            except (BrokenPipeError, ConnectionResetError):
                return None
            for chunk in self._chunks:
                printed += chunk
                if printed.endswith(end):
                    return bytes(printed[: -len(end)])
        return None

    def close(self) -> None:
        _close(self._stream)


def _chunks(stream: Any) -> Iterator[bytes]:
    """Yield a program's output, both streams as one, until it ends; then close the connection."""
    return (chunk for _, chunk in _frames(stream))


def _frames(stream: Any, *, tty: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield a program's output, each chunk with the number of its stream, until it ends; then close the connection."""
    from docker.utils.socket import frames_iter

    try:
        yield from frames_iter(stream, tty=tty)  # type: ignore[no-untyped-call]
    finally:
        _close(stream)


def _get_socket(stream: Any) -> Any:
    """Return the socket of a connection: the SDK hides a local one in a file that cannot be written."""
    return getattr(stream, "_sock", stream)


def _close(stream: Any) -> None:
    # The SDK leaves closing to its caller, and the response hides on the socket.
    with suppress(AttributeError):
        stream._response.close()
    stream.close()
