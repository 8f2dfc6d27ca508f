import gc
import io
import os
import tarfile
import threading
import time
from collections.abc import Iterator

import pytest

from assay.harness.domain import Limits
from assay.harness.engines import open_engine
from assay.harness.engines.base import Box
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.owner import OWNER
from assay.harness.errors import EngineError, EngineUnavailable, ImageMissing

pytestmark = pytest.mark.docker

RUN = f"test-docker-{os.getpid()}"
LABELS = {"assay.run": RUN}


@pytest.fixture
def box(docker_engine: DockerEngine, toolchain_image: str) -> Iterator[Box]:
    with docker_engine.open(toolchain_image, Limits(memory_mb=128, pids=64), LABELS) as opened:
        yield opened


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


def test_a_command_has_its_exit_status_output_user_folder_and_variables(box: Box) -> None:
    text = "echo $NAME; pwd; id -un; echo oops >&2; exit 7"
    run = box.exec(["sh", "-c", text], user="nobody", workdir="/tmp", env={"NAME": "ä"})
    assert run.exit_code == 7
    assert run.output.decode().splitlines() == ["ä", "/tmp", "nobody", "oops"]
    assert not run.timed_out


def test_the_deadline_ends_the_box_even_when_signals_are_ignored(box: Box) -> None:
    run = box.exec(["sh", "-c", "trap '' TERM; echo before; while :; do sleep 1; done"], seconds=1)
    assert run.timed_out
    assert run.output == b"before\n"


def test_endless_output_is_cut_and_ended(box: Box) -> None:
    run = box.exec(["yes"], seconds=60, output_bytes=100_000)
    assert run.truncated
    assert not run.timed_out
    assert len(run.output) < 101_000


def test_a_box_has_no_network_and_no_capabilities(box: Box) -> None:
    text = "ls /sys/class/net; grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status"
    lines = box.exec(["sh", "-c", text]).output.decode().split()
    assert lines == ["lo", "CapEff:", "0000000000000000", "CapBnd:", "0000000000000000", "NoNewPrivs:", "1"]


def test_the_memory_limit_kills_and_is_told(box: Box) -> None:
    run = box.exec(["python3", "-c", "x = bytearray(400 * 1024 * 1024)"])
    assert run.exit_code == 137
    assert box.end()


def test_the_process_limit_holds(box: Box) -> None:
    program = (
        "import os\nn = 0\ntry:\n    while os.fork(): n += 1\n    os._exit(0)\nexcept OSError: print('stopped at', n)"
    )
    program = program.replace("os._exit(0)", "__import__('time').sleep(3); os._exit(0)")
    words = box.exec(["python3", "-c", program], seconds=20).output.decode().split()
    assert words[:2] == ["stopped", "at"]
    assert int(words[2]) < 64


def test_files_go_in_and_regular_files_come_out(box: Box) -> None:
    box.put(archive(one=b"1", two=b"22"), "/tmp")
    box.exec(["sh", "-c", "mkdir /tmp/d; mv /tmp/one /tmp/d; ln -s /etc/passwd /tmp/d/link; mkfifo /tmp/d/pipe"])
    assert box.get("/tmp/d", 1000) == {"one": b"1"}
    assert box.get("/tmp/two", 1000) == {"two": b"22"}
    assert box.get("/tmp/none", 1000) == {}


def test_what_is_too_large_does_not_come_out(box: Box) -> None:
    box.exec(["sh", "-c", "mkdir /tmp/d; head -c 3000000 /dev/zero > /tmp/d/big; echo 1 > /tmp/d/a"])
    assert "big" not in box.get("/tmp/d", 1000)


def test_the_report_of_a_box_that_was_killed_can_still_be_read(box: Box) -> None:
    box.exec(["sh", "-c", "echo kept > /tmp/report; sleep 60"], seconds=0.5)
    assert box.get("/tmp/report", 1000) == {"report": b"kept\n"}


def test_the_container_is_removed_in_every_case(docker_engine: DockerEngine, toolchain_image: str) -> None:
    with docker_engine.open(toolchain_image, Limits(), LABELS):
        assert len(ours(docker_engine)) == 1
    assert not ours(docker_engine)
    with pytest.raises(ZeroDivisionError), docker_engine.open(toolchain_image, Limits(), LABELS):
        raise ZeroDivisionError
    assert not ours(docker_engine)


def test_abort_ends_what_is_running_and_lets_nothing_begin(docker_engine: DockerEngine, toolchain_image: str) -> None:
    engine = DockerEngine(docker_engine._client)
    with engine.open(toolchain_image, Limits(), LABELS) as box:
        threading.Timer(0.3, engine.abort).start()
        began = time.monotonic()
        run = box.exec(["sleep", "600"], seconds=600)
    assert time.monotonic() - began < 60
    assert (run.exit_code, run.timed_out) == (137, False)
    with pytest.raises(EngineError, match="told to stop"), engine.open(toolchain_image, Limits(), LABELS):
        pass
    assert not ours(engine)


def test_reaping_takes_orphans_and_leaves_the_living(docker_engine: DockerEngine, toolchain_image: str) -> None:
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


def test_a_missing_image_is_told_apart(docker_engine: DockerEngine) -> None:
    assert docker_engine.find_image("assay/none:1") is None
    with pytest.raises(ImageMissing), docker_engine.open("assay/none:1", Limits(), LABELS):
        pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the SDK leaves a socket that failed
def test_no_engine_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    with pytest.raises(EngineUnavailable, match="no container engine answers") as caught:
        open_engine("docker")
    assert "\n" not in str(caught.value)
    del caught
    gc.collect()
