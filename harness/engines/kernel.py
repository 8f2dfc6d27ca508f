"""Facts about a container that the kernel of this machine has and the engine does not report."""

from pathlib import Path

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


def processes_were_limited(pid: int, container: str) -> bool:
    """Return whether the kernel refused a container a process because of its limit; False if that cannot be known.

    Args:
        pid: a process of the container, in this machine's numbers.
        container: its full id, which is in the names of its control groups unless the engine is on another machine.
    """
    try:
        memberships = (PROC / f"{pid}/cgroup").read_text().splitlines()
    except OSError:
        return False
    for line in memberships:
        _, controllers, path = line.split(":", 2)
        if container in path and controllers in {"pids", ""}:
            events = CGROUPS / controllers / path.lstrip("/") / "pids.events"
            if _count(events, "max"):
                return True
    return False


def _count(events: Path, name: str) -> int:
    try:
        counts = dict(line.split() for line in events.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(counts.get(name, "0"))
