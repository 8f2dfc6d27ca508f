import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains import archives
from assay.instances.toolchains.archives import fetch, index_url, write_tar
from assay.instances.toolchains.versions import PinnedArchive

SETTINGS = """<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors>{mirrors}</mirrors></settings>"""
MIRROR = "<mirror><id>m</id><mirrorOf>{of}</mirrorOf><url>{url}</url></mirror>"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home folder without settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GOPROXY", raising=False)
    return tmp_path


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    path = tmp_path / "archive.zip"
    with ZipFile(path, "w") as file:
        file.writestr("META-INF/MANIFEST.MF", "1")
        file.writestr("org/linux/bin/run", b"\x7fELF program")
        file.writestr("org/linux/bin/script", "#!/bin/sh\n")
        file.writestr("org/linux/lib/data.py", "x = 1\n")
    return path


def pinned(content: bytes = b"", index: str = "maven") -> PinnedArchive:
    return PinnedArchive(
        index=index, path="a/b.jar", sha256=sha256(content).hexdigest(), folder="org/linux", to="/usr/local"
    )


def write_settings(home: Path, *mirrors: str) -> None:
    (home / ".m2").mkdir()
    (home / ".m2/settings.xml").write_text(SETTINGS.format(mirrors="".join(mirrors)))


def test_maven_without_settings_is_the_central_repository():
    assert index_url("maven") == "https://index.invalid/maven2"


@pytest.mark.parametrize("of", ["*", "central", "external:*", "spring, central"])
def test_mirror_of_central_in_mavens_settings_is_used(home: Path, of: str):
    other = MIRROR.format(of="spring", url="https://spring.test")
    write_settings(home, other, MIRROR.format(of=of, url="https://mirror.test/maven/"))

    assert index_url("maven") == "https://mirror.test/maven"


@pytest.mark.parametrize("mirror", [MIRROR.format(of="*,!central", url="https://m.test"), "<mirror/>", "<mirror>"])
def test_settings_without_a_mirror_of_central_change_nothing(home: Path, mirror: str):
    write_settings(home, mirror)

    assert index_url("maven") == archives.MAVEN


@pytest.mark.parametrize(
    ("setting", "url"),
    [("", archives.GO), ("off", archives.GO), ("direct", archives.GO), ("https://go.test/,direct", "https://go.test")],
)
def test_go_index_is_the_first_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch, setting: str, url: str):
    monkeypatch.setenv("GOPROXY", setting)

    assert index_url("go") == url


def test_archive_with_other_bytes_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    asked = []

    @contextmanager
    def answer(url: str, _headers: object) -> Iterator[BytesIO]:
        asked.append(url)
        yield BytesIO(b"other bytes")

    monkeypatch.setattr(archives, "opened", answer)
    with pytest.raises(EnvironmentFailure, match=f"has the SHA-256 {sha256(b'other bytes').hexdigest()}, not"):
        fetch(pinned(b"bytes"), tmp_path / "archive")
    fetch(pinned(b"other bytes"), tmp_path / "archive")

    assert (tmp_path / "archive").read_bytes() == b"other bytes"
    assert asked == ["https://index.invalid/maven2/a/b.jar"] * 2


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
