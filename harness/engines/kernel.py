"""Facts about a container that the kernel of this machine has and the engine does not report."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from stat import S_ISREG

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
LOOKS = 200_000  # open files that are looked at, at most: processes in a container can have millions
_MAPPED = re.compile(r"^([0-9a-f]+-[0-9a-f]+) .* \(deleted\)$", re.MULTILINE)
_IN_MEMORY = ("/memfd:", "/dev/shm/", "/SYSV", "/dev/zero")
_BLOCK = 512


def processes_were_limited(pid: int, container: str) -> bool:
    """Return whether the kernel refused a container a process because of its limit; False if that is unknown.

    Args:
        pid: a process of the container, in this machine's numbers.
        container: its full id, which is in the names of its control groups unless the engine is on another machine.
    """
    group = _group(pid, container)
    return group is not None and _count(group / "pids.events", "max") > 0


def memory_ran_out(pid: int, container: str) -> bool:
    """Return whether the kernel killed a process of a container because of its memory; False if that is unknown.

    Podman reports this of a container's first process only.
    """
    for controller, file in (("memory", "memory.oom_control"), ("", "memory.events")):
        group = _group(pid, container, controller)
        if group is not None and _count(group / file, "oom_kill") > 0:
            return True
    return False


def count_unlinked_bytes(pid: int, container: str) -> int:
    """Count the disk of removed files that a container has open or mapped; 0 if unknown, as on another machine."""
    sizes: dict[tuple[int, int], int] = {}
    for file in islice(_open_files(_processes(pid, container)), LOOKS):
        with suppress(OSError):
            found = file.stat()
            if S_ISREG(found.st_mode) and not found.st_nlink and not str(file.readlink()).startswith(_IN_MEMORY):
                sizes[found.st_dev, found.st_ino] = found.st_blocks * _BLOCK
    return sum(sizes.values())


def _group(pid: int, container: str, controller: str = "pids") -> Path | None:
    """Find the folder of a container's control group for a controller; None if this machine does not know it."""
    with suppress(OSError):
        for line in (PROC / f"{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if container in path and controllers in {controller, ""}:
                return CGROUPS / controllers / path.lstrip("/")
    return None


def _processes(pid: int, container: str) -> Iterator[str]:
    """Yield the ids of a container's processes: by its control group or, without one, by its numbering of processes.

    An engine without root has no control groups in their first version.
    """
    if group := _group(pid, container):
        yield from _members(group)
    elif container in read_text(PROC / f"{pid}/mountinfo"):
        own = _numbering(str(pid))
        yield from (each.name for each in PROC.glob("[0-9]*") if own and _numbering(each.name) == own)


def _numbering(pid: str) -> str:
    try:
        return str((PROC / pid / "ns/pid").readlink())
    except OSError:
        return ""


def read_text(file: Path) -> str:
    """Read a file of the kernel's; "" if it is not there, or not for this user."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def _members(group: Path) -> Iterator[str]:
    """Yield the ids of the processes in a control group and in those below it."""
    for file in (group / "cgroup.procs", *group.glob("**/*/cgroup.procs")):
        with suppress(OSError):
            yield from file.read_text().split()


def _open_files(pids: Iterator[str]) -> Iterator[Path]:
    """Yield a link below ``/proc`` for every file that processes have open, and every removed one they have mapped."""
    for pid in pids:
        with suppress(OSError):
            yield from (PROC / pid / "fd").iterdir()
        with suppress(OSError):
            for found in _MAPPED.finditer((PROC / pid / "maps").read_text(errors="replace")):
                yield PROC / pid / "map_files" / found[1]


def _count(events: Path, name: str) -> int:
    try:
        counts = dict(line.split() for line in events.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(counts.get(name, "0"))
