from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine, open_engine
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains import bootstrap as bootstrapping
from assay.instances.toolchains import images
from assay.instances.toolchains.bootstrap import bootstrap
from assay.instances.toolchains.images import find_toolchain
from assay.instances.toolchains.versions import PinnedArchive
from toolchains import toolchain_image as made

RECORDER = """#!/bin/sh
printf '%s\\n' "$@" >> {said}
for argument; do case $argument in */root.tar) : > "$argument" ;; esac; done
"""


@pytest.fixture
def engine() -> FakeEngine:
    return open_engine()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file in which an acted mmdebstrap writes its arguments."""
    said = tmp_path / "said"
    program = tmp_path / "bin/mmdebstrap"
    program.parent.mkdir()
    program.write_text(RECORDER.format(said=said))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return said


def test_debian_comes_from_the_usual_place(engine: FakeEngine, said: Path, tmp_path: Path):
    bootstrap(find_toolchain(Recipe(toolchain="3.11"), {}, engine), engine, tmp_path, tmp_path / "log")

    lines = said.read_text().splitlines()
    assert lines[-2:] == ["bookworm", str(tmp_path / "root.tar")]
    assert not [line for line in lines if "keyring" in line]


def test_a_bootstrap_without_mmdebstrap_names_the_remedy(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EnvironmentFailure, match="apt-get install mmdebstrap") as caught:
        bootstrap(find_toolchain(Recipe(), {}, engine), engine, tmp_path, tmp_path / "log")

    assert "\n" not in str(caught.value)


def test_a_failed_bootstrap_carries_its_log(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "mmdebstrap"
    program.write_text("#!/bin/sh\necho E: no such suite: $5 $6\nexit 25\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    wanted = replace(find_toolchain(Recipe(), {}, engine), suite="bookwurm")

    with pytest.raises(EnvironmentFailure, match="exit code 25") as caught:
        bootstrap(wanted, engine, tmp_path, tmp_path / "log")

    assert caught.value.log_path == str(tmp_path / "log")
    assert "no such suite" in caught.value.tail


def test_archive_is_unpacked_and_set_up_in_the_new_system(
    engine: FakeEngine, said: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    def write_zip(_archive: PinnedArchive, to: Path) -> None:
        with ZipFile(to, "w") as file:
            file.writestr("org/bytedeco/cpython/linux-x86_64/bin/python3", "")

    monkeypatch.setattr(bootstrapping, "fetch", write_zip)
    monkeypatch.setattr(images.platform, "machine", lambda: "x86_64")
    bootstrap(find_toolchain(Recipe(toolchain="3.14"), {}, engine), engine, tmp_path, tmp_path / "log")

    hooks = [line for line in said.read_text().splitlines() if line.startswith("--customize-hook")]
    assert hooks == [
        f"--customize-hook=tar-in {tmp_path}/archive.tar /",
        '--customize-hook=chroot "$1" sh -e /assay-toolchain.sh',
        '--customize-hook=rm "$1/assay-toolchain.sh"',
    ]


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.toolchain("python", "3.9.6")
@pytest.mark.exhaustive  # an archive as well as the older one below
def test_python_of_an_archive_is_whole_and_compiles(docker_engine: DockerEngine):
    modules = "sqlite3, ssl, ctypes, bz2, lzma, zlib, readline, curses"
    trust = "assert ssl.create_default_context().cert_store_stats()['x509_ca'] > 50"
    script = f"""set -e; cd /tmp; python3 --version; python3 -c "import {modules}; {trust}"
        python3 -m venv made; made/bin/pip --version
        echo '#include <Python.h>' > a.c; echo 'int main(void) {{ return PY_MINOR_VERSION != 9; }}' >> a.c
        gcc a.c $(python3-config --includes) -o a; ./a"""

    with docker_engine.open(BoxSpec(made(docker_engine, version="3.9.6"))) as box:
        done = box.exec(["sh", "-c", script])

    assert done.exit_code == 0, done.output
    assert done.output.startswith(b"Python 3.9.6")


ROUND_TRIPS = """\
import bz2, io
for data in (b"", b"x", bytes(range(256)) * 1000):
    packed = bz2.compress(data)
    assert bz2.decompress(packed) == data and bz2.decompress(packed + packed) == data + data
    file, found = bz2.BZ2File(io.BytesIO(packed)), []
    while True:
        found.append(file.read(777))
        if not found[-1]:
            break
    assert b"".join(found) == data
    rest = bz2.BZ2Decompressor()
    assert rest.decompress(packed + b"tail") == data and rest.eof and rest.unused_data == b"tail"
try:
    bz2.decompress(b"nonsense")
except OSError:
    print("refused")
"""


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.toolchain("python", "3.7")
def test_an_old_python_compresses_with_a_module_that_its_build_lacks(docker_engine: DockerEngine):
    modules = "ssl, ctypes, zlib, distutils.core, ensurepip"

    with docker_engine.open(BoxSpec(made(docker_engine, version="3.7"))) as box:
        done = box.exec(["sh", "-c", f"python3 --version && python3 -c 'import {modules}' && command -v gcc git patch"])
        compressed = box.exec(["python3", "-c", ROUND_TRIPS])

    assert done.exit_code == 0, done.output
    assert done.output.startswith(b"Python 3.7.")
    assert (compressed.exit_code, compressed.output) == (0, b"refused\n")


@pytest.mark.docker
def test_a_bootstrapped_image_has_the_programs_of_every_environment(docker_engine: DockerEngine, toolchain_image: str):
    with docker_engine.open(BoxSpec(toolchain_image)) as box:
        done = box.exec(
            ["sh", "-c", "python3 --version && python3 -m venv -h >/dev/null && command -v git patch ps tar"]
        )

    assert done.exit_code == 0
    assert done.output.startswith(b"Python 3.11.")


def test_packages_of_a_lock_are_taken_in_their_versions(engine: FakeEngine, said: Path, tmp_path: Path):
    wanted = find_toolchain(Recipe(toolchain="3.11"), {}, engine)
    bootstrap(wanted, engine, tmp_path, tmp_path / "log")
    assert "preferences" not in said.read_text()

    bootstrap(replace(wanted, versions=("git 1:2.39.5-0+deb12u2",)), engine, tmp_path, tmp_path / "log")

    (pins,) = [line for line in said.read_text().splitlines() if "copy-in" in line]
    file = pins.split()[1]
    assert Path(file).read_text() == "Package: git\nPin: version 1:2.39.5-0+deb12u2\nPin-Priority: 1001\n\n"
    assert f'--customize-hook=rm "$1/etc/apt/preferences.d/{Path(file).name}"' in said.read_text()
