"""Tar archives that go into boxes and come out of them."""

import io
import tarfile
from collections.abc import Mapping

HOSTS = (
    "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n"
    "ff00::0\tip6-mcastprefix\nff02::1\tip6-allnodes\nff02::2\tip6-allrouters\n"
)
LOOKUP_FILES = {"etc/hosts": HOSTS, "etc/resolv.conf": "nameserver 127.0.0.1\n"}
"""Written into a container without network, as the engine's networking would."""


def add_lookup_files(archive: bytes, files: Mapping[str, str] = LOOKUP_FILES) -> bytes:
    """Add to an archive, which may be empty, the files by which programs look up names: localhost and no other."""
    packed = io.BytesIO(archive)
    with tarfile.open(fileobj=packed, mode="a" if archive else "w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def extract_files(archive: bytes, max_bytes: int) -> dict[str, bytes]:
    """Return the regular files of an archive, relative to its first entry, until ``max_bytes`` are passed."""
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            max_bytes -= member.size
            if member.isreg() and max_bytes >= 0:
                content = tar.extractfile(member)
                files[member.name.partition("/")[2] or member.name] = content.read() if content else b""
    return files
