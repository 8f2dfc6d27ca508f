"""Labels that name the owner of a container, so that a later process can see whether it is an orphan or at work."""

import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from assay.harness.engines.kernel import read_text

OWNER = "assay.owner"
DEADLINE = "assay.deadline"
SLACK = 600.0  # seconds a container may outlive its test command before anyone may reap it


def owner_labels(lifetime: float) -> dict[str, str]:
    """Label an object that this process owns for at most ``lifetime`` seconds."""
    return {OWNER: this_process(), DEADLINE: str(int(time.time() + lifetime))}


def this_process() -> str:
    """Name this process as no other is named, even after a restart of the machine."""
    return f"{socket.gethostname()}:{_boot_id()}:{_process_space()}:{os.getpid()}:{_start_time(os.getpid())}"


def dead_process() -> str:
    """Name a process that this machine does not have: its objects are orphans at once."""
    return f"{socket.gethostname()}:none"


def is_orphan(labels: Mapping[str, str], now: float | None = None) -> bool:
    """Return whether an object's owner is dead or, if that is unknown, its deadline has passed.

    It is unknown of an owner on another machine or in another process space. The deadline is not used for a living
    owner on this machine: the clock may jump, and the owner ends its boxes by itself.
    """
    alive = _is_alive(labels.get(OWNER, ""))
    if alive is not None:
        return not alive
    deadline = labels.get(DEADLINE, "")
    return deadline.isdigit() and int(deadline) < (time.time() if now is None else now)


def _is_alive(owner: str) -> bool | None:
    """Return whether an owner lives; None if that is unknown."""
    host, boot, space, pid, started = (*owner.split(":"), "", "", "", "")[:5]
    if host != socket.gethostname():
        return None if host else False
    if boot != _boot_id():
        return False
    if space != _process_space():
        return None  # in a container of its own, with process numbers of its own
    return pid.isdigit() and _start_time(int(pid)) == started


def _process_space() -> str:
    """Return the number of this process's PID namespace."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return "0"


def _boot_id() -> str:
    return read_text(Path("/proc/sys/kernel/random/boot_id")).strip() or "unknown"


def _start_time(pid: int) -> str:
    """Return the kernel's start time of a process, in clock ticks, or "" if it has ended."""
    stat = read_text(Path(f"/proc/{pid}/stat"))
    return stat.rpartition(")")[2].split()[19] if stat else ""
