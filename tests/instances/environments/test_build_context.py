"""What an image is built from, as files of its context."""

import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from assay.harness.domain import ImageSpec, ReleaseDownload, TreeDownload
from assay.harness.errors import EnvironmentFailure
from assay.instances.environments.build_context import name_caches, write_context
from assay.instances.environments.image_specs import DOWNLOADS
from assay.instances.trees.sources import Sources
from toys import Index, Repository

WHEEL = "toy-1.0-py3-none-any.whl"


@pytest.fixture
def wheel(index: Index) -> ReleaseDownload:
    """A wheel in the index, wanted below ``deep``."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("toy/draw.so", "a program")
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    index.links["toy"] = [f'<a href="../../files/{WHEEL}#sha256={digest}">{WHEEL}</a>']
    index.add("toy", "1.0", {"a.py": ""})
    (index.folder / "files" / WHEEL).write_bytes(packed.getvalue())
    return ReleaseDownload(name="toy", version="1.0", sha256=digest, path="deep/draw.so")


def written(download: ReleaseDownload, folder: Path) -> bytes:
    spec = ImageSpec(name="toy:1", dockerfile="FROM scratch\n", files={DOWNLOADS: f"{download.model_dump_json()}\n"})
    write_context(spec, Sources([], folder / "cache"), folder / "context")
    return (folder / "context/downloads/deep/draw.so").read_bytes()


def test_download_of_a_release_is_its_file_or_one_in_it(wheel: ReleaseDownload, tmp_path: Path) -> None:
    assert zipfile.is_zipfile(io.BytesIO(written(wheel, tmp_path / "whole")))
    member = wheel.model_copy(update={"member": "toy/draw.so"})
    assert written(member, tmp_path / "member") == b"a program"


def test_member_that_a_wheel_lacks_is_an_environment_failure(wheel: ReleaseDownload, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match=r"toy 1\.0: no wheel with a file toy/none\.so"):
        written(wheel.model_copy(update={"member": "toy/none.so"}), tmp_path)


def test_tree_of_another_repository_is_a_tar(repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "a.h").write_text("#define A 1\n")
    wanted = TreeDownload(path="deep/a.tar", repo="acme/a", commit=repository.commit())
    (tmp_path / "acme__a").symlink_to(repository.folder / ".git")
    spec = ImageSpec(name="toy:1", dockerfile="FROM scratch\n", files={DOWNLOADS: f"{wanted.model_dump_json()}\n"})
    write_context(spec, Sources([tmp_path], tmp_path / "cache"), tmp_path / "context")
    with tarfile.open(tmp_path / "context/downloads/deep/a.tar") as tar:
        assert "a.h" in tar.getnames()


@pytest.fixture
def library(tmp_path: Path) -> TreeDownload:
    """A library in a folder of mirrors."""
    repository = Repository(tmp_path / "mirrors/acme__stone")
    (repository.folder / "lib").mkdir(parents=True)
    repository.git("init", "--quiet")
    (repository.folder / "lib/stone.rb").write_text("STONE = 1\n")
    return TreeDownload(path="libraries/stone", repo="acme/stone", commit=repository.commit())


def test_download_of_a_tree_is_a_folder(library: TreeDownload, tmp_path: Path) -> None:
    spec = ImageSpec(name="toy:1", dockerfile="FROM scratch\n", files={DOWNLOADS: f"{library.model_dump_json()}\n"})
    write_context(spec, Sources([tmp_path / "mirrors"], tmp_path / "cache"), tmp_path / "context")
    folder = tmp_path / "context/downloads/libraries/stone"
    assert [path.name for path in folder.iterdir()] == ["lib"]
    assert (folder / "lib/stone.rb").read_text() == "STONE = 1\n"


def test_tree_that_leads_out_of_its_folder_is_refused(library: TreeDownload, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "mirrors/acme__stone")
    (repository.folder / "out").symlink_to("/etc/passwd")
    bad = library.model_copy(update={"commit": repository.commit()})
    spec = ImageSpec(name="toy:1", dockerfile="FROM scratch\n", files={DOWNLOADS: f"{bad.model_dump_json()}\n"})
    with pytest.raises(EnvironmentFailure, match="acme/stone leads out of its folder"):
        write_context(spec, Sources([tmp_path / "mirrors"], tmp_path / "cache"), tmp_path / "context")


STEP = "FROM a\nRUN --mount=type=bind,target=/build --mount=type=cache,target=/root/.cache/uv sh /build/x.sh\n"


def test_package_caches_are_shared_by_name_and_with_nobody_else() -> None:
    ids = {owner: re.findall(r"id=(\S+)", name_caches(STEP, owner)) for owner in ("acme/a", "acme/b", "acme/a")}
    assert all(len(found) == 1 and found[0].endswith("/root/.cache/uv") for found in ids.values())
    assert ids["acme/a"] != ids["acme/b"]
    assert name_caches(STEP, "acme/a").count("--mount=type=bind,target=/build ") == 1


@pytest.mark.parametrize(
    "mount", ["id=x,type=cache,target=/c", "type=cache,ID=x,target=/c", "target=/c,type=CACHE,id=x"]
)
def test_name_that_a_dockerfile_gives_its_cache_does_not_count(mount: str) -> None:
    named = name_caches(f"FROM a\nRUN --mount={mount} y\n", "acme/a")
    assert not re.search(r"id=x\b", named, re.IGNORECASE)
    assert re.search(r",id=[0-9a-f]{16}/c y$", named, re.MULTILINE)


@pytest.mark.parametrize("mount", ['"type=cache,id=x,target=/c"', "type=$KIND,id=x,target=/c", "type=ca\\\nche,id=x"])
def test_mount_that_a_builder_may_read_otherwise_is_refused(mount: str) -> None:
    with pytest.raises(EnvironmentFailure, match="without quotes or variables"):
        name_caches(f"FROM a\nRUN --mount={mount} y\n", "acme/a")


def test_context_has_the_caches_of_its_owner_or_of_its_image(tmp_path: Path) -> None:
    sources = Sources([], tmp_path / "cache")
    for name, caches in (("a:1", "acme/a"), ("b:1", "acme/a"), ("c:1", ""), ("d:1", "")):
        spec = ImageSpec(name=name, dockerfile=STEP, caches=caches)
        write_context(spec, sources, tmp_path / name)
    a, b, c, d = ((tmp_path / name / "Dockerfile").read_text() for name in ("a:1", "b:1", "c:1", "d:1"))
    assert a == b
    assert len({a, c, d}) == 3
