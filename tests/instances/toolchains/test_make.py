"""Toolchains over public images, from a registry on loopback that stands for the public one."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from assay.harness.domain import Recipe
from assay.harness.engines import open_engine
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.errors import EngineError, EnvironmentFailure, ImageMissing
from assay.instances.toolchains.ensure import ensure
from assay.instances.toolchains.images import Toolchain, find_toolchain, offers
from assay.instances.toolchains.make import make_toolchain

CONFIG = """
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {folder}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Host and port of an empty registry."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("needs docker-registry")
    folder = tmp_path_factory.mktemp("registry")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "config.yml").write_text(CONFIG.format(folder=folder / "data", port=port))
    with subprocess.Popen([program, "serve", str(folder / "config.yml")], stderr=subprocess.DEVNULL) as server:
        for _ in range(100):
            try:
                urlopen(f"http://127.0.0.1:{port}/v2/").close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"127.0.0.1:{port}"
        server.terminate()


@pytest.fixture
def official(docker_engine: DockerEngine, toolchain_image: str, registry: str) -> Iterator[Toolchain]:
    """The toolchain over a public image, which is on the registry alone."""
    name = f"{registry}/library/python:3.11"
    docker_engine.tag(toolchain_image, name)
    docker_engine.push(name)
    docker_engine.remove_image(name)
    wanted = find_toolchain(Recipe(), {"sources": {"registry": f"{registry}/library"}}, open_engine("docker"))
    yield wanted
    docker_engine.remove_image(wanted.name)
    docker_engine.remove_image(wanted.image)


def test_public_image_is_found_pulled_and_completed(docker_engine: DockerEngine, official: Toolchain, tmp_path: Path):
    ensure(official.name, docker_engine, tmp_path, lambda *place: make_toolchain(official, docker_engine, *place))

    info = docker_engine.find_image(official.name)
    assert info is not None
    assert info.labels["assay.kind"] == "toolchain"
    assert official.image.partition("@sha256:")[0].endswith("/library/python")
    with docker_engine.open(BoxSpec(official.name)) as box:
        done = box.exec(["sh", "-c", "python3 --version && command -v git patch ps"])
    assert done.exit_code == 0
    assert done.output.startswith(b"Python 3.11.")


def test_registry_without_the_version_is_a_reason_and_packages_follow(registry: str):
    asked = open_engine("docker")
    found = list(offers("python", "3.13", {"sources": {"registry": f"{registry}/library"}}, asked))

    assert [each.why for each in found][1:] == [f"the registry has no {registry}/library/python:3.13", "Debian trixie"]
    with pytest.raises(ImageMissing):
        asked.remote_digest(f"{registry}/library/python:3.13")


def test_silent_registry_is_asked_once(docker_engine: DockerEngine):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        asked = open_engine("docker")
        seconds = []
        for version in ("3.9", "3.11", "3.13"):
            began = time.monotonic()
            with pytest.raises(EngineError) as caught:
                asked.remote_digest(f"{host}/python:{version}")
            seconds.append(time.monotonic() - began)
            assert not isinstance(caught.value, ImageMissing)

    assert seconds[0] < 30
    assert max(seconds[1:]) < 0.1


def test_public_image_that_has_gone_is_an_environment_failure(
    docker_engine: DockerEngine, registry: str, tmp_path: Path
):
    image = f"{registry}/library/python@sha256:{'0' * 64}"
    (tmp_path / "scratch").mkdir()

    with pytest.raises(EnvironmentFailure, match="cannot be pulled"):
        make_toolchain(Toolchain("x", "x", image=image), docker_engine, tmp_path / "scratch", tmp_path / "log")
