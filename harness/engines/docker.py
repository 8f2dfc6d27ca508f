"""Docker, or anything that speaks its API (podman's socket too), through the docker SDK."""

import os
import resource
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.harness.domain import Limits
from assay.harness.engines.base import Box, BoxSpec, Engine
from assay.harness.engines.caps import MIB
from assay.harness.engines.cards import HostCard
from assay.harness.engines.docker_box import DockerBox, engine_errors
from assay.harness.engines.docker_cards import Powers, choose_way, make_card_config, make_card_variables, read_powers
from assay.harness.engines.docker_images import DockerImages
from assay.harness.engines.networks import Link, internal_network, list_own_networks, remove_network
from assay.harness.engines.owner import OWNER, SLACK, is_orphan, owner_labels
from assay.harness.engines.services import await_service, service_image, service_limits, start_service
from assay.harness.engines.tars import HOST_ADDRESS, HOST_NAME, add_lookup_files
from assay.harness.errors import EngineError, EngineUnavailable, RunStopped

if TYPE_CHECKING:
    from docker import APIClient

TIMEOUT = 120  # seconds the engine may take to answer one request
CONNECTIONS = 64
NO_HELP = (
    "no container engine answers at {} ({}); start Docker (sudo systemctl start docker), or name another engine's "
    "socket in DOCKER_HOST; assay doctor says what else is missing"
)
SOCKET = "unix:///var/run/docker.sock"  # the engine's client looks here unless DOCKER_HOST says otherwise
IPV6 = Path("/proc/sys/net/ipv6")
"""Present where the kernel of this machine has IPv6, and so the setting that turns it off."""


def open_engine() -> "DockerEngine":
    """Connect to the engine that DOCKER_HOST names, or to the local one; raises EngineUnavailable."""
    import docker
    import docker.errors
    from docker.utils import kwargs_from_env

    try:
        client = docker.APIClient(version="auto", timeout=TIMEOUT, max_pool_size=CONNECTIONS, **kwargs_from_env())
    except (docker.errors.DockerException, OSError) as error:
        raise EngineUnavailable(NO_HELP.format(os.environ.get("DOCKER_HOST") or SOCKET, _reason(error))) from error
    return DockerEngine(client)


def _reason(error: BaseException) -> str:
    """Find the operating system's message below the layers of clients."""
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, PermissionError):
            return "permission denied: sudo usermod -aG docker $USER, and log in again"
        if isinstance(below, OSError) and below.strerror:
            return below.strerror.lower()
        below = below.__cause__ or below.__context__
    return str(error).rpartition(": ")[2].strip("'\")")


class DockerEngine(DockerImages, Engine):
    """The engine behind one socket; safe to use from many threads."""

    name = "docker"
    has_containers = True

    def __init__(self, client: "APIClient") -> None:
        super().__init__(client)
        self._open: set[str] = set()
        self._unremoved: set[str] = set()
        self._aborted = False

    def describe(self) -> dict[str, str]:
        with engine_errors():
            info = self._client.info()
        keys = ("ServerVersion", "Driver", "CgroupVersion", "KernelVersion", "OperatingSystem", "NCPU", "MemTotal")
        facts = {key: str(info.get(key, "")) for key in keys}
        if self.is_podman:
            facts["Engine"] = "podman"
        if is_rootless(info):
            facts["Rootless"] = "yes"
        return facts

    @cached_property
    def unenforced(self) -> frozenset[str]:  # type: ignore[override]  # read once, when first asked for
        with engine_errors():
            info = self._client.info()
        powerless = is_rootless(info) and info.get("CgroupVersion") == "1"
        return frozenset(limit for limit, key in ENFORCES.items() if powerless or info.get(key) is False)

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        with ExitStack() as beside:
            link = beside.enter_context(self._services(spec)) if spec.services else None
            with self._container(spec, link) as box:
                yield box

    @contextmanager
    def _services(self, tests: BoxSpec) -> Iterator[Link]:
        """Run services on a network of their own; yields a place on it once every service answers."""
        limits = service_limits(tests.limits)
        with internal_network(self._client, tests.labels, tests.limits.seconds) as network, ExitStack() as boxes:
            started = []
            for sidecar in tests.services:
                spec = BoxSpec(service_image(sidecar), limits, tests.labels)
                box = boxes.enter_context(self._container(spec, Link(network, sidecar.service.name)))
                start_service(box, sidecar.service)
                started.append((box, sidecar.service))
            for box, service in started:
                await_service(box, service)
            yield Link(network)

    @contextmanager
    def _container(self, spec: BoxSpec, link: Link | None = None) -> Iterator[Box]:
        """Start one container, on an internal network if there is a link to it, and remove it in every case."""
        limits, archive = spec.limits, spec.archive
        isolated = not (limits.network or link)
        began = time.monotonic()
        with engine_errors():
            container = self._client.create_container(
                spec.image,
                command=["sleep", "infinity"],
                entrypoint=[],
                hostname=HOST_NAME,
                user="0:0",
                labels={**owner_labels(limits.seconds + SLACK), **spec.labels},
                environment=make_card_variables(spec.cards),
                host_config=self._client.create_host_config(**self._host_config(spec, link)),
                networking_config=link.config if link else None,
                # "none" is a network, too, and joining it takes the engine longer than all else of a start.
                network_disabled=isolated,
            )["Id"]
        self._open.add(container)
        try:
            if self._aborted:
                raise RunStopped("the run was stopped")
            box = DockerBox(self._client, container, limits)
            created = time.monotonic()
            if archive or isolated:
                box.put(add_lookup_files(archive) if isolated else archive)
            delivered = time.monotonic()
            with engine_errors():
                self._client.start(container)
            box.create_seconds, box.deliver_seconds = created - began, delivered - created
            box.start_seconds = time.monotonic() - delivered
            yield box
        finally:
            was_there = self._remove(container)
        if not was_there:
            # Its tests may have ended because of that, not by themselves.
            raise EngineError("somebody else removed the container while it was at work")

    def choose_card_way(self, card: HostCard) -> str:
        return choose_way(card, self._powers)

    @cached_property
    def _powers(self) -> Powers:
        with engine_errors():
            return read_powers(self._client.version(), self._client.info(), is_podman=self.is_podman)

    def _host_config(self, spec: BoxSpec, link: Link | None) -> dict[str, Any]:
        config = _host_config(spec.limits, spec.mounts, link)
        if spec.cards:
            given = make_card_config(spec.cards)
            config = {**config, **given, "binds": {**config["binds"], **given.get("binds", {})}}
        return {**config, "ulimits": [*config["ulimits"], *own_limits()]} if self.is_podman else config

    @cached_property
    def is_podman(self) -> bool:
        """Whether this is podman, which speaks Docker's API with an accent."""
        with engine_errors():
            parts = self._client.version().get("Components") or []
        return any("podman" in part.get("Name", "").lower() for part in parts)

    def _remove(self, container: str) -> bool:
        """Remove a container; return False if somebody else removed it. One that cannot be is left to ``reap``."""
        import docker.errors

        self._open.discard(container)
        self._unremoved.discard(container)
        try:
            with engine_errors():
                self._client.remove_container(container, force=True, v=True)
        except EngineError as error:
            answer = error.__cause__
            # Not found, or its removal by somebody else is in progress.
            if isinstance(answer, docker.errors.APIError) and answer.status_code in (404, 409):
                return False
            self._unremoved.add(container)
            raise
        return True

    def abort(self) -> None:
        from assay.harness.engines import docker_build

        self._aborted = True  # first, so that no box opens between this and the last kill
        docker_build.abort()
        for container in tuple(self._open):
            with suppress(EngineError), engine_errors():
                self._client.kill(container)

    def build(
        self, name: str, context: Path, log: Path, *, secrets: Mapping[str, Path], labels: Mapping[str, str]
    ) -> None:
        from assay.harness.engines import docker_build

        docker_build.build(name, context, log, secrets=secrets, labels=labels, limits=self.build_limits)

    def orphans(self) -> list[str]:
        containers, networks = self._ours(everything=False)
        return [*containers, *networks]

    def reap(self, *, everything: bool = False) -> list[str]:
        containers, networks = self._ours(everything=everything)
        for container in {*containers, *self._unremoved}:
            self._remove(container)
        for network in networks:
            remove_network(self._client, network)
        return [each[:12] for each in (*containers, *networks)]

    def _ours(self, *, everything: bool) -> tuple[list[str], list[str]]:
        with engine_errors():
            containers = self._client.containers(all=True, filters={"label": OWNER})
        networks = list_own_networks(self._client)

        def ids(found: list[dict[str, Any]]) -> list[str]:
            return [str(each["Id"]) for each in found if everything or is_orphan(each.get("Labels") or {})]

        return ids(containers), ids(networks)


