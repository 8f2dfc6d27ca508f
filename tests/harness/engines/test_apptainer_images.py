"""Images of the engine without Docker: taken from archives, shared by content, removed with what only they need."""

from pathlib import Path

import pytest

from assay.harness.engines.apptainer_images import ApptainerImages
from assay.harness.engines.apptainer_program import ApptainerProgram
from assay.harness.errors import EngineError, ImageMissing
from saved_images import Saved, layer, saved_by_new_engine, saved_by_old_engine

BASE, TOP = layer(one="1"), layer(two="2")
LOWER, UPPER, TWICE = Saved("acme/lower:1", (BASE,)), Saved("acme/upper:1", (BASE, TOP)), Saved("twice:1", (TOP, TOP))


@pytest.fixture
def images(tmp_path: Path) -> ApptainerImages:
    return ApptainerImages(ApptainerProgram("/nonexistent/apptainer"), tmp_path / "store")


@pytest.mark.parametrize("save", [saved_by_old_engine, saved_by_new_engine])
def test_images_of_an_archive_are_found_under_their_digests(images: ApptainerImages, save) -> None:
    images.load(save([LOWER, UPPER, TWICE]))

    found = [images.find_image(each.name) for each in (LOWER, UPPER, TWICE)]
    assert [each and each.digest for each in found] == [each.digest for each in (LOWER, UPPER, TWICE)]
    below, above = images.layers(LOWER.name), images.layers(UPPER.name)
    assert above[0] == below[0]
    assert len(above) == 2
    assert images.layers("none:1") == ()


def test_removed_image_takes_along_what_no_other_needs(images: ApptainerImages, tmp_path: Path) -> None:
    images.load(saved_by_new_engine([LOWER, UPPER]))
    assert len(list((tmp_path / "store/blobs").iterdir())) == 4

    images.remove_image(UPPER.name)
    images.remove_image("none:1")

    assert images.find_image(UPPER.name) is None
    assert images.find_image(LOWER.name) is not None
    assert len(list((tmp_path / "store/blobs").iterdir())) == 2


def test_tag_is_another_name_of_the_same_content(images: ApptainerImages) -> None:
    images.load(saved_by_new_engine([LOWER]))
    images.tag(LOWER.name, "other:1")
    images.remove_image(LOWER.name)
    other = images.find_image("other:1")
    assert other
    assert other.digest == LOWER.digest
    with pytest.raises(ImageMissing):
        images.tag(LOWER.name, "third:1")


def test_missing_image_names_the_remedy(images: ApptainerImages) -> None:
    with pytest.raises(ImageMissing, match=r"has no image none:1.*assay images export.*assay images import FILE"):
        images.record("none:1")


@pytest.mark.parametrize("cut", [0, 700, 5000])
def test_archive_that_was_cut_off_is_one_error_and_adds_nothing(images: ApptainerImages, cut: int) -> None:
    whole = b"".join(saved_by_new_engine([LOWER]))
    with pytest.raises(EngineError, match="no archive of images"):
        images.load([whole[:cut]])
    assert images.find_image(LOWER.name) is None


def test_nothing_is_built_pulled_pushed_or_saved(images: ApptainerImages, tmp_path: Path) -> None:
    for call in (
        lambda: images.build("a:1", tmp_path, tmp_path / "log", secrets={}, labels={}),
        lambda: images.import_image("a:1", tmp_path, {}),
        lambda: images.pull("a:1"),
        lambda: images.push("a:1"),
        lambda: images.remote_digest("a:1"),
        lambda: images.save(["a:1"]),
    ):
        with pytest.raises(EngineError, match=r"a:1.*assay images import FILE --engine apptainer"):
            call()


def test_program_that_fails_leaves_no_half_made_image(tmp_path: Path) -> None:
    broken = tmp_path / "apptainer"
    broken.write_text("#!/bin/sh\necho FATAL: no space left >&2; exit 255\n")
    broken.chmod(0o755)
    images = ApptainerImages(ApptainerProgram(str(broken)), tmp_path / "store")
    images.load(saved_by_new_engine([LOWER]))
    with pytest.raises(EngineError, match=r"apptainer build failed \(255\): FATAL: no space left"):
        images.runnable(images.record(LOWER.name))
    assert not list((tmp_path / "store").rglob("*.sif"))
