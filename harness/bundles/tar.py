"""A tar archive whose every byte is fixed by the names and contents of its members.

Headers are those of POSIX ustar, for regular files of mode 644, owned by root, as of 1970; a name longer than 100
characters is in a pax header before its member's. Reading accepts nothing else, so a changed byte that is in no content
is found too, and there are no links, no compression and no two ways to write one archive. ``tar xf`` unpacks it.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO
from urllib.parse import quote, unquote_to_bytes

from assay.harness.errors import DataError

BLOCK = 512
CHUNK = 1024 * 1024
LONGEST = 100  # characters of a name that a header holds itself
NAME_BYTES = 4096
MEMBER_BYTES = 8**11 - 1
HEADER = struct.Struct("100s8s8s8s12s12s8ss100s8s32s32s8s8s155s12x")
END = bytes(2 * BLOCK)
REGULAR, LONG_NAME = b"0", b"x"
KINDS = {b"1": "a hard link", b"2": "a symbolic link", b"3": "a device", b"4": "a device", b"5": "a folder"}
PLAIN = "/ !#$&'()*+,:;=?@[]^`{|}\"<>"
"""Punctuation that stays as it is in a member's name, besides ``_.-~``."""


class DamagedBundle(DataError):
    """A file is no bundle, or not as it was written; names the member."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, while the archive is read."""

    name: str
    size: int
    _file: IO[bytes]

    def chunks(self) -> Iterator[bytes]:
        """Yield pieces of at most 1 MiB; raises DamagedBundle if the archive ends before."""
        left = self.size
        while left:
            part = self._file.read(min(left, CHUNK))
            if not part:
                raise DamagedBundle("the archive ends inside it", file=self.name)
            left -= len(part)
            yield part

    def read(self, limit: int) -> bytes:
        """Return the content; raises DamagedBundle if it is larger than ``limit`` bytes."""
        if self.size > limit:
            raise DamagedBundle(f"has {self.size} bytes, more than it can have", file=self.name)
        return b"".join(self.chunks())


def member_name(path: str) -> str:
    """Return the name of a file in an archive: printable ASCII, equal names for equal paths only.

    A test may write report files under any name; bytes that could end a line or a field become ``%XX``.
    """
    return quote(path.encode(errors="surrogateescape"), safe=PLAIN)


def header(name: str, size: int) -> bytes:
    plain = name.encode("ascii")
    if len(plain) <= LONGEST:
        return _header(plain, size, REGULAR)
    record = _pax_record(plain)
    return _header(b"././@LongName", len(record), LONG_NAME) + record + _padding(len(record)) + _header(plain, size)


def write_member(file: IO[bytes], name: str, size: int, content: Iterator[bytes]) -> None:
    """Append a member; raises DataError if it is larger than a header can say, or not of the announced size."""
    if size > MEMBER_BYTES:
        raise DataError(f"has {size} bytes; a bundle holds files of at most 8 GiB", file=name)
    file.write(header(name, size))
    written = 0
    for part in content:
        file.write(part)
        written += len(part)
    if written != size:
        raise DataError("changed while it was packed; pack again when nothing writes there", file=name)
    file.write(_padding(size))


def read_members(file: IO[bytes]) -> Iterator[Member]:
    """Yield the members of an archive in their order, from its first byte to its last.

    A member's content can be read once, before the next member is taken. Raises DamagedBundle for any byte outside the
    contents that ``write_member`` would write otherwise.
    """
    before = ""
    while True:
        place = f"after {before}" if before else "at its beginning"
        block = _read(file, BLOCK, place)
        if block == bytes(BLOCK):
            _check_end(file, place)
            return
        member = _member(file, block, place)
        began = file.tell()
        yield member
        _skip_rest(file, member, began)
        before = member.name


def _member(file: IO[bytes], block: bytes, place: str) -> Member:
    raw, long_name = block, ""
    if block[156:157] == LONG_NAME:
        length = _size(block, place)
        if length > NAME_BYTES:
            raise DamagedBundle(f"the archive has a name of {length} bytes {place}")
        record = _read(file, length + len(_padding(length)), place)
        found = re.match(rb"\d+ path=([!-~][ -~]*)\n", record)
        if found is None:
            raise DamagedBundle(f"the archive has a header {place} that no bundle has")
        long_name = found[1].decode("ascii")
        block = _read(file, BLOCK, place)
        raw += record + block
    name = long_name or _name(block, place)
    kind = block[156:157]
    if kind in KINDS:
        raise DamagedBundle(f"is {KINDS[kind]}; a bundle holds regular files only", file=name)
    if set(name.split("/")) & {"", ".", ".."}:
        raise DamagedBundle("leads out of its folder, or names one twice", file=name)
    size = _size(block, f"for {name}")
    path = unquote_to_bytes(name).decode(errors="surrogateescape")
    if name != member_name(path) or raw != header(name, size):
        raise DamagedBundle("its header is not as it was written", file=name)
    return Member(name, size, file)


def _name(block: bytes, place: str) -> str:
    name = block[:LONGEST].rstrip(b"\0")
    if not re.fullmatch(rb"[!-~][ -~]*", name):
        raise DamagedBundle(f"is no bundle, or the header {place} is damaged")
    return name.decode("ascii")


def _size(block: bytes, place: str) -> int:
    digits = block[124:135]
    if not re.fullmatch(rb"[0-7]{11}", digits):
        raise DamagedBundle(f"is no bundle, or the header {place} is damaged")
    return int(digits, 8)


def _skip_rest(file: IO[bytes], member: Member, began: int) -> None:
    end = began + member.size
    if file.tell() != end:
        file.seek(end)
    padding = _padding(member.size)
    if _read(file, len(padding), f"inside {member.name}") != padding:
        raise DamagedBundle("bytes after its end are not zero", file=member.name)


def _check_end(file: IO[bytes], place: str) -> None:
    if _read(file, BLOCK, place) != bytes(BLOCK):
        raise DamagedBundle(f"the archive is damaged {place}: an empty header is not the last")
    if file.read(1):
        raise DamagedBundle("the archive has bytes after its end")


def _read(file: IO[bytes], count: int, place: str) -> bytes:
    found = file.read(count)
    if len(found) != count:
        raise DamagedBundle(f"the archive is cut off {place}")
    return found


def _header(name: bytes, size: int, kind: bytes = REGULAR) -> bytes:
    fields = (b"0000644\0", b"0000000\0", b"0000000\0", b"%011o\0" % size, b"00000000000\0")
    rest = (kind, b"", b"ustar\x0000", b"root", b"root", b"0000000\0", b"0000000\0", b"")
    unsigned = HEADER.pack(name[:LONGEST], *fields, b" " * 8, *rest)
    return HEADER.pack(name[:LONGEST], *fields, b"%06o\0 " % sum(unsigned), *rest)


def _pax_record(name: bytes) -> bytes:
    """Return the length of the record, which counts itself, then the name."""
    rest = b" path=" + name + b"\n"
    length = len(rest) + len(str(len(rest)))
    length = len(rest) + len(str(length))
    return str(length).encode() + rest


def _padding(size: int) -> bytes:
    return bytes(-size % BLOCK)
