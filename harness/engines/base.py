"""The container engine seam: an ``Engine`` knows images and opens a ``Box``; a ``Box`` is one running container."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.harness.domain import Limits, Service

LABEL = "assay"
"""Prefix of every label that Assay puts on an engine's objects."""
SERVICE_LABEL = f"{LABEL}.service."
"""With the name of a service: label of an instance's image that names the service's image."""


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What became of one command in a box."""

    exit_code: int | None
    output: bytes
    """Standard output and error, interleaved; head and tail only when ``truncated``."""
    seconds: float
    timed_out: bool = False
    truncated: bool = False
    disk_exceeded: bool = False


@dataclass(frozen=True, slots=True)
class BoxEnd:
    """What the kernel had to do while a box lived."""

    oom_killed: bool = False
    """It killed something for want of memory."""
    processes_limited: bool = False
    """It refused to start a process."""


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """An image as the engine knows it."""

    name: str
    digest: str
    size: int = 0
    created: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A service and the image that it runs in."""

    service: Service
    image: str


@dataclass(frozen=True, slots=True)
class Link:
    """A container's place on an internal network, and the name by which others reach it there."""

    network: str
    name: str = ""


class Box(Protocol):
    """One running container; everything in it is gone when its context ends."""

    create_seconds: float
    start_seconds: float

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
        """Run a command; at the deadline, over the output cap or over the box's disk limit the whole box is killed."""
        ...

    def put(self, archive: bytes, to: str = "/") -> None:
        """Unpack a tar archive into an existing folder of the box."""
        ...

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        """Return the regular files at or below ``path`` (relative name to content), reading at most ``max_bytes``.

        A path that does not exist gives an empty dict; links and special files are left out.
        """
        ...

    def end(self) -> BoxEnd:
        """Kill everything in the box, and tell what the kernel had to do before.

        Files can still be read; nothing can run any more.
        """
        ...


class Pipe(Protocol):
    """A program that runs in a box for as long as the pipe is open, and answers what it is sent."""

    def exchange(self, sent: bytes, end: bytes, seconds: float) -> bytes | None:
        """Send bytes; return what the program prints up to ``end``, without it, or None if it ended before.

        At the deadline, or over the box's disk limit, the whole box is killed. Raises EngineError.
        """
        ...

    def close(self) -> None:
        """Let go of the program, which reads the end of its input then."""
        ...


@runtime_checkable
class Piped(Protocol):
    """A box that can keep a program running, which saves the engine's own time for every command; not all can."""

    def pipe(
        self,
        command: Sequence[str],
        *,
        user: str = "root",
        workdir: str = "/",
        env: Mapping[str, str] | None = None,
    ) -> Pipe:
        """Start a program with its input and output connected; raises EngineError."""
        ...


class Engine(Protocol):
    """Where containers run."""

    name: str
    has_containers: bool
    """False for an engine that acts instances out: it has neither images nor trees."""

    def describe(self) -> dict[str, str]:
        """Return facts about the engine for a run's manifest (version, storage driver, cgroup version ...)."""
        ...

    def open(
        self,
        image: str,
        limits: Limits,
        labels: Mapping[str, str],
        *,
        mounts: Mapping[str, str] | None = None,
        services: Sequence[Sidecar] = (),
    ) -> AbstractContextManager[Box]:
        """Start a fresh container that is removed in every case; ``mounts`` are read-only, host path to box path.

        With services, they answer before it starts, and an internal network that holds nothing else is its only one.
        """
        ...

    def find_image(self, name: str) -> ImageInfo | None:
        """Return the image of that name, or None."""
        ...

    def list_images(self) -> list[ImageInfo]:
        """Return the images that Assay made."""
        ...

    def pull(self, name: str) -> ImageInfo:
        """Fetch an image from its registry; raises ImageMissing."""
        ...

    def import_image(self, name: str, tar: Path, labels: Mapping[str, str]) -> None:
        """Make an image of one layer from a root file system's tar."""
        ...

    def build(
        self, name: str, context: Path, log: Path, *, secrets: Mapping[str, Path], labels: Mapping[str, str]
    ) -> None:
        """Build ``context/Dockerfile`` as ``name``, writing the output to ``log``; raises EnvironmentFailure."""
        ...

    def remove_image(self, name: str) -> None:
        """Remove an image; does nothing if it is not there."""
        ...

    def abort(self) -> None:
        """Kill every box that is open and end every build, at once; no box can be opened any more."""
        ...

    def orphans(self) -> list[str]:
        """Return the ids of containers and networks of Assay whose owner is dead or whose deadline has passed."""
        ...

    def reap(self, *, everything: bool = False) -> list[str]:
        """Remove what ``orphans`` tells of, or everything of Assay; return the ids."""
        ...
