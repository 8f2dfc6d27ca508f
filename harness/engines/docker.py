"""Docker, or anything that speaks its API (podman's socket too), through the docker SDK."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.harness.domain import Instance, Limits
from assay.harness.engines import services as sidecars
from assay.harness.engines.base import LABEL, Box, ImageInfo, Link, Sidecar
from assay.harness.engines.docker_box import MIB, DockerBox, engine_errors
from assay.harness.engines.owner import OWNER, is_orphan, owner_labels
from assay.harness.errors import EngineError, EngineUnavailable, ImageMissing, RunStopped

if TYPE_CHECKING:
    from docker import APIClient

TIMEOUT = 120
"""Seconds the engine may take to answer one request."""
CONNECTIONS = 64
SLACK = 600.0
"""Seconds a container may outlive its test command before anyone may reap it."""
NO_HELP = "no container engine answers ({}); start one with scripts/ensure-engine.sh, or set DOCKER_HOST"


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
    has_containers = True

    def __init__(self, client: "APIClient") -> None:
        self._client = client
        self._open: set[str] = set()
        self._unremoved: set[str] = set()
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
        services: Sequence[Sidecar] = (),
    ) -> Iterator[Box]:
        """Start a fresh container, beside its services if there are any, and remove all of them in every case."""
        with (
            sidecars.beside(self, services, labels, limits.seconds) as link,
            self.open_box(image, limits, labels, mounts=mounts, link=link) as box,
        ):
            yield box

    @contextmanager
    def open_box(
        self,
        image: str,
        limits: Limits,
        labels: Mapping[str, str],
        *,
        mounts: Mapping[str, str] | None = None,
        link: Link | None = None,
    ) -> Iterator[Box]:
        """Start one container, on an internal network if ``link`` names one, and remove it in every case."""
        began = time.monotonic()
        with engine_errors():
            container = self._create(image, labels, limits, _host_config(limits, mounts or {}, link), link)
        self._open.add(container)
        try:
            if self._aborted:
                raise RunStopped("the run was told to stop")
            created = time.monotonic()
            with engine_errors():
                self._client.start(container)
            box = DockerBox(self._client, container, limits)
            box.create_seconds, box.start_seconds = created - began, time.monotonic() - created
            yield box
        finally:
            ours = self._remove(container)
        if not ours:
            # What was seen of its end was not the work of its tests.
            raise EngineError("somebody else removed the container while it was at work")

    def _create(
        self, image: str, labels: Mapping[str, str], limits: Limits, host_config: Mapping[str, Any], link: Link | None
    ) -> str:
        created = self._client.create_container(
            image,
            command=["sleep", "infinity"],
            entrypoint=[],
            user="0:0",
            labels={**labels, **owner_labels(limits.seconds + SLACK)},
            host_config=self._client.create_host_config(**host_config),
            networking_config=_on_network(link) if link else None,
        )
        return str(created["Id"])

    @contextmanager
    def network(self, labels: Mapping[str, str], seconds: float) -> Iterator[str]:
        """Create an internal network for tests that take ``seconds`` at most, and remove it in every case."""
        with engine_errors():
            network = sidecars.create_network(self._client, labels, seconds)
        try:
            yield network
        finally:
            with engine_errors():
                sidecars.remove_network(self._client, network)

    def _remove(self, container: str) -> bool:
        """Remove a container; return whether it was there to be removed. One that stays is left to ``reap``."""
        import docker.errors

        self._open.discard(container)
        self._unremoved.discard(container)
        try:
            with engine_errors():
                self._client.remove_container(container, force=True, v=True)
        except EngineError as error:
            answer = error.__cause__
            # Gone already, or going: somebody else removes it at this moment.
            if isinstance(answer, docker.errors.APIError) and answer.status_code in (404, 409):
                return False
            self._unremoved.add(container)
            raise
        return True

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
        named = [(tag, image) for image in found for tag in image.get("RepoTags") or () if "<none>" not in tag]
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
        """Return the ids of containers and networks of Assay whose owner is dead or whose deadline has passed."""
        containers, networks = self._ours(everything=False)
        return [*containers, *networks]

    def reap(self, *, everything: bool = False) -> list[str]:
        """Remove containers and networks of Assay that nobody owns any more; with ``everything``, those at work too."""
        containers, networks = self._ours(everything=everything)
        for container in {*containers, *self._unremoved}:
            self._remove(container)
        for network in networks:
            with engine_errors():
                sidecars.remove_network(self._client, network)
        return [each[:12] for each in (*containers, *networks)]

    def _ours(self, *, everything: bool) -> tuple[list[str], list[str]]:
        with engine_errors():
            containers = self._client.containers(all=True, filters={"label": OWNER})
            networks = sidecars.owned_networks(self._client)

        def ids(found: list[dict[str, Any]]) -> list[str]:
            return [str(each["Id"]) for each in found if everything or is_orphan(each.get("Labels") or {})]

        return ids(containers), ids(networks)


def _host_config(limits: Limits, mounts: Mapping[str, str], link: Link | None) -> dict[str, Any]:
    memory = limits.memory_mb * MIB
    network = "bridge" if limits.network else "none"
    return {
        "init": True,
        "network_mode": link.network if link else network,
        # Some engines pass what an internal network cannot resolve on to the resolver of their own machine.
        "dns": ["127.0.0.1"] if link else None,
        "dns_opt": ["timeout:1", "attempts:1"] if link else None,  # an unknown name costs a second, not ten
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


def _on_network(link: Link) -> dict[str, Any]:
    return {"EndpointsConfig": {link.network: {"Aliases": [link.name] if link.name else []}}}


def _image_info(name: str, raw: Mapping[str, Any]) -> ImageInfo:
    labels = (raw.get("Config") or {}).get("Labels") or {}
    return ImageInfo(name, raw["Id"], raw.get("Size", 0), raw.get("Created", ""), labels)
