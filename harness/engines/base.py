"""The contract of container engines: an ``Engine`` knows images and opens a ``Box``, which is one running container.

Implementations inherit from the protocols, and their methods the docstrings here. All failures are EngineErrors.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay.harness.domain import Instance, Limits, Service
from assay.harness.engines.build_limits import USUAL, BuildLimits

if TYPE_CHECKING:
    from assay.harness.engines.cards import CardPool, HostCard
    from assay.harness.engines.layers import Layered

LABEL = "assay"  # prefix of every label that Assay puts on an engine's objects
SERVICE_LABEL = f"{LABEL}.service."
"""Prefix of the labels of an instance's image that name the image of each of its services."""

JUDGED_LABEL = f"{LABEL}.judged"  # label of a container whose test patch is what is judged
USER_LABEL = f"{LABEL}.user"
"""Label of an image made over a published one: the user that its tests can run as."""


@dataclass(frozen=True, slots=True)
class ExecResult:
    exit_code: int | None
    """The engine's report; None if the engine does not know."""
    output: bytes
    """Standard output and error, interleaved; only head and tail when ``truncated``."""
    seconds: float
    timed_out: bool = False
    truncated: bool = False
    disk_exceeded: bool = False


@dataclass(frozen=True, slots=True)
class BoxEnd:
    """Limits that the kernel enforced while a box was alive."""

    oom_killed: bool = False
    """It killed a process because memory ran out."""
    processes_limited: bool = False
    """It refused to start a process."""


def name_reached_limit(ran: ExecResult, end: BoxEnd, limits: Limits) -> str:
    """Name the limit that a command in a box reached, as in "took more than 60 s"; "" for none."""
    reached = (
        (ran.timed_out, f"took more than {limits.seconds:,.0f} s"),
        (ran.disk_exceeded, f"wrote more than {limits.disk_mb:,} MB to the disk"),
        (ran.truncated, "printed too much"),
        (end.oom_killed, f"used more than {limits.memory_mb:,} MB of memory"),
        (end.processes_limited, f"used more than {limits.pids:,} processes"),
    )
    return next((words for is_reached, words in reached if is_reached), "")


@dataclass(frozen=True, slots=True)
class ImageInfo:
    name: str
    digest: str
    size: int = 0
    created: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImageLayer:
    """A layer of an image, with all layers below it."""

    id: str
    """Equal in two images if they share this layer and all below it."""
    size: int
    """Bytes of this layer alone."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A service beside the tests and the image it runs in."""

    service: Service
    image: str


@dataclass(frozen=True, slots=True)
class BoxSpec:
    image: str
    """Name of an image that is present."""
    limits: Limits = field(default_factory=Limits)
    labels: Mapping[str, str] = field(default_factory=dict)
    """Put on every object, so that a later process can see whose it is."""
    mounts: Mapping[str, str] = field(default_factory=dict)
    """Folders and files of this machine, read-only: host path to box path."""
    services: Sequence[Sidecar] = ()
    """Started before the box, which waits until they answer.

    An internal network that holds nothing else is then the box's only one.
    """
    cards: "Sequence[HostCard]" = ()
    """Cards that it has, each in the way that the engine chose."""
    archive: bytes = b""
    """A tar archive that is unpacked at ``/`` before anything runs in the box."""


class Box(Protocol):
    """One running container; it is removed when the context of ``Engine.open`` ends."""

    create_seconds: float
    deliver_seconds: float
    start_seconds: float
    piped: "Piped | None" = None
    """None if no program can be kept running in it."""
    attached: "Attached | None" = None
    """None if no person's terminal can be connected to a program in it."""

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
        """Run a command to its end.

        The whole box is killed when ``seconds`` have passed, when the command prints more than ``output_bytes``, or
        when the box writes more than its disk limit. Its files can still be read then.
        """
        ...

    def put(self, archive: bytes, to: str = "/") -> None:
        """Unpack a tar archive into an existing folder of the box."""
        ...

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        """Return the regular files at or below ``path`` (relative name to content), at most ``max_bytes`` of them.

        A path that does not exist gives an empty dict; links and special files are left out.
        """
        ...

    def end(self) -> BoxEnd:
        """Kill everything in the box, and report the limits that the kernel enforced; files can still be read."""
        ...


class Pipe(Protocol):
    """A program in a box with its input and output connected, until the pipe is closed."""

    def exchange(self, sent: bytes, end: bytes, seconds: float) -> bytes | None:
        """Send bytes; return the program's output up to ``end``, without it, or None if the program ended before.

        The whole box is killed when ``seconds`` have passed or when it writes more than its disk limit.
        """
        ...

    def close(self) -> None:
        """Close the connection; the program reads the end of its input."""
        ...


