"""A second container engine on this machine, without any way out, and a registry that both engines reach.

The engine is in a network namespace of its own, on its own data folder; a bridge leads from there to this machine and
nowhere else. Its processes end with the context.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

SECONDS = 90
PROGRAMS = ("dockerd", "ip", "nsenter", "unshare", "iptables")
START = (
    "mount -t tmpfs none /run/docker && exec dockerd -H unix://{folder}/docker.sock --tls=false"
    " --data-root {folder}/data --exec-root {folder}/exec --pidfile {folder}/pid --bip 172.31.0.1/24{trusted}"
)


@dataclass(frozen=True)
class SecondEngine:
    """An engine, and the way into its network."""

    socket: str
    namespace: str
    host: str
    """Address of this machine as the engine sees it."""

    def run(self, command: Sequence[str], cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command for this engine and in its network, where nothing but this machine answers."""
        words = ["nsenter", f"--net=/run/netns/{self.namespace}", "env", f"DOCKER_HOST=unix://{self.socket}", *command]
        env = {**os.environ, **variables}
        return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600)


@contextmanager
def second_engine(folder: Path, registry_port: int = 0) -> Iterator[SecondEngine]:
    """Start an empty engine; skip the test where this machine cannot.

    Args:
        folder: empty, with a short path; takes the engine's data.
        registry_port: of a registry on this machine that the engine takes for trusted.
    """
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if os.geteuid() or lacking:
        pytest.skip(f"a second engine needs root{''.join(f', {name}' for name in lacking)}")
    number = os.getpid() % 200 + 20
    name, host = f"assay{os.getpid()}", f"10.213.{number}.1"
    with ExitStack() as undo:
        _network(undo, name, f"10.213.{number}")
        trusted = f" --insecure-registry {host}:{registry_port}" if registry_port else ""
        log = undo.enter_context((folder / "log").open("wb"))
        shell = START.format(folder=folder, trusted=trusted)
        Path("/run/docker").mkdir(exist_ok=True)
        engine = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{name}", "unshare", "-m", "sh", "-c", shell], stdout=log, stderr=log
        )
        undo.callback(_end, engine)
        _await_engine(engine, folder)
        yield SecondEngine(f"{folder}/docker.sock", name, host)


@contextmanager
def registry(folder: Path, address: str) -> Iterator[None]:
    """Serve a folder as a registry; several may serve the same one."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("there is no docker-registry (apt-get install docker-registry)")
    settings = folder / f"{address.replace(':', '-')}.yml"
    settings.write_text(
        "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
        f"storage: {{filesystem: {{rootdirectory: {folder}/data}}}}\nhttp: {{addr: '{address}'}}\n"
    )
    with (folder / "log").open("ab") as log:
        server = subprocess.Popen([program, "serve", str(settings)], stdout=log, stderr=log)
        try:
            yield
        finally:
            _end(server)


def _network(undo: ExitStack, name: str, net: str) -> None:
    """Make a namespace with one link, to this machine."""
    bridge, inside = f"{name}b", f"{name}v"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def undone(*words: str) -> None:
        with suppress(subprocess.CalledProcessError):
            ip(*words)

    try:
        ip("netns", "add", name)
        undo.callback(undone, "netns", "del", name)
        ip("link", "add", bridge, "type", "bridge")
        undo.callback(undone, "link", "del", bridge)
        ip("addr", "add", f"{net}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        ip("link", "add", inside, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", inside, "master", bridge, "up")
        ip("-n", name, "addr", "add", f"{net}.2/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "link", "set", "lo", "up")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a second engine needs network namespaces: {error.stderr.decode().strip()}")


def _await_engine(engine: "subprocess.Popen[bytes]", folder: Path) -> None:
    latest = time.monotonic() + SECONDS
    while time.monotonic() < latest and engine.poll() is None:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.connect(f"{folder}/docker.sock")
            client.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
            if b" 200 " in client.recv(100):
                return
        time.sleep(0.2)
    tail = (folder / "log").read_text(errors="replace").splitlines()[-1:]
    pytest.skip(f"no second engine starts on this machine: {' '.join(tail)}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
