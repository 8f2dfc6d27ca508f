"""Archives of package indexes that hold a language's own programs, such as CPython in Maven Central."""

import calendar
import io
import os
import tarfile
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile, ZipInfo

from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.downloads import opened
from assay.instances.toolchains.versions import PinnedArchive

MAVEN = "https://index.invalid/maven2"
GO = "https://index.invalid"
SCRIPT = "assay-toolchain.sh"
"""Name of the set-up script in the root of the new system."""
CHUNK = 1 << 20
PROGRAM_STARTS = (b"\x7fELF", b"#!")
"""First bytes of a file that is made executable; the archives do not say which files are programs."""


def fetch(archive: PinnedArchive, to: Path) -> None:
    """Download an archive to a file.

    Raises:
        EnvironmentFailure: the index does not answer, or has other bytes.
    """
    url = f"{index_url(archive.index)}/{archive.path}"
    digest = sha256()
    with opened(url, {}) as answer, to.open("wb") as file:
        while chunk := answer.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
    if digest.hexdigest() != archive.sha256:
        raise EnvironmentFailure(f"{url} has the SHA-256 {digest.hexdigest()}, not {archive.sha256}")


def index_url(index: str) -> str:
    """Return the URL of an index (``maven`` or ``go``) that this machine's clients are set to use."""
    if index == "go":
        proxies = os.environ.get("GOPROXY", "").replace("|", ",").split(",")
        return next((each.strip().rstrip("/") for each in proxies if each.strip().startswith("http")), GO)
    return _maven_mirror(Path.home() / ".m2" / "settings.xml") or MAVEN


def _maven_mirror(settings: Path) -> str:
    """Return the mirror of Maven's central repository in a settings file; empty if it names none."""
    try:
        root = ElementTree.parse(settings).getroot()
    except (OSError, ElementTree.ParseError):
        return ""
    for mirror in root.iterfind("{*}mirrors/{*}mirror"):
        repositories = (mirror.findtext("{*}mirrorOf") or "").replace(" ", "").split(",")
        if {"*", "central", "external:*"} & {*repositories} and "!central" not in repositories:
            return (mirror.findtext("{*}url") or "").strip().rstrip("/")
    return ""


def write_tar(zipped: Path, archive: PinnedArchive, script: str, tar: Path) -> None:
    """Write an archive as a tar to unpack in the root of a new system, with the script that sets it up.

    Args:
        zipped: the archive.
        archive: says which folder of it goes where.
        script: text of the script.
        tar: the file to write.
    """
    folder = f"{archive.folder}/"
    with ZipFile(zipped) as source, tarfile.open(tar, "w") as target:
        for entry in source.infolist():
            if entry.filename.startswith(folder) and not entry.is_dir():
                path = f"{archive.to.strip('/')}/{entry.filename.removeprefix(folder)}"
                with source.open(entry) as content:
                    _add(target, path, content.read(), entry)
        _add(target, SCRIPT, script.encode(), ZipInfo(SCRIPT))


def _add(tar: tarfile.TarFile, path: str, content: bytes, entry: ZipInfo) -> None:
    info = tarfile.TarInfo(path)
    info.size = len(content)
    info.mode = 0o755 if content.startswith(PROGRAM_STARTS) else 0o644
    info.mtime = calendar.timegm(entry.date_time)
    tar.addfile(info, io.BytesIO(content))
