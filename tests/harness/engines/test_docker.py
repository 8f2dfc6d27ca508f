"""Containers of the real engine: opened, removed in every case, aborted and reaped."""

import gc
import io
import os
import tarfile
import threading
import time

import pytest

from assay.harness.domain import Limits
from assay.harness.engines import open_engine
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.owner import OWNER
from assay.harness.errors import EngineError, EngineUnavailable, ImageMissing

pytestmark = pytest.mark.docker

RUN = f"test-docker-{os.getpid()}"
LABELS = {"assay.run": RUN}


def ours(engine: DockerEngine) -> list[str]:
    return [each["Id"] for each in engine._client.containers(all=True, filters={"label": f"assay.run={RUN}"})]


def archive(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def test_archive_is_there_when_the_box_opens(docker_engine: DockerEngine, toolchain_image: str) -> None:
    packed = archive(**{"opt/one": b"1\n"})
    for limits in (Limits(), Limits(network=True)):
        with docker_engine.open(toolchain_image, limits, LABELS, archive=packed) as box:
            assert box.exec(["cat", "/opt/one"], user="nobody").output == b"1\n"


def test_box_without_network_looks_up_localhost_and_no_other_name(
    docker_engine: DockerEngine, toolchain_image: str
) -> None:
    with docker_engine.open(toolchain_image, Limits(), LABELS) as box:
        program = "import socket; print(socket.gethostbyname('localhost'))"
        assert box.exec(["python3", "-c", program]).output == b"127.0.0.1\n"
        assert box.exec(["getent", "hosts", "example.org"]).exit_code == 2
        assert box.exec(["sh", "-c", "cat /proc/net/if_inet6"]).output == b""
        assert box.exec(["touch", "/etc/hosts"], user="nobody").exit_code == 1


def test_container_is_removed_in_every_case(docker_engine: DockerEngine, toolchain_image: str) -> None:
    with docker_engine.open(toolchain_image, Limits(), LABELS):
        assert len(ours(docker_engine)) == 1
    assert not ours(docker_engine)
    with pytest.raises(ZeroDivisionError), docker_engine.open(toolchain_image, Limits(), LABELS):
        raise ZeroDivisionError
    assert not ours(docker_engine)


def test_abort_ends_open_boxes_and_opens_no_more(docker_engine: DockerEngine, toolchain_image: str) -> None:
    engine = DockerEngine(docker_engine._client)
    with engine.open(toolchain_image, Limits(), LABELS) as box:
        threading.Timer(0.3, engine.abort).start()
        began = time.monotonic()
        run = box.exec(["sleep", "600"], seconds=600)
    assert time.monotonic() - began < 60
    assert (run.exit_code, run.timed_out) == (137, False)
    with pytest.raises(EngineError, match="stopped"), engine.open(toolchain_image, Limits(), LABELS):
        pass
    assert not ours(engine)


def test_reap_removes_orphans_and_nothing_else(docker_engine: DockerEngine, toolchain_image: str) -> None:
    client = docker_engine._client
    dead = {**LABELS, OWNER: "elsewhere:0:1:1", "assay.deadline": "1"}
    orphan = client.create_container(toolchain_image, command=["true"], labels=dead)["Id"]
    stranger = client.create_container(toolchain_image, command=["true"], labels={"mine": "1"})["Id"]
    try:
        with docker_engine.open(toolchain_image, Limits(), LABELS):
            docker_engine.reap()  # which another process may have done a moment before
            assert len(ours(docker_engine)) == 1
            assert orphan not in ours(docker_engine)
        assert client.inspect_container(stranger)
    finally:
        client.remove_container(stranger)


def test_missing_image_is_none_or_an_error(docker_engine: DockerEngine) -> None:
    assert docker_engine.find_image("assay/none:1") is None
    with pytest.raises(ImageMissing), docker_engine.open("assay/none:1", Limits(), LABELS):
        pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the SDK leaves a socket that failed
def test_unreachable_engine_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    with pytest.raises(EngineUnavailable, match="no container engine answers") as caught:
        open_engine("docker")
    assert "\n" not in str(caught.value)
    del caught
    gc.collect()