ENFORCES = {"memory limit": "MemoryLimit", "processor limit": "CpuCfsQuota", "process limit": "PidsLimit"}
"""Limits of control groups, and what an engine calls its power to enforce them."""
MOST = 32768
"""Open files, and processes, that a container of podman may have; the latter are limited by its control group, too."""
SUPERVISING = ("KILL", "SETGID", "SETUID")
"""Capabilities of root alone: it starts the tests as their user, and kills everything of that user."""


def is_rootless(info: Mapping[str, Any]) -> bool:
    """Read from an engine's own facts whether it runs as an ordinary user."""
    return bool(info.get("Rootless")) or any("rootless" in each for each in info.get("SecurityOptions") or ())


def _host_config(limits: Limits, mounts: Mapping[str, str], link: Link | None) -> dict[str, Any]:
    memory = limits.memory_mb * MIB
    return {
        "init": True,
        **_network_config(limits, link),
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": int(limits.cpus * 1e9),
        "pids_limit": limits.pids,
        **({"cpuset_cpus": limits.cores} if limits.cores else {}),
        "cap_add": [*SUPERVISING, *limits.capabilities],
        # Against one file that grows between two looks at the disk; twice the limit, so that looking comes first.
        "ulimits": [{"Name": "fsize", "Soft": 2 * limits.disk_mb * MIB, "Hard": 2 * limits.disk_mb * MIB}],
        "shm_size": 256 * 1024 * 1024,
        "log_config": {"type": "none", "config": {}},
        "binds": {host: {"bind": box, "mode": "ro"} for host, box in mounts.items()},
    }


def own_limits() -> list[dict[str, Any]]:
    """Return limits of this process: podman raises both unless they are given, and fails where it may not."""
    kinds = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}
    hard = {name: resource.getrlimit(kind)[1] for name, kind in kinds.items()}
    found = {name: MOST if value == resource.RLIM_INFINITY else min(value, MOST) for name, value in hard.items()}
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in found.items()]


def _network_config(limits: Limits, link: Link | None) -> dict[str, Any]:
    if link:
        # Some engines pass what an internal network cannot resolve on to the resolver of their own machine.
        # An unknown name costs a second, not ten.
        return {"network_mode": link.network, "dns": ["127.0.0.1"], "dns_opt": ["timeout:1", "attempts:1"]}
    if limits.network:
        return {"network_mode": "bridge"}
    return {
        "network_mode": "none",
        "sysctls": {"net.ipv6.conf.all.disable_ipv6": "1"} if IPV6.exists() else {},
        "extra_hosts": {HOST_NAME: HOST_ADDRESS},  # podman writes the file of hosts even without a network
    }
