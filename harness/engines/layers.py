"""The layers of an image, read without unpacking: from the archive that an engine saves, or where it stores them."""

import io
import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Protocol

WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"
"""Prefix of the name of an entry that removes another one, and the name of one that empties its folder."""
_LAYER = re.compile(r"(?:blobs/sha256/)?([0-9a-f]{64})(?:/layer\.tar|\.tar|)")
_GZIP, _TAR_MAGIC, _MAGIC_AT = b"\x1f\x8b", b"ustar", 257


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class LayerFile:
    """One entry of a layer; a removed one has the name of what it removes."""

    path: str
    """Relative to the root, without a leading slash."""
    size: int = 0
    link: str | None = None
    """Target of a symbolic link."""
    same_as: str = ""
    """The entry that a hard link names."""
    removed: bool = False
    """Whether the entry removes what a lower layer has at this path."""
    emptied: bool = False
    """Whether it removes what lower layers have below this path."""
    open: Callable[[], IO[bytes]] | None = None
    """Opens a regular file; to be called before the next entry is taken."""


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """All of an image that is not in its layers."""

    layers: tuple[str, ...] = ()
    """Digests of the uncompressed layers (``sha256:...``), the lowest first."""
    env: tuple[str, ...] = ()
    labels: Mapping[str, str] | None = None
    history: tuple[str, ...] = ()
    """The instructions that made it, the oldest first."""
    workdir: str = "/"


@dataclass(slots=True)
class OpenLayer:
    """One layer, to be read once and in order."""

    key: str
    """Names the layer on this engine: its digest, or the name that an archive has for it."""
    files: Iterator[LayerFile]
    digest: str = ""
    """Known at the latest when ``files`` has ended."""


class Layered(Protocol):
    """What an engine can do whose images can be read layer by layer."""

    def image_config(self, name: str) -> ImageConfig:
        """Read an image's configuration; raises ImageMissing."""
        ...

    def read_layers(self, name: str, wants: Callable[[str], bool]) -> Iterator[OpenLayer]:
        """Yield the layers with a wanted key, in any order; each is read before the next is taken."""
        ...


def read_archive(chunks: Iterable[bytes], wants: Callable[[str], bool]) -> Iterator[OpenLayer]:
    """Yield the wanted layers of a saved image, Docker's or OCI's; a key need not be a digest."""
    with tarfile.open(fileobj=ChunkStream(chunks), mode="r|") as outer:
        for member in outer:
            named = _LAYER.fullmatch(member.name.removeprefix("./"))
            if not member.isreg() or not named or not wants(named[1]):
                continue
            content = outer.extractfile(member)
            assert content is not None
            counted = _Counted(content)
            if counted.is_tar():
                layer = OpenLayer(named[1], iter(()))
                layer.files = _read_entries(counted, layer)
                yield layer
                for _ in layer.files:
                    pass


def _read_entries(content: "_Counted", layer: OpenLayer) -> Iterator[LayerFile]:
    with tarfile.open(fileobj=content, mode="r|") as tar:
        for member in tar:
            yield _entry(tar, member)
    content.drain()
    layer.digest = content.digest


def _entry(tar: tarfile.TarFile, member: tarfile.TarInfo) -> LayerFile:
    path = printable(member.name.removeprefix("./").strip("/"))
    folder, _, name = path.rpartition("/")
    if name == OPAQUE:
        return LayerFile(folder, emptied=True)
    if name.startswith(WHITEOUT):
        return LayerFile(f"{folder}/{name.removeprefix(WHITEOUT)}".strip("/"), removed=True)
    if member.issym():
        return LayerFile(path, link=member.linkname)
    if member.islnk():
        return LayerFile(path, same_as=printable(member.linkname.removeprefix("./").strip("/")))
    if member.isreg():

        def open_file() -> IO[bytes]:
            file = tar.extractfile(member)
            assert file is not None
            return file

        return LayerFile(path, size=member.size, open=open_file)
    return LayerFile(path)


def read_folders(digests: Sequence[str], folders: Sequence[str], wants: Callable[[str], bool]) -> Iterator[OpenLayer]:
    """Yield the wanted layers (lowest first) from overlay2's folders (highest first), which only root can read."""
    for digest, folder in zip(digests, reversed(folders), strict=True):
        if wants(digest):
            yield OpenLayer(digest, _read_folder(Path(folder)), digest)


def find_layer_folders(driver: Mapping[str, Any]) -> list[str]:
    """Find the folders in which an engine on this machine stores the layers of an image, the highest first.

    Empty if they cannot be read here: another user's, another machine's, or of another storage driver.
    """
    data = driver.get("Data") or {}
    if driver.get("Name") != "overlay2" or not data.get("UpperDir"):
        return []
    folders = [data["UpperDir"], *filter(None, (data.get("LowerDir") or "").split(":"))]
    return folders if all(os.access(folder, os.R_OK | os.X_OK) for folder in folders) else []


def _read_folder(root: Path) -> Iterator[LayerFile]:
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = [name for name in folders if not (here / name).is_symlink()]
        if _is_opaque(here):
            yield LayerFile(_below(here, root), emptied=True)
        for name in sorted({*names, *(each.name for each in os.scandir(here) if each.is_symlink())}):
            yield _read_file(here / name, root)


def _read_file(file: Path, root: Path) -> LayerFile:
    path, found = _below(file, root), file.lstat()
    if stat.S_ISCHR(found.st_mode) and found.st_rdev == 0:
        return LayerFile(path, removed=True)
    if stat.S_ISLNK(found.st_mode):
        return LayerFile(path, link=str(file.readlink()))
    if not stat.S_ISREG(found.st_mode):
        return LayerFile(path)
    return LayerFile(path, size=found.st_size, open=lambda: os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb"))


def _below(path: Path, root: Path) -> str:
    below = path.relative_to(root)
    return printable(str(below)) if below.parts else ""


def printable(name: str) -> str:
    """Replace bytes of a name that are not UTF-8."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _is_opaque(folder: Path) -> bool:
    for name in ("trusted.overlay.opaque", "user.overlay.opaque"):
        with suppress(OSError):
            if os.getxattr(folder, name) == b"y":
                return True
    return False


class ChunkStream(io.RawIOBase):
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        taken = self._rest[: len(buffer)]
        self._rest = self._rest[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


class _Counted(io.RawIOBase):
    """A layer of an archive, compressed or not, that is hashed while it is read."""

    def __init__(self, stored: IO[bytes]) -> None:
        import gzip

        self._head = stored.read(_MAGIC_AT + len(_TAR_MAGIC))
        whole = ChunkStream(read_chunks(self._head, stored))
        self._from: IO[bytes] | io.IOBase = whole
        if self._head.startswith(_GZIP):
            self._from = gzip.GzipFile(fileobj=whole)
        self._hash = sha256()

    def is_tar(self) -> bool:
        """Return whether this may be a layer; other blobs are the image's configuration and manifests."""
        return self._head.startswith(_GZIP) or self._head[_MAGIC_AT:] == _TAR_MAGIC or not any(self._head)

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._from.read(size) or b""
        self._hash.update(data)
        return data

    def drain(self) -> None:
        while self.read(1 << 20):
            pass

    @property
    def digest(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"


def read_chunks(head: bytes, rest: Readable, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield a file whose first bytes have been read already, in chunks of one size."""
    yield head + rest.read(size - len(head))
    while chunk := rest.read(size):
        yield chunk
