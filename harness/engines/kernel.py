"""What the kernel of this machine knows about a container, beyond what its engine tells."""

from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def processes_were_limited(pid: int, container: str) -> bool:
    """Tell whether a container was refused a process because of its limit.

    Args:
        pid: a process of the container as this machine numbers it.
        container: its full id, which its control groups carry; where they do not, the engine is on another machine.

    Returns:
        False also when this cannot be known.
    """
    try:
        memberships = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
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
