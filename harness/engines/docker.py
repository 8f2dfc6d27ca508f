"""Docker, or anything that speaks its API (podman's socket too), through the docker SDK."""

import io
import tarfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.harness.domain import Instance, Limits
from assay.harness.engines.base import LABEL, Box, BoxEnd, ExecResult, ImageInfo
from assay.harness.engines.caps import CappedOutput, Deadline, Watch
from assay.harness.engines.kernel import processes_were_limited
from assay.harness.engines.owner import OWNER, is_orphan, owner_labels
from assay.harness.errors import EngineError, EngineUnavailable, ImageMissing

if TYPE_CHECKING:
    from docker import APIClient

TIMEOUT = 120
"""Seconds the engine may take to answer one request."""
CONNECTIONS = 64
MIB = 1024 * 1024
DISK_POLL = 2.0
"""Seconds between two looks at what a box has written; tests that are over sooner cost none."""
FILE_TOO_LARGE = 153
"""128 + SIGXFSZ."""
SLACK = 600.0
"""Seconds a container may outlive its test command before anyone may reap it."""
NO_HELP = "no container engine answers ({}); start one with scripts/ensure-engine.sh, or set DOCKER_HOST"


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


def open_engine(_instances: Iterable[Instance] = ()) -> "DockerEngine":
    """Connect to the engine that DOCKER_HOST names, or to the local one; raises EngineUnavailable."""
    import docker
    import docker.errors
    from docker.utils import kwargs_from_env

    try:
        client = docker.APIClient(version="auto", timeout=TIMEOUT, max_pool_size=CONNECTIONS, **kwargs_from_env())
    except (docker.errors.DockerException, OSError) as error:
        reason = str(error).rpartition(": ")[2].strip("'\")")
        raise EngineUnavailable(NO_HELP.format(reason)) from error
    return DockerEngine(client)


class DockerEngine:
    """The engine behind one socket; safe to use from many threads."""

    name = "docker"

    def __init__(self, client: "APIClient") -> None:
        self._client = client
        self._open: set[str] = set()
        self._aborted = False

    def describe(self) -> dict[str, str]:
        """Return the engine's version and the facts that bear on its limits."""
        with engine_errors():
            info = self._client.info()
        keys = ("ServerVersion", "Driver", "CgroupVersion", "KernelVersion", "OperatingSystem", "NCPU", "MemTotal")
        return {key: str(info.get(key, "")) for key in keys}

    @contextmanager
    def open(
        self,
        image: str,
        limits: Limits,
        labels: Mapping[str, str],
        *,
        mounts: Mapping[str, str] | None = None,
    ) -> Iterator[Box]:
        """Start a fresh container and remove it in every case."""
        began = time.monotonic()
        with engine_errors():
            container = self._create(image, limits, labels, mounts or {})
        self._open.add(container)
        try:
            if self._aborted:
                raise EngineError("the run was told to stop")
            created = time.monotonic()
            with engine_errors():
                self._client.start(container)
            box = DockerBox(self._client, container, limits)
            box.create_seconds, box.start_seconds = created - began, time.monotonic() - created
            yield box
        finally:
            self._remove(container)

    def _create(self, image: str, limits: Limits, labels: Mapping[str, str], mounts: Mapping[str, str]) -> str:
        created = self._client.create_container(
            image,
            command=["sleep", "infinity"],
            entrypoint=[],
            user="0:0",
            labels={**labels, **owner_labels(limits.seconds + SLACK)},
            host_config=self._client.create_host_config(**_host_config(limits, mounts)),
            networking_config=None,
        )
        return str(created["Id"])

    def _remove(self, container: str) -> None:
        import docker.errors

        self._open.discard(container)
        with engine_errors():
            try:
                self._client.remove_container(container, force=True, v=True)
            except docker.errors.APIError as error:
                # Gone already, or going: somebody else removes the same orphan at this moment.
                if error.status_code not in (404, 409):
                    raise

    def abort(self) -> None:
        """Kill every box that is open and end every build, at once; their users see the command end."""
        from assay.harness.engines import docker_build

        self._aborted = True  # first, so that no box opens between this and the last kill
        docker_build.abort()
        for container in tuple(self._open):
            with suppress(EngineError), engine_errors():
                self._client.kill(container)

    def find_image(self, name: str) -> ImageInfo | None:
        """Return the image of that name, or None."""
        try:
            with engine_errors():
                return _image_info(name, self._client.inspect_image(name))  # type: ignore[no-untyped-call]
        except ImageMissing:
            return None

    def list_images(self) -> list[ImageInfo]:
        """Return the images that Assay made, by name."""
        with engine_errors():
            found = self._client.images(filters={"label": f"{LABEL}.kind"})
        named = [(tag, image) for image in found for tag in image.get("RepoTags") or ()]
        return [
            ImageInfo(tag, image["Id"], image["Size"], str(image["Created"]), image.get("Labels") or {})
            for tag, image in sorted(named, key=lambda pair: pair[0])
        ]

    def pull(self, name: str) -> ImageInfo:
        """Fetch an image from its registry; raises ImageMissing with the registry's answer."""
        try:
            with engine_errors():
                self._client.pull(name)
        except EngineError as error:
            raise ImageMissing(f"image {name} is not here and cannot be pulled: {error}") from error
        info = self.find_image(name)
        if info is None:
            raise ImageMissing(f"image {name} was pulled but is not here")
        return info

    def import_image(self, name: str, tar: Path, labels: Mapping[str, str]) -> None:
        """Make an image of one layer from a root file system's tar."""
        repository, _, tag = name.rpartition(":")
        changes = [f"LABEL {key}={value}" for key, value in labels.items()]
        with engine_errors():
            self._client.import_image_from_file(str(tar), repository=repository, tag=tag, changes=changes)

    def build(
        self, name: str, context: Path, log: Path, *, secrets: Mapping[str, Path], labels: Mapping[str, str]
    ) -> None:
        """Build ``context/Dockerfile`` as ``name``; raises EnvironmentFailure."""
        from assay.harness.engines import docker_build

        docker_build.build(name, context, log, secrets=secrets, labels=labels)

    def remove_image(self, name: str) -> None:
        """Remove an image; does nothing if it is not there."""
        with suppress(ImageMissing), engine_errors():
            self._client.remove_image(name, force=True)

    def orphans(self) -> list[str]:
        """Return the ids of containers of Assay whose owner is dead or whose deadline has passed."""
        return [str(each["Id"]) for each in self._ours() if is_orphan(each.get("Labels") or {})]

    def reap(self, *, everything: bool = False) -> list[str]:
        """Remove containers of Assay that nobody owns any more; with ``everything``, those at work too."""
        found = [str(each["Id"]) for each in self._ours()] if everything else self.orphans()
        for container in found:
            self._remove(container)
        return [container[:12] for container in found]

    def _ours(self) -> list[dict[str, Any]]:
        with engine_errors():
            found: list[dict[str, Any]] = self._client.containers(all=True, filters={"label": OWNER})
        return found


