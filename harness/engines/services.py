"""Programs beside the tests: each in a container of its own, on a network that leads nowhere else.

The network has no address of this machine on it, so that even what listens here on every address is out of reach.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from assay.harness.domain import Limits, Service
from assay.harness.engines.base import Box, Link, Sidecar
from assay.harness.engines.owner import OWNER, owner_labels
from assay.harness.errors import EnvironmentFailure

if TYPE_CHECKING:
    from docker import APIClient

    from assay.harness.engines.docker import DockerEngine

START_SECONDS = 60.0
"""A service whose port does not answer by then has failed."""
SLACK = 900.0
"""Seconds a network may outlive the tests before anyone may reap it: longer than any container on it."""
LIMITS = Limits(memory_mb=1024, pids=256, disk_mb=512)
USER = "assay"
LOG, PID = "/tmp/assay-service.log", "/tmp/assay-service.pid"
LOG_BYTES = 64 * 1024
START = f'bash -c "$0" > {LOG} 2>&1 < /dev/null & echo $! > {PID}'
WAIT = f'until (exec 3<> "/dev/tcp/$0/$1") 2> /dev/null; do kill -0 "$(cat {PID})" || exit 1; sleep 0.1; done'


@contextmanager
def beside(
    engine: "DockerEngine", sidecars: Sequence[Sidecar], labels: Mapping[str, str], seconds: float
) -> Iterator[Link | None]:
    """Run services on a network of their own, and remove all of it in every case.

    Args:
        engine: where the containers run.
        sidecars: the services with their images; without any there is no network either.
        labels: put on every object, so that a later process knows whose it is.
        seconds: how long the tests may take.

    Returns:
        What joins a container to the network once every service answers; None without services.

    Raises:
        EnvironmentFailure: a service does not come up. EngineError: the engine failed.
    """
    if not sidecars:
        yield None
        return
    with engine.network(labels, seconds) as network, ExitStack() as boxes:
        limits = LIMITS.model_copy(update={"seconds": seconds + START_SECONDS})
        started = []
        for sidecar in sidecars:
            if not sidecar.image:
                raise EnvironmentFailure(f"the instance's image names no image for service {sidecar.service.name}")
            link = Link(network, sidecar.service.name)
            box = boxes.enter_context(engine.open_box(sidecar.image, limits, labels, link=link))
            box.exec(["bash", "-c", START, sidecar.service.command], user=USER, workdir="/tmp")
            started.append((box, sidecar.service))
        for box, service in started:
            _await(box, service)
        yield Link(network)


def _await(box: Box, service: Service) -> None:
    """Wait until a service's port answers, seen from its own container by its own name."""
    waited = box.exec(["bash", "-c", WAIT, service.name, str(service.port)], user=USER, seconds=START_SECONDS)
    if waited.exit_code == 0:
        return
    log = b"".join(box.get(LOG, LOG_BYTES).values()).decode(errors="replace").strip()
    problem = f"did not answer within {START_SECONDS:.0f} s" if waited.timed_out else "has ended by itself"
    last = f": {log.splitlines()[-1]}" if log else ""
    raise EnvironmentFailure(f"service {service.name} (port {service.port}) {problem}{last}", tail=log)


def create_network(client: "APIClient", labels: Mapping[str, str], seconds: float) -> str:
    """Create a network without a way out; return its id."""
    created = client.create_network(
        f"assay-{secrets.token_hex(8)}",
        driver="bridge",
        internal=True,
        # Else this machine would be on it, too: an internal network only lacks the way beyond.
        options={"com.docker.network.bridge.inhibit_ipv4": "true"},
        labels={**labels, **owner_labels(seconds + SLACK)},
    )
    return str(created["Id"])


def remove_network(client: "APIClient", network: str) -> None:
    """Remove a network; does nothing if it is not there."""
    import docker.errors

    with suppress(docker.errors.NotFound):
        client.remove_network(network)


def owned_networks(client: "APIClient") -> list[dict[str, Any]]:
    """Return the networks that Assay made, as the engine describes them."""
    found: list[dict[str, Any]] = client.networks(filters={"label": OWNER})
    return found
