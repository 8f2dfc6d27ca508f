from hashlib import sha256
from pathlib import Path

import pytest

from assay.harness.domain import Asset
from assay.harness.errors import EnvironmentFailure
from assay.instances.trees.assets import Assets, fetch
from assay.instances.trees.sources import Sources
from toys import Repository

PICTURE = b"\x89PNG\r\n\x00"


def test_a_file_url_is_read_once_and_kept(tmp_path: Path, sources: Sources) -> None:
    (tmp_path / "a b.png").write_bytes(PICTURE)
    asset = Asset(path="test/a.png", url=(tmp_path / "a b.png").as_uri(), sha256=sha256(PICTURE).hexdigest())
    assert Assets((asset,), sources)() == {"test/a.png": PICTURE}
    (tmp_path / "a b.png").unlink()
    assert fetch(asset, sources) == PICTURE


@pytest.mark.parametrize("raw", ["", "raw/"])
def test_a_url_of_a_repository_file_is_read_from_its_mirror(repository: Repository, tmp_path: Path, raw: str) -> None:
    (repository.folder / "test").mkdir()
    (repository.folder / "test" / "b.png").write_bytes(PICTURE)
    commit = repository.commit()
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(tmp_path / "mirrors" / "owner__name"))
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    url = f"http://localhost:1/Owner/Name/{raw}{commit}/test/b.png"
    assert fetch(Asset(path="x/b.png", url=url), sources) == PICTURE


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://localhost:1/a.png", "cannot be fetched"),
        ("file:///nowhere/a.png", "cannot be fetched"),
        ("ftp://localhost/a.png", "cannot be fetched"),
        ("just words", "cannot be fetched"),
    ],
)
def test_a_file_that_cannot_be_fetched_names_path_and_url(sources: Sources, url: str, problem: str) -> None:
    with pytest.raises(EnvironmentFailure, match=problem) as caught:
        fetch(Asset(path="test/a.png", url=url), sources)
    assert "test/a.png" in str(caught.value)
    assert url in str(caught.value)


def test_a_file_with_another_hash_is_refused_and_not_kept(tmp_path: Path, sources: Sources) -> None:
    (tmp_path / "a.png").write_bytes(b"other")
    asset = Asset(path="a.png", url=(tmp_path / "a.png").as_uri(), sha256="0" * 64)
    with pytest.raises(EnvironmentFailure, match=r"has sha256 .*, not 000"):
        fetch(asset, sources)
    assert not list(sources.cache.rglob("assets/*"))


def test_a_file_that_has_changed_with_its_hash_is_fetched_again(tmp_path: Path, sources: Sources) -> None:
    for content in (b"one", b"two"):
        (tmp_path / "a.png").write_bytes(content)
        asset = Asset(path="a.png", url=(tmp_path / "a.png").as_uri(), sha256=sha256(content).hexdigest())
        assert fetch(asset, sources) == content
