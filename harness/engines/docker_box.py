"""One running container of Docker, or of anything that speaks its API."""

import io
import tarfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from assay.harness.domain import Limits
from assay.harness.engines.base import BoxEnd, ExecResult, Pipe
from assay.harness.engines.caps import CappedOutput, Deadline, Watch
from assay.harness.engines.docker_pipe import DockerPipe
from assay.harness.engines.kernel import processes_were_limited
from assay.harness.errors import EngineError, ImageMissing

if TYPE_CHECKING:
    from docker import APIClient

MIB = 1024 * 1024
DISK_POLL = 2.0
"""Seconds between two looks at what a box has written; tests that are over sooner cost none."""
FILE_TOO_LARGE = 153
"""128 + SIGXFSZ."""
KILLED = 137
"""128 + SIGKILL."""
SETTLE = 0.3
"""Seconds after which the engine knows that a container is gone whose command it saw killed."""


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn every failure of the SDK into an error of ours: this is the only place that knows them."""
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


class DockerBox:
    """One running container."""

    create_seconds = 0.0
    start_seconds = 0.0

    def __init__(self, client: "APIClient", container: str, limits: Limits) -> None:
        self._client = client
        self._container = container
        self._limits = limits
        self._killed = False
        self._killed_by_unknown = False

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
        """Run a command; at the deadline, over the output cap or over the disk limit the whole box is killed."""
        began = time.monotonic()
        disk = Watch(DISK_POLL, self._disk_is_full, self._kill)
        with engine_errors(), disk, Deadline(seconds, self._kill) as deadline:
            created = self._client.exec_create(
                self._container, list(command), user=user, workdir=workdir, environment=dict(env or {})
            )
            output = CappedOutput(output_bytes)
            for chunk in self._stream(created["Id"]):
                if output.add(chunk):
                    # Beside the reading: the engine ends a container only once its output has been taken.
                    threading.Thread(target=self._kill, daemon=True).start()
            deadline.cancel()
            exit_code = self._client.exec_inspect(created["Id"])["ExitCode"]
            self._killed_by_unknown = exit_code == KILLED and not self._killed
        seconds_taken = time.monotonic() - began
        # A single file over the limit ends its writer by a signal of its own.
        disk_exceeded = disk.fired or exit_code == FILE_TOO_LARGE
        return ExecResult(exit_code, output.text(), seconds_taken, deadline.fired, output.truncated, disk_exceeded)

    def _stream(self, exec_id: str) -> Iterator[bytes]:
        from docker.utils.socket import frames_iter

        stream = self._client.exec_start(exec_id, socket=True)
        try:
            yield from (chunk for _, chunk in frames_iter(stream, tty=False))  # type: ignore[no-untyped-call]
        finally:
            # The SDK leaves closing to its caller, and the response hides on the socket.
            with suppress(AttributeError):
                stream._response.close()  # type: ignore[union-attr]
            stream.close()

    def _disk_is_full(self) -> bool:
        with suppress(EngineError), engine_errors():
            found = self._client.containers(all=True, size=True, filters={"id": self._container})
            return any(each.get("SizeRw", 0) > self._limits.disk_mb * MIB for each in found)
        return False

    def _kill(self) -> None:
        self._killed = True
        # A container that has just ended by itself cannot be killed; that is no failure.
        with suppress(EngineError), engine_errors():
            self._client.kill(self._container)

    def pipe(
        self,
        command: Sequence[str],
        *,
        user: str = "root",
        workdir: str = "/",
        env: Mapping[str, str] | None = None,
    ) -> Pipe:
        """Start a program with its input and output connected."""
        with engine_errors():
            created = self._client.exec_create(
                self._container, list(command), stdin=True, user=user, workdir=workdir, environment=dict(env or {})
            )
            stream = self._client.exec_start(created["Id"], socket=True)
        return DockerPipe(stream, engine_errors, self._kill, lambda: Watch(DISK_POLL, self._disk_is_full, self._kill))

    def put(self, archive: bytes, to: str = "/") -> None:
        """Unpack a tar archive into an existing folder of the box."""
        with engine_errors():
            self._client.put_archive(self._container, to, archive)

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        """Return the regular files at or below ``path``; what goes beyond ``max_bytes`` is left out."""
        import docker.errors

        with engine_errors():
            try:
                chunks, _ = self._client.get_archive(self._container, path)
            except docker.errors.NotFound as error:
                if "no such container" in str(error.explanation).lower():
                    raise
                return {}
            data = CappedOutput(max_bytes + 1024 * 1024)
            for chunk in chunks:
                if data.add(chunk):
                    chunks.close()
                    return {}
        return _regular_files(data.text(), max_bytes)

    def end(self) -> BoxEnd:
        """Kill everything in the box, and tell what the kernel had to do before."""
        if self._killed_by_unknown:
            time.sleep(SETTLE)
        with engine_errors():
            state = self._client.inspect_container(self._container)["State"]
            if not (state["Running"] or state["OOMKilled"] or self._killed):
                raise EngineError("somebody else ended the container while tests ran in it")
            limited = processes_were_limited(state["Pid"], self._container)
            self._kill()
            self._client.wait(self._container)
            # The engine fills this in when the container ends, not before.
            oom_killed = bool(self._client.inspect_container(self._container)["State"]["OOMKilled"])
        return BoxEnd(oom_killed, limited)


def _regular_files(archive: bytes, max_bytes: int) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            max_bytes -= member.size
            if member.isreg() and max_bytes >= 0:
                content = tar.extractfile(member)
                files[member.name.partition("/")[2] or member.name] = content.read() if content else b""
    return files
