"""Steps of builds that do not end, each small enough to end by itself: no test relies on the limits that it tests."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from assay.choices import read_build_limits
from assay.harness.engines.base import BoxSpec, Engine
from assay.harness.engines.build_limits import USUAL, BuildLimits, limit_steps, name_limit
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.docker_build import find_builder
from assay.harness.errors import EnvironmentFailure, UserError
from container_engines import PODMAN, container_engine

IMAGE = f"assay-test/limits:{os.getpid()}"
LIMITS = BuildLimits(seconds=4, processes=200, memory_mb=200, disk_mb=150)
STEPS = {
    "loops": ("n=0; while [ $n -lt 9000000 ]; do n=$((n+1)); done; sleep 30", "the build took more than 4 s"),
    "ignores signals": ("trap '' TERM INT HUP; (setsid sleep 60.PID &); sleep 60.PID", "the build took more than 4 s"),
    "forks": (
        "b() { [ $1 = 0 ] || { b $(($1-1)) & b $(($1-1)) & }; sleep 60.PID; }; b 8",
        "the build used more than 200 processes",
    ),
    "eats memory": ("head -c 500000000 /dev/zero | tail > /dev/null; sleep 30", "the build used more than 200 MB of"),
    "shares memory": (
        "python3 -c 'import mmap, time; mmap.mmap(-1, 4 * 10**8).write(bytes(4 * 10**8)); time.sleep(30)'",
        "the build used more than 200 MB of memory",
    ),
    "starts threads": (
        "python3 -c 'import threading as t; [t.Thread(target=t.Event().wait, args=(30,)).start() for _ in range(300)]'",
        "the build used more than 200 processes",
    ),
    "fills the disk": (
        "for n in 1 2 3 4 5; do head -c 70000000 /dev/zero > /opt/$n; done; sleep 30",
        "the build wrote more than 150 MB to the disk",
    ),
    "fills the disk with removed files": (
        "exec 5> /opt/x; rm /opt/x; head -c 400000000 /dev/zero >&5; sleep 30",
        "the build wrote more than 150 MB to the disk",
    ),
}


EVERYWHERE = ("loops", "forks", "eats memory", "fills the disk")
CASES = [
    pytest.param(builder, name, id=f"{builder}: {name}")
    for builder in ("buildkit", "plain", "podman")
    for name in (STEPS if builder == "buildkit" else EVERYWHERE)
]


@pytest.fixture(params=["buildkit", "plain", "podman"])
def engine(
    request: pytest.FixtureRequest, docker_engine: DockerEngine, toolchain_image: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    monkeypatch.setenv("ASSAY_BUILDER", "buildkit" if request.param == "buildkit" else "plain")
    name = "podman" if request.param == "podman" else "docker"
    find_builder.cache_clear()
    try:
        find_builder()
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    with container_engine(name, docker_engine, toolchain_image) as opened:
        if name == "podman":
            monkeypatch.setenv("DOCKER_HOST", f"unix://{PODMAN}")
        monkeypatch.setattr(opened, "build_limits", LIMITS, raising=False)
        yield opened
        if opened.find_image(IMAGE):
            opened.remove_image(IMAGE)
    find_builder.cache_clear()


def build(engine: Engine, folder: Path, image: str, step: str) -> str:
    """Build a step; return the problem, or ""."""
    context = folder / "context"
    context.mkdir()
    # The time makes it a step that no builder has kept.
    text = f"# assay: network=none\nFROM {image}\nRUN : {time.time()} \\\n && {step}\n"
    (context / "Dockerfile").write_text(text)
    try:
        engine.build(IMAGE, context, folder / "log", secrets={}, labels={})
    except EnvironmentFailure as error:
        return error.problem
    return ""


def is_left(command: str) -> bool:
    files = (each for each in Path("/proc").glob("[0-9]*/cmdline"))
    with suppress(OSError):  # one may end in between
        return any(
            file.read_bytes().replace(b"\x00", b" ").decode(errors="replace").strip() == command for file in files
        )
    return is_left(command)


@pytest.mark.docker
@pytest.mark.parametrize(("engine", "name"), CASES, indirect=["engine"])
def test_build_over_a_limit_is_ended_with_all_that_it_started(
    engine: Engine, toolchain_image: str, tmp_path: Path, name: str
) -> None:
    step, problem = STEPS[name][0].replace("PID", str(os.getpid())), STEPS[name][1]
    if "took" not in problem:
        engine.build_limits = replace(LIMITS, seconds=120)
    began = time.monotonic()
    assert build(engine, tmp_path, toolchain_image, step).startswith(problem)
    assert time.monotonic() - began < 100  # without the limit it takes as long as its time allows
    assert not is_left(f"sleep 60.{os.getpid()}")


@pytest.mark.docker
def test_build_within_its_limits_keeps_status_output_and_files(
    engine: Engine, toolchain_image: str, tmp_path: Path
) -> None:
    assert (
        build(engine, tmp_path, toolchain_image, "printf 'no end of line' && (sleep 60 &) && echo kept > /kept") == ""
    )
    assert "no end of line" in (tmp_path / "log").read_text()
    with engine.open(BoxSpec(IMAGE)) as box:
        assert box.exec(["cat", "/kept"]).output == b"kept\n"
        assert box.exec(["ls", "/dev/shm"]).output == b""


@pytest.mark.docker
def test_step_that_fails_with_a_status_of_the_supervisor_is_no_limit(
    engine: Engine, toolchain_image: str, tmp_path: Path
) -> None:
    problem = build(engine, tmp_path, toolchain_image, "echo exit code: 93; exit 94")
    assert "could not be built" in problem
    assert "look_at_disk" not in problem + (tmp_path / "log").read_text()
    assert "exit code: 93" in (tmp_path / "log").read_text()


def test_steps_keep_their_mounts_and_other_lines_stay() -> None:
    text = "# c\nFROM a\nENV A=1 \\\n    B=2\nRUN --mount=type=cache,target=/c x && \\\n y\n"
    first, base, variables, step = limit_steps(text, LIMITS).splitlines()
    assert [first, base, variables] == ["# c", "FROM a", "ENV A=1     B=2"]
    assert step.startswith('RUN --mount=type=cache,target=/c ["/bin/sh", "-c", ')
    assert step.endswith('"x &&  y", "4", "200", "200", "150"]')


def test_the_last_status_counts() -> None:
    assert name_limit("ninja: exit code: 93\nfailed: exit code: 1", USUAL) == ""
    assert name_limit("exit status 1\nreturned a non-zero code: 91", USUAL) == "the build took more than 3,600 s"


def test_limits_are_read_from_a_text() -> None:
    assert read_build_limits("") == USUAL
    assert read_build_limits("seconds=90, memory=2GB") == BuildLimits(seconds=90, memory_mb=1907)
    for wrong in ("time=4", "seconds=0", "processes=many", "memory"):
        with pytest.raises(UserError):
            read_build_limits(wrong)
