import os
from collections.abc import Iterator

import pytest

from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.networks import Link, internal_network, list_own_networks, remove_network
from assay.harness.engines.owner import OWNER, is_orphan

LABELS = {"assay.run": f"test-networks-{os.getpid()}"}


def ids(engine: DockerEngine) -> set[str]:
    return {each["Id"] for each in engine._client.networks()}


@pytest.fixture
def stranger(docker_engine: DockerEngine) -> Iterator[str]:
    """A network that is not Assay's."""
    client = docker_engine._client
    network = client.create_network(f"assay-stranger-{os.getpid()}", internal=True, labels={"mine": "1"})["Id"]
    yield network
    client.remove_network(network)


def test_link_names_its_container_on_the_network() -> None:
    assert Link("n").config == {"EndpointsConfig": {"n": {"Aliases": []}}}
    assert Link("n", "web").config == {"EndpointsConfig": {"n": {"Aliases": ["web"]}}}


@pytest.mark.docker
def test_network_is_owned_while_open_and_removed_in_every_case(docker_engine: DockerEngine, stranger: str) -> None:
    client = docker_engine._client
    with internal_network(client, LABELS, 60) as network:
        owned = {each["Id"]: each for each in list_own_networks(client)}
        assert owned[network]["Internal"]
        assert not is_orphan(owned[network]["Labels"])
        assert stranger not in owned
    with pytest.raises(ZeroDivisionError), internal_network(client, LABELS, 60):
        raise ZeroDivisionError
    assert not [each for each in list_own_networks(client) if each["Labels"].get("assay.run") == LABELS["assay.run"]]
    remove_network(client, network)  # a second time is no error


@pytest.mark.docker
def test_reap_removes_networks_of_dead_owners_and_no_others(docker_engine: DockerEngine, stranger: str) -> None:
    dead = {**LABELS, OWNER: "elsewhere:0:1:1", "assay.deadline": "1"}
    orphan = docker_engine._client.create_network(f"assay-orphan-{os.getpid()}", internal=True, labels=dead)["Id"]
    with internal_network(docker_engine._client, LABELS, 60) as living:
        docker_engine.reap()  # which another process may have done a moment before
        assert {living, stranger} <= ids(docker_engine)
        assert orphan not in ids(docker_engine)
