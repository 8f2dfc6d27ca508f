"""Archives of images: every layer once, every byte checked, and a file that continues where it stopped."""

import gzip
import io
import json
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from assay.harness.errors import EngineError
from assay.harness.images.oci.reading import Damaged, open_archive
from assay.harness.images.oci.writing import ArchiveWriter
from saved_images import Saved, layer, saved_by_new_engine, saved_by_old_engine

BASE, TREE, OTHER = layer(os="debian"), layer(tree="a" * 5000), layer(tree="b")
FLASK = Saved("assay/instance-pallets__flask:1", (BASE, TREE))
JINJA = Saved("assay/instance-pallets__jinja:2", (BASE, OTHER))
TWICE = Saved("assay/twice:3", (BASE, OTHER, BASE))
ENGINES = pytest.mark.parametrize("saved_by", [saved_by_old_engine, saved_by_new_engine])


def written(file: Path, saved: list[bytes], *names: str) -> Path:
    with ArchiveWriter(file) as writer:
        writer.add(saved)
        writer.finish(names, b"cache", {})
    return file


@ENGINES
def test_an_archive_holds_each_layer_once_and_each_image_whole(tmp_path, saved_by):
    images = (FLASK, JINJA, TWICE)

    file = written(tmp_path / "a.tar", saved_by(images), *(image.name for image in images))

    with open_archive(file) as reader:
        reader.check()
        assert [(each.name, each.digest) for each in reader.contents.images] == [(i.name, i.digest) for i in images]
        for archived, image in zip(reader.contents.images, images, strict=True):
            assert [gzip.decompress(reader.read(blob)) for blob in archived.layers] == list(image.layers)
            assert reader.read(archived.config) == image.config
        assert reader.contents.cache is not None
        assert reader.read(reader.contents.cache) == b"cache"
    with tarfile.open(file) as tar:
        assert max(Counter(tar.getnames()).values()) == 1


def test_an_archive_is_a_layout_that_other_tools_read(tmp_path):
    file = written(tmp_path / "a.tar", saved_by_old_engine([FLASK]), FLASK.name)

    with tarfile.open(file) as tar:

        def document(path: str) -> dict:
            content = tar.extractfile(path)
            assert content is not None
            return json.load(content)

        assert document("oci-layout") == {"imageLayoutVersion": "1.0.0"}
        (entry,) = document("index.json")["manifests"]
        # OCI's grammar of names has no two underscores in a row.
        assert entry["annotations"]["org.opencontainers.image.ref.name"] == "assay/instance-pallets--flask:1"
        assert entry["annotations"]["io.containerd.image.name"] == "docker.io/assay/instance-pallets__flask:1"
        manifest = document(f"blobs/sha256/{entry['digest'].removeprefix('sha256:')}")
        assert manifest["config"]["digest"] == FLASK.digest
        (loaded,) = document("manifest.json")
        assert loaded["RepoTags"] == [FLASK.name]
        assert all(
            f"sha256:{path[13:]}" == each["digest"]
            for path, each in zip(loaded["Layers"], manifest["layers"], strict=True)
        )


def test_equal_images_make_equal_archives(tmp_path):
    files = [written(tmp_path / name, saved_by_old_engine([FLASK, JINJA]), FLASK.name, JINJA.name) for name in "ab"]

    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_writer_resumes_after_what_was_added_whole(tmp_path):
    with ArchiveWriter(tmp_path / "a.tar") as first:
        first.add(saved_by_old_engine([FLASK]))
        with pytest.raises(EngineError, match="archive of images is broken"):
            first.add(saved_by_old_engine([JINJA])[:4])
    assert not (tmp_path / "a.tar").exists()

    with ArchiveWriter(tmp_path / "a.tar") as second:
        assert second.images == {FLASK.name: FLASK.digest}
        second.add(saved_by_old_engine([JINJA]))
        second.finish([FLASK.name, JINJA.name], b"cache", {})

    assert [file.name for file in tmp_path.iterdir()] == ["a.tar"]
    whole = written(tmp_path / "b.tar", saved_by_old_engine([FLASK, JINJA]), FLASK.name, JINJA.name)
    with open_archive(tmp_path / "a.tar") as resumed, open_archive(whole) as at_once:
        resumed.check()
        assert resumed.contents == at_once.contents


def test_layers_that_the_image_does_not_name_are_refused(tmp_path):
    """An engine whose disk lies must not end in an archive whose digests agree."""
    saved = b"".join(saved_by_old_engine([FLASK])).replace(b"a" * 5000, b"a" * 4999 + b"b")

    with ArchiveWriter(tmp_path / "a.tar") as writer, pytest.raises(EngineError, match="other layers of assay/"):
        writer.add([saved])


@pytest.fixture
def archive(tmp_path) -> Path:
    return written(tmp_path / "a.tar", saved_by_old_engine([FLASK, JINJA]), FLASK.name, JINJA.name)


def test_no_byte_of_a_blob_can_change(archive):
    whole = archive.read_bytes()
    with tarfile.open(archive) as tar:
        blobs = [member for member in tar if member.name.startswith("blobs/")]
    for blob in blobs:
        place = blob.offset_data + blob.size // 2
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(Damaged, match=r"a\.tar: .*; copy or export it again"):
            check(archive)
    archive.write_bytes(whole)
    check(archive)


@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.9])
def test_an_archive_that_was_cut_off_is_refused(archive, part):
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * part)])

    with pytest.raises(Damaged, match=r"a\.tar: "):
        check(archive)


def test_a_missing_blob_is_named(archive):
    whole = archive.read_bytes()
    with open_archive(archive) as reader:
        path = reader.contents.images[0].layers[1].path
    archive.write_bytes(whole.replace(path.encode(), f"{path[:-4]}0000".encode(), 1))

    with pytest.raises(Damaged):
        check(archive)


def test_what_is_no_archive_is_refused(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"instance_id": "a"}\n')

    with pytest.raises(Damaged, match="is no archive of images"):
        check(file)


def check(file: Path) -> None:
    with open_archive(file) as reader:
        reader.check()
        if reader.contents.cache:
            reader.read(reader.contents.cache)


def test_an_engine_is_given_the_images_that_it_lacks_and_no_others(archive):
    with open_archive(archive) as reader:
        given = io.BytesIO(b"".join(reader.stream_images(reader.contents.images[1:])))

    with tarfile.open(fileobj=given) as tar:
        found = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    (listed,) = json.loads(found.pop("manifest.json"))
    assert listed["RepoTags"] == [JINJA.name]
    assert found[listed["Config"]] == JINJA.config
    assert [gzip.decompress(found[path]) for path in listed["Layers"]] == list(JINJA.layers)
    assert len(found) == 4  # with the manifest
