"""``assay images lock``, ``check`` and ``build --lock`` where nothing is built: files, options and exit codes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.instances.environments.images_lock import Layer, Lock, UsedImage, add_contents
from assay.instances.toolchains.images import Toolchain
from assay.jobs.lock import list_notes

STOCKED = ("--engine", "stocked:open_engine")
"""An engine with images that nothing can run in."""


@pytest.fixture
def lock(in_folder: Path) -> Callable[..., str]:
    """Write a lock of one of the stocked engine's images, whose digest may be another."""

    def write(digest: str, name: str = "assay/toolchain-python:3") -> str:
        layer = Layer(name=name, toolchain=Toolchain(name, name, suite="bookworm"))
        made = Lock(instances={"a": UsedImage(image=name)}, layers={name: layer})
        (in_folder / "images.lock").write_text(add_contents(made, {name: (digest, {})}).model_dump_json())
        return "images.lock"

    return write


def test_a_lock_names_the_image_of_each_instance(assay: Callable, rows: Path, in_folder: Path) -> None:
    done = assay("images", "lock", str(rows))

    assert done.code == 0, done.err
    assert done.out == "locked 3 instances, 0 images: images.lock\n"
    assert "3 images in the lock with nothing but the name" in done.err
    found = Lock.model_validate_json((in_folder / "images.lock").read_bytes())
    assert found.made
    assert found.instances["acme__calc-2"] == UsedImage(
        image="fake/acme__calc-2:1", digest="sha256:fake/acme__calc-2:1"
    )


def test_a_lock_of_some_instances_has_no_others(assay: Callable, rows: Path, in_folder: Path) -> None:
    done = assay("images", "lock", str(rows), "-i", "acme__calc-3", "-o", "one.lock", "--json")

    assert done.json["instances"] == 1
    assert list(json.loads((in_folder / "one.lock").read_text())["instances"]) == ["acme__calc-3"]


def test_a_missing_image_is_a_line_and_exit_status_4(assay: Callable, lock: Callable[..., str]) -> None:
    done = assay("images", "check", lock("sha256:1", "assay/toolchain-python:0"), *STOCKED)

    assert done.code == 4
    assert done.out == "assay/toolchain-python:0: is missing\n1 image: 1 missing\n"


def test_an_image_of_which_only_the_name_is_known_has_to_have_its_digest(
    assay: Callable, rows: Path, in_folder: Path
) -> None:
    assay("images", "lock", str(rows), "-i", "acme__calc-1")

    done = assay("images", "check", "images.lock", *STOCKED)

    assert done.code == 4
    assert done.out == "fake/acme__calc-1:1: is missing\n1 image: 1 missing\n"


def test_a_digest_counts_where_exactness_is_asked_for(assay: Callable, lock: Callable[..., str]) -> None:
    done = assay("images", "check", lock("sha256:other"), "--exact", "--json", *STOCKED)

    assert done.code == 4
    (image,) = done.json["images"]
    assert (image["image"], image["status"]) == ("assay/toolchain-python:3", "differs")
    assert any("its digest is" in line for line in image["differences"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("check", "none.lock"), "none.lock: cannot be read: No such file or directory"),
        (("check", "empty.lock"), "empty.lock: field instances: has no instance"),
        (("check", "images.lock", "-i", "b"), "the lock has no instance b"),
        (("build",), "name a data set, or a lock with --lock FILE; one of them"),
        (("build", "releases", "--lock", "images.lock"), "name a data set, or a lock with --lock FILE; one of them"),
        (("build", "--lock", "images.lock"), "engine fake builds no images"),
    ],
)
def test_wrong_input_is_one_line(
    assay: Callable, lock: Callable[..., str], in_folder: Path, arguments: tuple[str, ...], problem: str
) -> None:
    lock("sha256:1")
    (in_folder / "empty.lock").write_text("{}")
    assay("images", *arguments).refuses(problem)


def test_what_the_lock_lacks_or_is_not_of_the_date_is_said() -> None:
    made = Lock(layers={name: Layer(name=name, fetches=True) for name in ("assay/env:1", "assay/env:2")})
    note = {"locked/note": "the package index does not say when packages came out\n"}

    assert list(list_notes(add_contents(made, {"assay/env:2": ("sha256:2", note)}))) == [
        "assay/env:1: is not on the engine, so the lock has its build files but not what it holds",
        "assay/env:2: the package index does not say when packages came out",
    ]
