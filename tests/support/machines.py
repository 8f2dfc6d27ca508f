"""Machines of a cluster on this one: each has a host name, a network and a ``/tmp/ray`` of its own.

A switch joins their networks with each other and with nothing else. All of it is gone when the processes are.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROGRAMS = ("ip", "nsenter", "unshare")
NET = "10.214.0"
"""Addresses of the switch; no other network namespace sees them."""
SETTLED = "mkdir -p /tmp/ray && mount -t tmpfs none /tmp/ray && hostname {name} && echo ready && exec sleep 3600"


@dataclass(frozen=True, eq=False)
class Machine:
    """One machine; ``holder`` is the process that keeps it in being."""

    name: str
    address: str
    holder: "subprocess.Popen[bytes]"
    switch: "subprocess.Popen[bytes]"
    variables: Mapping[str, str] = field(default_factory=dict)

    def words(self, command: Sequence[str], folder: Path, **variables: str) -> list[str]:
        """Return the command line that runs a command there, in a folder, and with further variables."""
        given = [f"{name}={value}" for name, value in {**self.variables, **variables}.items()]
        spaces = ("--net", "--mount", "--uts")
        return ["nsenter", f"--target={self.holder.pid}", *spaces, "env", f"--chdir={folder}", *given, *command]

    def processes(self) -> dict[int, str]:
        """Return what runs there, each with its command line."""
        space, found = Path(f"/proc/{self.holder.pid}/ns/mnt").stat().st_ino, {}
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                if (path / "ns/mnt").stat().st_ino == space:
                    found[int(path.name)] = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        del found[self.holder.pid]
        return found

    def kill(self) -> None:
        """Kill all that runs there, at once."""
        while found := self.processes():
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def unplug(self) -> None:
        """Pull the cable: nothing comes in or goes out, and nobody is told."""
        inside(self.switch, "ip", "link", "set", "dev", self.name, "down")

    def plug(self) -> None:
        """Put the cable back."""
        inside(self.switch, "ip", "link", "set", "dev", self.name, "up")


@contextmanager
def switch() -> "Iterator[subprocess.Popen[bytes]]":
    """Start a switch; skip the test where this machine cannot."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if os.geteuid() or lacking:
        pytest.skip(f"machines of their own need root{''.join(f', {name}' for name in lacking)}")
    with _held(["unshare", "--net"], "echo ready && exec sleep 3600") as made:
        inside(made, "ip", "link", "add", "name", "lan", "type", "bridge")
        inside(made, "ip", "link", "set", "lan", "up")
        yield made


@contextmanager
def machine(
    name: str, number: int, lan: "subprocess.Popen[bytes]", namespace: str = "", **variables: str
) -> Iterator[Machine]:
    """Start a machine at a switch, with an address that ends in a number.

    Args:
        namespace: a network namespace that it takes, by its name; one of its own without.
        variables: of all its processes.
    """
    spaces = ["nsenter", f"--net=/run/netns/{namespace}", "unshare"] if namespace else ["unshare", "--net"]
    with ExitStack() as undo:
        holder = undo.enter_context(_held([*spaces, "--mount", "--uts"], SETTLED.format(name=name)))
        made = Machine(name, f"{NET}.{number}", holder, lan, variables)
        undo.callback(made.kill)
        inside(lan, "ip", "link", "add", "name", name, "type", "veth", "peer", "name", "lan0", "netns", str(holder.pid))
        undo.callback(inside, lan, "ip", "link", "del", "dev", name)
        inside(lan, "ip", "link", "set", "dev", name, "master", "lan", "up")
        for words in (
            "addr add {address}/24 dev lan0",
            "link set lan0 up",
            "link set lo up",
            "route add default dev lan0",  # by which Ray finds the address; nobody answers there
        ):
            inside(holder, "ip", *words.format(address=made.address).split())
        yield made


def inside(holder: "subprocess.Popen[bytes]", *command: str) -> None:
    """Run a command in a process's network."""
    subprocess.run(["nsenter", f"--target={holder.pid}", "--net", *command], check=True, capture_output=True)


@contextmanager
def _held(spaces: Sequence[str], script: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a process in namespaces of its own, which stay while it lives."""
    holder = subprocess.Popen([*spaces, "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stderr is not None
    try:
        if holder.stdout.readline() != b"ready\n":
            pytest.skip(f"no namespaces of their own here: {holder.stderr.read().decode().strip()}")
        yield holder
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        holder.stderr.close()
