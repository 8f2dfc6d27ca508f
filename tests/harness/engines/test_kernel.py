from pathlib import Path

import pytest

from assay.harness.engines import kernel
from assay.harness.engines.kernel import processes_were_limited

CONTAINER = "0123456789abcdef"


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of ``/proc``, beside one in the place of the control groups."""
    monkeypatch.setattr(kernel, "PROC", tmp_path / "proc")
    monkeypatch.setattr(kernel, "CGROUPS", tmp_path / "cgroup")
    return tmp_path / "proc"


def lay(proc: Path, memberships: str, group: str, events: str) -> None:
    (proc / "7").mkdir(parents=True)
    (proc / "7/cgroup").write_text(memberships)
    folder = proc.parent / "cgroup" / group
    folder.mkdir(parents=True)
    (folder / "pids.events").write_text(events)


@pytest.mark.parametrize(
    ("events", "limited"), [("max 0\n", False), ("max 3\n", True), ("other 3\n", False), ("?", False)]
)
def test_refused_processes_are_counted_in_the_first_version(proc: Path, events: str, limited: bool) -> None:
    memberships = f"9:memory:/docker/{CONTAINER}\n4:pids:/docker/{CONTAINER}\n1:name=systemd:/docker/{CONTAINER}\n"
    lay(proc, memberships, f"pids/docker/{CONTAINER}", events)
    assert processes_were_limited(7, CONTAINER) is limited


def test_refused_processes_are_counted_in_the_second_version(proc: Path) -> None:
    group = f"system.slice/docker-{CONTAINER}.scope"
    lay(proc, f"0::/{group}\n", group, "max 1\n")
    assert processes_were_limited(7, CONTAINER)


def test_process_of_another_container_is_not_counted(proc: Path) -> None:
    lay(proc, "4:pids:/docker/another\n", "pids/docker/another", "max 1\n")
    assert not processes_were_limited(7, CONTAINER)


def test_process_that_has_ended_was_not_limited(proc: Path) -> None:
    assert not processes_were_limited(7, CONTAINER)
