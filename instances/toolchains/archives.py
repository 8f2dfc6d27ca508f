"""Archives of package indexes that hold a language's own programs, such as CPython in Maven Central."""

import calendar
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile, ZipInfo, is_zipfile

from assay.harness.errors import EnvironmentFailure
from assay.harness.program_output import cut_line, find_cause
from assay.instances.toolchains.versions import PinnedArchive

SCRIPT = "assay-toolchain.sh"  # name of the set-up script in the root of the new system
SECONDS = 1800.0
PROGRAM_STARTS = (b"\x7fELF", b"#!")
"""First bytes of a file that is made executable; the archives do not say which files are programs."""


def fetch(archive: PinnedArchive, to: Path) -> None:
    """Download an archive by its language's own client, which knows where its index is; raises EnvironmentFailure."""
    with tempfile.TemporaryDirectory(dir=to.parent) as scratch:
        found = _download(archive, Path(scratch))
        digest = sha256(found.read_bytes()).hexdigest()
        if digest != archive.sha256:
            raise EnvironmentFailure(f"{archive.path} has the SHA-256 {digest}, not {archive.sha256}")
        shutil.move(found, to)


def _download(archive: PinnedArchive, scratch: Path) -> Path:
    folders, _, file = archive.path.rpartition("/")
    if archive.index == "go":
        module = f"{folders.removesuffix('/@v')}@{file.removesuffix('.zip')}"
        _run(["go", "mod", "download", module], scratch, {"GOMODCACHE": str(scratch), "GOFLAGS": "-modcacherw"})
        return scratch / "cache/download" / archive.path
    if archive.index == "npm":
        release = f"{folders.removesuffix('/-')}@{file.removesuffix('.tgz').rpartition('-')[2]}"
        _run(["npm", "pack", "--silent", "--ignore-scripts", release], scratch, {})
        return scratch / file
    *group, name, version = folders.split("/")
    classifier = file.removesuffix(".jar").removeprefix(f"{name}-{version}").removeprefix("-")
    artifact = f"{'.'.join(group)}:{name}:{version}:jar:{classifier}".removesuffix(":")
    _run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={scratch}"], scratch, {})
    return scratch / file


def _run(command: list[str], folder: Path, env: Mapping[str, str]) -> None:
    if shutil.which(command[0]) is None:
        problem = f"there is no {command[0]} on this machine to fetch a toolchain with; install it, or name an image"
        raise EnvironmentFailure(f"{problem} in assay.toml: [toolchains.LANGUAGE]")
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        said = f"{done.stdout}\n{done.stderr}".strip()
        cause = find_cause(said) or cut_line(said)
        raise EnvironmentFailure(f"{' '.join(command[:3])} failed: {cause}", tail=said, cause=cause)


def write_tar(packed: Path, archive: PinnedArchive, script: str, tar: Path) -> None:
    """Write a folder of an archive, and the script that sets it up, as a tar for the root of a new system."""
    folder, home = f"{archive.folder}/", archive.to.strip("/")
    with tarfile.open(tar, "w") as target:
        for name, content, time in _read_files(packed):
            if name.startswith(folder):
                _add(target, f"{home}/{name.removeprefix(folder)}", content, time)
        _add(target, SCRIPT, script.encode(), calendar.timegm(ZipInfo(SCRIPT).date_time))


def _read_files(packed: Path) -> Iterator[tuple[str, bytes, int]]:
    """Yield path, content and time of the files of a zip archive or a compressed tar."""
    if is_zipfile(packed):
        with ZipFile(packed) as source:
            for entry in source.infolist():
                if not entry.is_dir():
                    yield entry.filename, source.read(entry), calendar.timegm(entry.date_time)
        return
    with tarfile.open(packed) as tar:
        for member in tar:
            if (file := tar.extractfile(member)) is not None:
                yield member.name, file.read(), int(member.mtime)


def _add(tar: tarfile.TarFile, path: str, content: bytes, time: int) -> None:
    info = tarfile.TarInfo(path)
    info.size = len(content)
    info.mode = 0o755 if content.startswith(PROGRAM_STARTS) else 0o644
    info.mtime = time
    tar.addfile(info, io.BytesIO(content))
