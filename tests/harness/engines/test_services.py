import os
import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from assay.harness.domain import Service
from assay.harness.engines.base import Box, BoxSpec, Sidecar
from assay.harness.engines.docker import DockerEngine
from assay.harness.errors import EngineError, EnvironmentFailure

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("services")]
RUN = f"test-services-{os.getpid()}"
LABELS = {"assay.run": RUN}
ECHO = Service(name="echo.example.org", command="exec python3 -m http.server 80 --directory /srv", port=80)
OTHER = Service(name="other.example.org", command="exec python3 -m http.server 8000 --directory /srv", port=8000)
REACH = """
import socket, sys
for place in sys.argv[1:]:
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 2).close()
        print("reached", place)
    except OSError:
        print("not", place)
"""


@pytest.fixture(scope="module")
def image(docker_engine: DockerEngine, toolchain_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image with the user that services run as."""
    name = f"assay/test-services:{os.getpid()}"
    context = tmp_path_factory.mktemp("context")
    (context / "Dockerfile").write_text(f"FROM {toolchain_image}\nRUN useradd --uid 1000 --create-home assay\n")
    docker_engine.build(name, context, context / "log", secrets={}, labels={})
    yield name
    docker_engine.remove_image(name)


def ours(engine: DockerEngine) -> tuple[int, int]:
    """Count the containers and networks that these tests have made and that are there now."""
    wanted = {"label": f"assay.run={RUN}"}
    return len(engine._client.containers(all=True, filters=wanted)), len(engine._client.networks(filters=wanted))


def open_box(engine: DockerEngine, image: str, *services: Sidecar) -> AbstractContextManager[Box]:
    return engine.open(BoxSpec(image, labels=LABELS, services=services))


def reach(box: Box, *places: str) -> list[str]:
    return box.exec(["python3", "-c", REACH, *places], seconds=40).output.decode().splitlines()


@contextmanager
def listening() -> Iterator[int]:
    """Listen on every address of this machine; yields the port."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        yield server.getsockname()[1]


def addresses(engine: DockerEngine) -> set[str]:
    """Return this machine's addresses on the engine's networks, and the one it has on its own."""
    networks = engine._client.networks()
    configs = [config for each in networks for config in (each["IPAM"].get("Config") or ())]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        own = probe.getsockname()[0]
    return {own, *(config["Gateway"] for config in configs if "Gateway" in config)}


def test_services_answer_by_name_when_the_box_opens(docker_engine: DockerEngine, image: str) -> None:
    with open_box(docker_engine, image, Sidecar(ECHO, image), Sidecar(OTHER, image)) as box:
        assert ours(docker_engine) == (3, 1)
        places = ["echo.example.org:80", "other.example.org:8000"]
        assert reach(box, *places, "echo.example.org:81") == [
            *(f"reached {each}" for each in places),
            "not echo.example.org:81",
        ]
        assert box.exec(["sh", "-c", "getent hosts $(hostname)"]).exit_code == 0
    assert ours(docker_engine) == (0, 0)


def test_box_with_services_reaches_nothing_else(docker_engine: DockerEngine, image: str) -> None:
    with listening() as port, open_box(docker_engine, image, Sidecar(ECHO, image)) as box:
        here = sorted(f"{address}:{port}" for address in addresses(docker_engine))
        outside = ["1.1.1.1:53", "192.0.2.99:80", "example.org:80"]
        assert len(here) > 1
        assert reach(box, *here, *outside) == [f"not {place}" for place in (*here, *outside)]
        interfaces = box.exec(["sh", "-c", "ls /sys/class/net; grep -v ' lo$' /proc/net/if_inet6"]).output.decode()
        assert interfaces.split() == ["eth0", "lo"]


def test_box_without_services_has_no_network(docker_engine: DockerEngine, image: str) -> None:
    with open_box(docker_engine, image) as box:
        assert ours(docker_engine) == (1, 0)
        assert box.exec(["ls", "/sys/class/net"]).output.split() == [b"lo"]


def test_two_boxes_reach_only_their_own_services(docker_engine: DockerEngine, image: str) -> None:
    with (
        open_box(docker_engine, image, Sidecar(ECHO, image)) as one,
        open_box(docker_engine, image, Sidecar(OTHER, image)) as two,
    ):
        assert reach(one, "echo.example.org:80", "other.example.org:8000")[1] == "not other.example.org:8000"
        assert reach(two, "other.example.org:8000") == ["reached other.example.org:8000"]


def test_services_have_the_limits_of_any_box(docker_engine: DockerEngine, image: str) -> None:
    with open_box(docker_engine, image, Sidecar(ECHO, image)):
        found = docker_engine._client.containers(filters={"label": f"assay.run={RUN}"})
        states = [docker_engine._client.inspect_container(each["Id"])["HostConfig"] for each in found]
    assert len(states) == 2
    assert all(each["CapDrop"] == ["ALL"] and not each["Privileged"] and each["Memory"] for each in states)
    assert all(each["SecurityOpt"] == ["no-new-privileges"] for each in states)


@pytest.mark.parametrize(
    ("command", "is_made", "problem"),
    [
        ("echo no such setting; exit 7", True, "has ended by itself: no such setting"),
        ("exec sleep 60", True, "did not answer"),
        (ECHO.command, False, "echo"),
    ],
)
def test_service_that_does_not_come_up_is_an_environment_failure(
    docker_engine: DockerEngine, image: str, monkeypatch: pytest.MonkeyPatch, command: str, is_made: bool, problem: str
) -> None:
    monkeypatch.setattr("assay.harness.engines.services.START_SECONDS", 2.0)
    broken = Sidecar(ECHO.model_copy(update={"command": command}), image if is_made else "")
    opening = open_box(docker_engine, image, Sidecar(OTHER, image), broken)
    with pytest.raises(EnvironmentFailure, match=problem), opening:
        pytest.fail("the box must not open")
    assert ours(docker_engine) == (0, 0)


def test_services_are_removed_when_the_tests_raise(docker_engine: DockerEngine, image: str) -> None:
    with pytest.raises(ZeroDivisionError), open_box(docker_engine, image, Sidecar(ECHO, image)):
        raise ZeroDivisionError
    assert ours(docker_engine) == (0, 0)


def test_abort_ends_services_that_are_starting(docker_engine: DockerEngine, image: str) -> None:
    engine = DockerEngine(docker_engine._client)
    slow = ECHO.model_copy(update={"command": "exec sleep 60"})
    threading.Timer(1.0, engine.abort).start()
    opening = open_box(engine, image, Sidecar(slow, image))
    with pytest.raises((EngineError, EnvironmentFailure)), opening:
        pytest.fail("the box must not open")
    assert ours(engine) == (0, 0)
