"""Containers of the real engine: opened, removed in every case, aborted and reaped."""

import gc
import os
from types import SimpleNamespace

import pytest

from assay.harness.engines import open_engine
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.doctor import PROBES
from assay.harness.engines.owner import OWNER
from assay.harness.errors import EngineUnavailable

RUN = f"test-docker-{os.getpid()}"
LABELS = {"assay.run": RUN}


def ours(engine: DockerEngine) -> list[str]:
    return [each["Id"] for each in engine._client.containers(all=True, filters={"label": f"assay.run={RUN}"})]


@pytest.mark.docker
def test_box_without_network_has_no_address_of_ipv6(docker_engine: DockerEngine, toolchain_image: str) -> None:
    with docker_engine.open(BoxSpec(toolchain_image, labels=LABELS)) as box:
        assert box.exec(["sh", "-c", "cat /proc/net/if_inet6"]).output == b""


@pytest.mark.docker
def test_reap_removes_orphans_and_nothing_else(docker_engine: DockerEngine, toolchain_image: str) -> None:
    client = docker_engine._client
    dead = {**LABELS, OWNER: "elsewhere:0:1:1", "assay.deadline": "1"}
    orphan = client.create_container(toolchain_image, command=["true"], labels=dead)["Id"]
    stranger = client.create_container(toolchain_image, command=["true"], labels={"mine": "1"})["Id"]
    try:
        with docker_engine.open(BoxSpec(toolchain_image, labels=LABELS)):
            docker_engine.reap()  # which another process may have done a moment before
            assert len(ours(docker_engine)) == 1
            assert orphan not in ours(docker_engine)
        assert client.inspect_container(stranger)
    finally:
        client.remove_container(stranger)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the SDK leaves a socket that failed
def test_unreachable_engine_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    with pytest.raises(EngineUnavailable, match="no container engine answers") as caught:
        open_engine("docker")
    assert "\n" not in str(caught.value)
    del caught
    gc.collect()


def says(**info: object) -> DockerEngine:
    return DockerEngine(SimpleNamespace(info=lambda: info))  # type: ignore[arg-type]


def test_limits_that_the_engine_says_it_lacks_are_not_enforced() -> None:
    powers = {"MemoryLimit": True, "CpuCfsQuota": True, "PidsLimit": True}
    assert says(**powers, CgroupVersion="1").unenforced == frozenset()
    assert says(**powers, CgroupVersion="2", SecurityOptions=["name=rootless"]).unenforced == frozenset()
    assert says(**{**powers, "PidsLimit": False}, CgroupVersion="2").unenforced == {"process limit"}


def test_engine_without_root_enforces_no_limit_of_the_first_control_groups() -> None:
    for rootless in ({"Rootless": True}, {"SecurityOptions": ["name=rootless"]}):
        unenforced = says(MemoryLimit=True, CpuCfsQuota=True, PidsLimit=True, CgroupVersion="1", **rootless).unenforced
        assert unenforced == {"memory limit", "processor limit", "process limit"}
        assert unenforced <= set(PROBES)
