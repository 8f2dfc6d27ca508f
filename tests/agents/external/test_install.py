import io
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assay.agents.contract import Host
from assay.agents.external.adapter import Adapter, Ecosystem, Install
from assay.agents.external.install import RUNTIME, _extract, build_mounts, tool_folder
from assay.harness.engines.base import BoxSpec
from assay.harness.errors import EnvironmentFailure
from toolchains import toolchain_image

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine
pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("install")]
SMALL = Install(
    ecosystem=Ecosystem.PYTHON,
    package="tabulate",
    version="0.9.0",
    script='echo made > "$ASSAY_TOOL/by-script"; ln -s by-script "$ASSAY_TOOL/link"',
)


def adapter(install: Install) -> Adapter:
    return Adapter(name="small", run="exit 0", install=install)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def notes() -> list[str]:
    return []


@pytest.fixture(scope="module")
def host(docker_engine: "DockerEngine", cache: Path, notes: list[str]) -> Host:
    return Host(docker_engine, cache, note=notes.append)


@pytest.fixture(scope="module")
def mounts(host: Host) -> dict[str, str]:
    return build_mounts(adapter(SMALL), host)


def test_second_run_installs_nothing(mounts: dict[str, str], host: Host, notes: list[str]) -> None:
    assert list(mounts.values()) == [RUNTIME, tool_folder("small")]
    first_notes = list(notes)
    assert first_notes[-2:] == ["installing runtime", "installing small: tabulate==0.9.0"]
    assert build_mounts(adapter(SMALL), host) == mounts
    assert notes == first_notes


@pytest.mark.toolchain("c", "")
def test_program_runs_in_an_image_without_python(mounts: dict[str, str], docker_engine: "DockerEngine") -> None:
    bare = toolchain_image(docker_engine, "c")
    script = """
    command -v python3 && exit 9
    printf 'a 1\\nb 2\\n' | /opt/agents/small/bin/tabulate --format plain || exit 1
    cat /opt/agents/small/link
    touch /opt/agents/small/mine 2> /dev/null && exit 8
    /opt/agents/runtime/bin/python3 -I -c 'import ctypes, lzma, sqlite3, ssl; print(ssl.OPENSSL_VERSION.split()[0])'
    """
    with docker_engine.open(BoxSpec(bare, mounts=mounts)) as box:
        env = {"PYTHONHOME": "/nowhere", "PYTHONPATH": "/nowhere", "LD_LIBRARY_PATH": ""}
        done = box.exec(["bash", "-c", script], env=env, user="nobody")
    assert done.output.decode().splitlines() == ["a  1", "b  2", "made", "OpenSSL"]
    assert done.exit_code == 0


def test_modules_of_the_tree_do_not_shadow_the_programs(
    mounts: dict[str, str], docker_engine: "DockerEngine", toolchain_image: str
) -> None:
    script = """
    mkdir /tmp/tree && cd /tmp/tree && echo 'raise SystemExit("wrong one")' > tabulate.py
    export PYTHONPATH=/tmp/tree
    printf 'a 1\\n' | /opt/agents/small/bin/tabulate --format plain
    """
    with docker_engine.open(BoxSpec(toolchain_image, mounts=mounts)) as box:
        done = box.exec(["bash", "-c", script])
    assert done.output.decode() == "a  1\n"


def test_failed_installation_raises_and_leaves_nothing(mounts: dict[str, str], host: Host, cache: Path) -> None:
    before = sorted((cache / "agents").iterdir())
    with pytest.raises(EnvironmentFailure, match=r"exit code 7: out of luck \(log: ") as error:
        build_mounts(adapter(SMALL.model_copy(update={"script": "echo out of luck; exit 7"})), host)
    assert "out of luck" in Path(error.value.log_path).read_text()
    assert sorted((cache / "agents").iterdir()) == before
    assert not list((cache / "scratch").iterdir())


def test_folder_of_the_host_is_mounted_without_installation(mounts: dict[str, str], host: Host, tmp_path: Path) -> None:
    found = build_mounts(adapter(Install(folder=tmp_path)), host)
    assert found[str(tmp_path)] == tool_folder("small")
    assert RUNTIME in found.values()


def test_program_without_installation_gets_the_runtime_for_the_bridge(mounts: dict[str, str], host: Host) -> None:
    assert list(build_mounts(adapter(Install()), host).values()) == [RUNTIME]


def packed(*members: tuple[str, str]) -> tarfile.TarFile:
    """A tar file with a link for each name with a target, and a file for each without."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, target in members:
            member = tarfile.TarInfo(name)
            member.mode = 0o6777
            if target:
                member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return tarfile.open(fileobj=io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("has_filters", [True, False])
def test_tool_is_unpacked_into_its_folder_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_filters: bool
) -> None:
    if not has_filters:  # as Debian 12's Python
        monkeypatch.delattr(tarfile, "tar_filter")
        monkeypatch.setattr(tarfile.TarFile, "extraction_filter", None, raising=False)
    folder = tmp_path / "folder"
    folder.mkdir()
    _extract(packed(("bin/tool", ""), ("bin/python", "/usr/bin/python3")), folder)
    assert (folder / "bin/tool").stat().st_mode & 0o7777 == 0o755
    assert (folder / "bin/python").is_symlink()
    for members in ([("../evil", "")], [("out", ".."), ("out/evil", "")], [("a/../../evil", "")]):
        with pytest.raises(tarfile.TarError):
            _extract(packed(*members), folder)
    assert not (tmp_path / "evil").exists()
