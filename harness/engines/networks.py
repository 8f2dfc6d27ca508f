"""Internal Docker networks for tests with services: no way out, and this machine is not on them either."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.harness.engines.docker_box import engine_errors
from assay.harness.engines.owner import OWNER, owner_labels

if TYPE_CHECKING:
    from docker import APIClient

SLACK = 900.0
"""Seconds a network may outlive the tests before anyone may reap it: longer than any container on it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A container's place on an internal network, and the name by which others reach it there."""

    network: str
    name: str = ""

    @property
    def config(self) -> dict[str, Any]:
        return {"EndpointsConfig": {self.network: {"Aliases": [self.name] if self.name else []}}}


@contextmanager
def internal_network(client: "APIClient", labels: Mapping[str, str], seconds: float) -> Iterator[str]:
    """Create a network for tests that take at most ``seconds``, and remove it in every case; yields its id."""
    with engine_errors():
        created = client.create_network(
            f"assay-{secrets.token_hex(8)}",
            driver="bridge",
            internal=True,
            # An internal network only lacks a route out; without this option the host still has an address on it.
            options={"com.docker.network.bridge.inhibit_ipv4": "true"},
            labels={**labels, **owner_labels(seconds + SLACK)},
        )
    try:
        yield str(created["Id"])
    finally:
        remove_network(client, str(created["Id"]))


def remove_network(client: "APIClient", network: str) -> None:
    import docker.errors

    with engine_errors(), suppress(docker.errors.NotFound):
        client.remove_network(network)


def list_own_networks(client: "APIClient") -> list[dict[str, Any]]:
    with engine_errors():
        found: list[dict[str, Any]] = client.networks(filters={"label": OWNER})
    return found
