import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains import archives
from assay.instances.toolchains.archives import fetch, write_tar
from assay.instances.toolchains.versions import PinnedArchive


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    path = tmp_path / "archive.zip"
    with ZipFile(path, "w") as file:
        file.writestr("META-INF/MANIFEST.MF", "1")
        file.writestr("org/linux/bin/run", b"\x7fELF program")
        file.writestr("org/linux/bin/script", "#!/bin/sh\n")
        file.writestr("org/linux/lib/data.py", "x = 1\n")
    return path


def pinned(content: bytes = b"", index: Any = "maven") -> PinnedArchive:
    return PinnedArchive(
        index=index, path="a/b.jar", sha256=sha256(content).hexdigest(), folder="org/linux", to="/usr/local"
    )


CLIENT = """#!/bin/sh
echo "$0 $*" > {said}
folder=$GOMODCACHE/cache/download/m.test/t/@v file=v1.zip
for word; do case $word in -DoutputDirectory=*) folder=${{word#*=}} file=c-1.0-linux.jar ;; esac; done
mkdir -p "$folder" && cp {archive} "$folder/$file"
"""


@pytest.mark.parametrize(
    ("index", "path", "asked"),
    [
        ("maven", "a/b/c/1.0/c-1.0-linux.jar", "mvn -q -B dependency:copy -Dartifact=a.b:c:1.0:jar:linux"),
        ("go", "m.test/t/@v/v1.zip", "go mod download m.test/t@v1"),
    ],
)
def test_archive_comes_by_the_languages_own_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, index: str, path: str, asked: str
):
    (tmp_path / "bytes").write_bytes(b"bytes")
    for program in ("mvn", "go"):
        file = tmp_path / "bin" / program
        file.parent.mkdir(exist_ok=True)
        file.write_text(CLIENT.format(said=tmp_path / "said", archive=tmp_path / "bytes"))
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    wanted = pinned(b"bytes", index).model_copy(update={"path": path})

    fetch(wanted, tmp_path / "archive")

    assert (tmp_path / "archive").read_bytes() == b"bytes"
    assert asked in (tmp_path / "said").read_text()
    with pytest.raises(EnvironmentFailure, match=f"has the SHA-256 {wanted.sha256}, not"):
        fetch(wanted.model_copy(update={"sha256": "0" * 64}), tmp_path / "other")


def test_machine_without_the_client_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EnvironmentFailure, match="no mvn on this machine"):
        fetch(pinned(b"").model_copy(update={"path": "a/b/c/1.0/c-1.0-linux.jar"}), tmp_path / "archive")


def test_only_the_folder_is_unpacked_with_its_programs_executable(zipped: Path, tmp_path: Path):
    write_tar(zipped, pinned(), "echo set up\n", tmp_path / "out.tar")

    with tarfile.open(tmp_path / "out.tar") as tar:
        modes = {member.name: oct(member.mode) for member in tar}
        script = tar.extractfile(archives.SCRIPT)
        assert script is not None
        assert script.read() == b"echo set up\n"
    assert modes == {
        "usr/local/bin/run": "0o755",
        "usr/local/bin/script": "0o755",
        "usr/local/lib/data.py": "0o644",
        archives.SCRIPT: "0o644",
    }