class DockerBox:
    """One running container."""

    create_seconds = 0.0
    start_seconds = 0.0

    def __init__(self, client: "APIClient", container: str, limits: Limits) -> None:
        self._client = client
        self._container = container
        self._limits = limits

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
        # A container that has just ended by itself cannot be killed; that is no failure.
        with suppress(EngineError), engine_errors():
            self._client.kill(self._container)

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
            except docker.errors.NotFound:
                return {}
            data = CappedOutput(max_bytes + 1024 * 1024)
            for chunk in chunks:
                if data.add(chunk):
                    chunks.close()
                    return {}
        return _regular_files(data.text(), max_bytes)

    def end(self) -> BoxEnd:
        """Kill everything in the box, and tell what the kernel had to do before."""
        with engine_errors():
            pid = self._client.inspect_container(self._container)["State"]["Pid"]
            limited = processes_were_limited(pid, self._container)
            self._kill()
            self._client.wait(self._container)
            # The engine fills this in when the container ends, not before.
            oom_killed = bool(self._client.inspect_container(self._container)["State"]["OOMKilled"])
        return BoxEnd(oom_killed, limited)


def _host_config(limits: Limits, mounts: Mapping[str, str]) -> dict[str, Any]:
    memory = limits.memory_mb * MIB
    return {
        "init": True,
        "network_mode": "bridge" if limits.network else "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": int(limits.cpus * 1e9),
        "pids_limit": limits.pids,
        "cap_add": list(limits.capabilities),
        # Against one file that grows faster than anybody looks; twice, so that looking comes first and tells.
        "ulimits": [{"Name": "fsize", "Soft": 2 * limits.disk_mb * MIB, "Hard": 2 * limits.disk_mb * MIB}],
        "shm_size": 256 * 1024 * 1024,
        "log_config": {"type": "none", "config": {}},
        "binds": {host: {"bind": box, "mode": "ro"} for host, box in mounts.items()},
    }


def _image_info(name: str, raw: Mapping[str, Any]) -> ImageInfo:
    labels = (raw.get("Config") or {}).get("Labels") or {}
    return ImageInfo(name, raw["Id"], raw.get("Size", 0), raw.get("Created", ""), labels)


def _regular_files(archive: bytes, max_bytes: int) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            max_bytes -= member.size
            if member.isreg() and max_bytes >= 0:
                content = tar.extractfile(member)
                files[member.name.partition("/")[2] or member.name] = content.read() if content else b""
    return files