class Piped(Protocol):
    """What a box can do that keeps a program running, which saves starting one for every command."""

    def pipe(
        self, command: Sequence[str], *, user: str = "root", workdir: str = "/", env: Mapping[str, str] | None = None
    ) -> Pipe: ...


class Attached(Protocol):
    """What a box can do that a person can work in."""

    def attach(self, command: Sequence[str], user: str, workdir: str, env: Mapping[str, str]) -> ExecResult:
        """Run a command with this process's own input and output, and its terminal if it has one, to its end.

        The whole box is killed when it writes more than its disk limit. The result has no output.
        """
        ...


class Engine(Protocol):
    """Opens containers, and finds, builds and removes images."""

    name: str
    has_containers: bool
    """False for an engine that acts instances out: it has no file trees, no mounts and no images to build."""
    builds_images: bool = True
    """False for an engine that only runs what was built elsewhere and added with ``load``."""
    build_limits: BuildLimits = USUAL
    """Limits of its builds; whoever opens the engine may set others."""
    unenforced: frozenset[str] = frozenset()
    """Limits that this engine cannot enforce on this machine, as ``LIMITS`` of ``doctor`` names them.

    Each is a flag of every verdict from it.
    """
    needs_proof: bool = False
    """True for an engine whose limits nobody knows until ``assay doctor --prove`` has measured them."""
    cards: "CardPool | None" = None
    """The cards of this machine that boxes may be given; whoever opens the engine sets it."""
    held: "tuple[HostCard, ...]" = ()
    """Cards that its user holds (``cards.hold_cards``)."""
    separates_cards: bool = True
    """False for an engine whose boxes can reach cards that they were not given, if they try."""
    layered: "Layered | None" = None
    """Reads images layer by layer; None if the engine shows no layers."""

    def describe(self) -> dict[str, str]:
        """Return facts for a run's manifest (version, storage driver, cgroup version ...)."""
        ...

    def open(self, spec: BoxSpec) -> AbstractContextManager[Box]:
        """Start a fresh container, removed in every case; raises ImageMissing, or EnvironmentFailure for a service."""
        ...

    def choose_card_way(self, card: "HostCard") -> str:
        """Name the way in which a box is given a card; raises EngineError with the reason if there is none."""
        ...

    def find_image(self, name: str) -> ImageInfo | None: ...

    def list_images(self) -> list[ImageInfo]: ...

    def hash_images(self) -> str:
        """Return the hash of the names and contents of all images, whoever made them; empty if the engine has none."""
        return ""

    def layers(self, name: str) -> tuple[ImageLayer, ...]:
        """Return the layers of an image, the lowest first; none if it is not there."""
        ...

    def pull(self, name: str) -> ImageInfo:
        """Fetch an image from its registry; raises ImageMissing with the registry's answer."""
        ...

    def remote_digest(self, name: str) -> str:
        """Ask a registry for an image's digest; raises ImageMissing, or EngineError if it does not answer soon."""
        ...

    def push(self, name: str) -> None:
        """Send an image to the registry that its name begins with."""
        ...

    def tag(self, name: str, other: str) -> None:
        """Give an image another name beside its own; raises ImageMissing."""
        ...

    def save(self, names: Sequence[str]) -> AbstractContextManager[Iterator[bytes]]:
        """Read images as one tar archive, in the form of ``docker save``; raises ImageMissing."""
        ...

    def load(self, archive: Iterable[bytes]) -> None:
        """Add the images of an archive in the form of ``docker save``, under the names that it gives them."""
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

    def drop_build_cache(self) -> int:
        """Remove layers that builds left beside images, but no caches of package clients; return the bytes."""
        ...

    def abort(self) -> None:
        """Kill every open box and every build at once; commands at work end, and ``open`` raises RunStopped."""
        ...

    def orphans(self) -> list[str]:
        """Return the ids of Assay's containers and networks whose owner is dead or whose deadline has passed."""
        ...

    def reap(self, *, everything: bool = False) -> list[str]:
        """Remove the orphans, or everything of Assay even if it is at work; return the ids."""
        ...


@runtime_checkable
class ActingEngine(Engine, Protocol):
    """An engine without containers, which acts out what each instance's tests do."""

    def act_out(self, instance: Instance) -> str:
        """Return the name of the image in which an instance is acted out; raises ImageMissing for none."""
        ...
