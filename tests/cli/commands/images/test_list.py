"""What ``assay images list`` shows of an engine's images."""

from collections.abc import Callable

ENGINE = ("--engine", "stocked:open_engine")


def test_each_image_is_shown_with_the_bytes_that_it_has_alone(assay: Callable) -> None:
    done = assay("images", "list", *ENGINE)

    assert done.code == 0, done.err
    assert [line.split() for line in done.out.splitlines()] == [
        ["image", "kind", "of", "unique", "MB", "shared", "MB"],
        ["assay/toolchain-python:3", "toolchain", "python", "0.0", "100"],
        ["assay/env-python:1", "environment", "python", "0.0", "140"],
        ["assay/instance-a__app:1", "instance", "a/app", "70", "100"],
        ["assay/instance-b__lib:1", "instance", "b/lib", "3.0", "140"],
        ["assay/instance-b__lib:2", "instance", "b/lib", "5.0", "140"],
        ["5", "images,", "218", "MB", "together"],
    ]


def test_images_are_summed_by_kind_or_repository(assay: Callable) -> None:
    assert [line.split() for line in assay("images", "list", "--by", "kind", *ENGINE).out.splitlines()[1:]] == [
        ["toolchain", "1", "0.0", "100"],
        ["environment", "1", "0.0", "140"],
        ["instance", "3", "78", "140"],
        ["5", "images,", "218", "MB", "together"],
    ]
    assert [line.split() for line in assay("images", "list", "--by", "repo", *ENGINE).out.splitlines()[1:]] == [
        ["python", "2", "0.0", "140"],
        ["a/app", "1", "70", "100"],
        ["b/lib", "2", "8.0", "140"],
        ["5", "images,", "218", "MB", "together"],
    ]


def test_bytes_are_whole_numbers_as_json(assay: Callable) -> None:
    found = assay("images", "list", "--json", *ENGINE).json

    assert found["size"] == 218_000_000
    assert found["kinds"]["instance"] == {"images": 3, "unique": 78_000_000}
    (image,) = [each for each in found["images"] if each["name"] == "assay/instance-b__lib:2"]
    assert {key: image[key] for key in ("kind", "of", "size", "unique", "shared")} == {
        "kind": "instance",
        "of": "b/lib",
        "size": 145_000_000,
        "unique": 5_000_000,
        "shared": 140_000_000,
    }


def test_an_engine_without_images_has_an_empty_list(assay: Callable) -> None:
    assert assay("images", "list").out.splitlines()[-1] == "0 images, 0.0 MB together"
