"""Images of a real engine: their layers, and the way from one engine to another."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.harness.engines.docker import DockerEngine
from assay.harness.errors import EngineError, ImageMissing
from assay.harness.images.oci.reading import open_archive
from assay.harness.images.oci.writing import ArchiveWriter

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("moved-images")]
NAME, OTHER = (f"assay-test/moved__image:{number}-{os.getpid()}" for number in (1, 2))


@pytest.fixture
def images(docker_engine: DockerEngine, toolchain_image: str, tmp_path: Path) -> Iterator[DockerEngine]:
    for name, size in ((NAME, 1_000_000), (OTHER, 2_000_000)):
        text = f"FROM {toolchain_image}\nWORKDIR /made\nRUN head -c {size} /dev/urandom > /made/file\nENV A=b\n"
        (tmp_path / "Dockerfile").write_text(text)
        docker_engine.build(name, tmp_path, tmp_path / "log", secrets={}, labels={"assay.kind": "test"})
    yield docker_engine
    for name in (NAME, OTHER):
        docker_engine.remove_image(name)


def test_layers_have_the_bytes_that_were_written(images, toolchain_image):
    layers, others, below = (images.layers(name) for name in (NAME, OTHER, toolchain_image))

    assert layers[: len(below)] == others[: len(below)] == below
    assert sum(layer.size for layer in layers[len(below) :]) == 1_000_000
    assert sum(layer.size for layer in others[len(below) :]) == 2_000_000
    assert layers[-1].id != others[-1].id
    assert images.layers("assay-test/nothing:1") == ()


def test_an_archive_brings_removed_images_back(images, tmp_path):
    before = {name: images.find_image(name) for name in (NAME, OTHER)}
    with ArchiveWriter(tmp_path / "a.tar") as writer:
        with images.save([NAME, OTHER]) as saved:
            writer.add(saved)
        writer.finish([NAME, OTHER], b"", {})
    for name in (NAME, OTHER):
        images.remove_image(name)

    with open_archive(tmp_path / "a.tar") as archive:
        archive.check()
        images.load(archive.stream_images(archive.contents.images))

    assert {name: images.find_image(name) for name in (NAME, OTHER)} == before


def test_what_is_not_there_can_be_neither_saved_nor_named(images):
    with pytest.raises(ImageMissing), images.save(["assay-test/nothing:1"]):
        pass
    with pytest.raises(ImageMissing):
        images.tag("assay-test/nothing:1", "assay-test/other:1")


def test_an_archive_that_is_none_is_refused(images):
    with pytest.raises(EngineError, match="engine"):
        images.load([b"no archive at all"])


def test_a_registry_that_is_not_there_takes_nothing(images):
    images.tag(NAME, "127.0.0.1:1/moved:1")
    try:
        with pytest.raises(EngineError, match=r"127\.0\.0\.1:1"):
            images.push("127.0.0.1:1/moved:1")
    finally:
        images.remove_image("127.0.0.1:1/moved:1")
