import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.harness.engines import kernel
from assay.harness.engines.kernel import count_unlinked_bytes, memory_ran_out, processes_were_limited

CONTAINER = "0123456789abcdef"


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of ``/proc``, beside one in the place of the control groups."""
    monkeypatch.setattr(kernel, "PROC", tmp_path / "proc")
    monkeypatch.setattr(kernel, "CGROUPS", tmp_path / "cgroup")
    return tmp_path / "proc"


def lay(proc: Path, memberships: str, group: str, events: str, file: str = "pids.events") -> None:
    (proc / "7").mkdir(parents=True)
    (proc / "7/cgroup").write_text(memberships)
    folder = proc.parent / "cgroup" / group
    folder.mkdir(parents=True)
    (folder / file).write_text(events)


FIRST = f"9:memory:/docker/{CONTAINER}\n4:pids:/docker/{CONTAINER}\n1:name=systemd:/docker/{CONTAINER}\n"
SECOND = f"system.slice/docker-{CONTAINER}.scope"


@pytest.mark.parametrize(
    ("memberships", "group", "events", "limited"),
    [
        *((FIRST, f"pids/docker/{CONTAINER}", events, False) for events in ("max 0\n", "other 3\n", "?")),
        (FIRST, f"pids/docker/{CONTAINER}", "max 3\n", True),
        (f"0::/{SECOND}\n", SECOND, "max 1\n", True),
        ("4:pids:/docker/another\n", "pids/docker/another", "max 1\n", False),
    ],
)
def test_refused_processes_are_counted_for_the_container_alone(
    proc: Path, memberships: str, group: str, events: str, limited: bool
) -> None:
    lay(proc, memberships, group, events)
    assert processes_were_limited(7, CONTAINER) is limited


@pytest.mark.parametrize(
    ("killed", "expected"), [("oom_kill 0\n", False), ("under_oom 0\noom_kill 2\n", True), ("?", False)]
)
def test_process_that_was_killed_for_its_memory_is_seen(proc: Path, killed: str, expected: bool) -> None:
    first = f"memory/libpod_parent/libpod-{CONTAINER}"
    lay(proc, f"4:memory:/libpod_parent/libpod-{CONTAINER}\n", first, killed, "memory.oom_control")
    assert memory_ran_out(7, CONTAINER) is expected
    second = f"machine.slice/libpod-{CONTAINER}.scope"
    shutil.rmtree(proc)
    lay(proc, f"0::/{second}\n", second, killed, "memory.events")
    assert memory_ran_out(7, CONTAINER) is expected


def test_of_an_unknown_process_nothing_is_counted(proc: Path) -> None:
    assert not processes_were_limited(7, CONTAINER)
    assert count_unlinked_bytes(7, CONTAINER) == 0


PROGRAM = """
import mmap, os, sys, time
f = open(sys.argv[1], "wb+")
os.unlink(sys.argv[1])
f.write(bytes(3_000_000))
f.flush()
{}
print("ready", flush=True)
time.sleep(60)
"""
IN_MEMORY_AND_THERE = """
f.close()
os.write(os.memfd_create("x"), bytes(3_000_000))
g = open(sys.argv[1], "wb")
g.write(bytes(3_000_000))
g.flush()
"""


@pytest.fixture
def in_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], int]]:
    """Start a program of this machine as if in a container, and return its number."""
    monkeypatch.setattr(kernel, "CGROUPS", tmp_path / "cgroup")
    started = []

    def start(program: str) -> int:
        command = [sys.executable, "-c", PROGRAM.format(program), str(tmp_path / "file")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        group = tmp_path / "cgroup" / "below"
        group.mkdir(parents=True)
        (group / "cgroup.procs").write_text(f"{process.pid}\n")
        monkeypatch.setattr(kernel, "_group", lambda _pid, _container: tmp_path / "cgroup")
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    "program",
    [
        "pass",
        "os.dup(f.fileno())",
        "m = mmap.mmap(f.fileno(), 0); f.close()",
        "g = open(f'/proc/self/fd/{f.fileno()}')",
    ],
)
def test_removed_open_files_are_counted_once(in_a_group: Callable[[str], int], program: str) -> None:
    assert 3_000_000 <= count_unlinked_bytes(in_a_group(program), CONTAINER) < 3_200_000


@pytest.mark.parametrize(
    ("program", "most"),
    [("f.close()", 100_000), ("f.truncate(0); os.fsync(f.fileno())", 100_000), (IN_MEMORY_AND_THERE, 0)],
)
def test_files_that_are_gone_in_memory_or_still_there_are_not_counted(
    in_a_group: Callable[[str], int], program: str, most: int
) -> None:
    assert count_unlinked_bytes(in_a_group(program), CONTAINER) <= most


@pytest.mark.parametrize(("mounted", "found"), [(CONTAINER, {"7", "8"}), ("another", set())])
def test_processes_without_a_control_group_are_those_with_the_same_numbering(
    proc: Path, mounted: str, found: set[str]
) -> None:
    for pid, space in (("7", "pid:[1]"), ("8", "pid:[1]"), ("9", "pid:[2]")):
        (proc / pid / "ns").mkdir(parents=True)
        (proc / pid / "ns/pid").symlink_to(space)
    (proc / "10").mkdir()  # ended
    (proc / "7/cgroup").write_text("8:pids:/\n")
    (proc / "7/mountinfo").write_text(f"1 2 254:0 /overlay-containers/{mounted}/userdata/hosts /etc/hosts rw\n")
    assert set(kernel._processes(7, CONTAINER)) == found
