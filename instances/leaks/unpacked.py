"""The texts in a file of an image: its own, and those of an archive, a compressed file, a git object or a git pack."""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha1

from assay.harness.engines.layers import printable

LARGEST = 256 << 20  # bytes of one file that are looked at; what is behind them is not
OBJECT = re.compile(r"(?:^|/)([0-9a-f]{2})/([0-9a-f]{38})$")
"""The end of the path of a git object in a file of its own."""
PACK, BUNDLE, INDEX = b"PACK", b"# v", b"\xfftOc"
_COMPRESSED: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, ValueError)
_BROKEN_ZIP = (*_BROKEN, RuntimeError, NotImplementedError)
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_TO_OFFSET, _TO_OBJECT = 6, 7  # kinds of packed objects that are kept as a difference from another one


def members(path: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of what a file holds, one level down; nothing for a file that holds nothing but itself.

    A tar that is compressed counts as one level. What cannot be read ends the answer.
    """
    found = _inflate_file(path, data)
    if found is not None:
        inner, data = found
        if not _is_tar(data):
            yield inner, data
    if _is_tar(data):
        yield from _unpack_tar(data)
    elif data.startswith(b"PK\3\4"):
        yield from _unpack_zip(data)
    elif data.startswith((PACK, BUNDLE)) and PACK in data[: 1 << 16]:
        for number, (kind, content) in enumerate(read_pack(data[data.find(PACK) :])):
            yield f"{number}.{kind.decode()}", content


def loose_object(data: bytes) -> tuple[bytes, bytes] | None:
    """Return kind and content of a git object that is in a file of its own; None if it is none."""
    try:
        head, nul, content = zlib.decompress(data).partition(b"\0")
    except zlib.error:
        return None
    kind = head.partition(b" ")[0]
    return (kind, content) if nul and kind in _KINDS.values() else None


def object_id(kind: bytes, content: bytes) -> str:
    return sha1(b"%s %d\0%s" % (kind, len(content), content), usedforsecurity=False).hexdigest()


def read_pack(pack: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and content of the objects in a pack; of one that is kept as a difference, the kind is ``delta``.

    The difference holds the new lines as they are.
    """
    at = 12
    for _ in range(int.from_bytes(pack[8:12], "big")):
        try:
            kind, at = _read_kind(pack, at)
            content, at = _inflate_object(pack, at)
        except (IndexError, zlib.error):
            return
        yield kind, content


def _read_kind(pack: bytes, at: int) -> tuple[bytes, int]:
    """Read an object's head; return its kind and where its content begins."""
    number = pack[at] >> 4 & 7
    at = _after_number(pack, at)
    if number == _TO_OFFSET:
        at = _after_number(pack, at)
    elif number == _TO_OBJECT:
        at += 20
    return _KINDS.get(number, b"delta"), at


def _after_number(pack: bytes, at: int) -> int:
    while pack[at] & 0x80:
        at += 1
    return at + 1


def _inflate_object(pack: bytes, at: int) -> tuple[bytes, int]:
    """Return the data that is compressed at a place, and the place behind it."""
    unpacking, parts = zlib.decompressobj(), []
    while not unpacking.eof:
        piece = pack[at : at + 4096]
        if not piece:
            raise zlib.error("the pack is cut off")
        parts.append(unpacking.decompress(piece))
        at += len(piece)
    return b"".join(parts), at - len(unpacking.unused_data)


def read_index(index: bytes) -> tuple[str, ...]:
    second = index.startswith(INDEX)
    fanout = 8 if second else 0
    count = int.from_bytes(index[fanout + 255 * 4 : fanout + 256 * 4], "big")
    start, step, skip = (fanout + 1024, 20, 0) if second else (1024, 24, 4)
    rows = (index[start + n * step + skip : start + n * step + skip + 20] for n in range(count))
    return tuple(row.hex() for row in rows if len(row) == 20)


def _inflate_file(path: str, data: bytes) -> tuple[str, bytes] | None:
    if OBJECT.search(path) and (found := loose_object(data)):
        return found[0].decode(), found[1]
    for magic, decompress in _COMPRESSED.items():
        if data.startswith(magic):
            try:
                return "content", decompress(data)[:LARGEST]
            except _BROKEN:
                return None
    return None


def _is_tar(data: bytes) -> bool:
    return data[257:262] == b"ustar"


def _unpack_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                if content:
                    yield printable(member.name), content.read(LARGEST)
    except _BROKEN:
        return


def _unpack_zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for info in packed.infolist():
                if not info.is_dir() and info.file_size <= LARGEST:
                    yield printable(info.filename), packed.read(info)
    except _BROKEN_ZIP:
        return
