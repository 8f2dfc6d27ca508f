"""Names of images that were worked out once, on this machine or another."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.harness.domain import ImageSpec, Instance, Recipe
from assay.harness.engines.fake import FakeEngine
from assay.harness.engines.tars import pack_tar
from assay.harness.files import replace_file
from assay.harness.images.registry import ImageRegistry
from assay.instances.environments.images_lock import keep_layer
from assay.instances.environments.known_images import (
    KnownImages,
    fetch_known,
    make_known_key,
    read_layer_files,
    read_tar_files,
    send_known,
)
from saved_images import Saved, saved_by_new_engine, saved_by_old_engine

NAME = "assay/instance-acme__calc:0123456789abcdef"
SPEC = ImageSpec(name=NAME, dockerfile="FROM assay/env:1\n", parent="assay/env:1")
BELOW = ImageSpec(name="assay/env:1", dockerfile="FROM scratch\n")
RECIPE = Recipe(language="python")


@pytest.fixture
def known(tmp_path: Path) -> KnownImages:
    for spec in (SPEC, BELOW):
        keep_layer(spec, tmp_path / "cache")
    return KnownImages(tmp_path / "cache")


def test_a_name_is_found_as_long_as_it_is_known_what_it_is_made_of(known):
    assert known.find("key") == ""
    known.keep("key", NAME)
    assert known.find("key") == NAME
    assert [layer.name for layer in known.read_layers(NAME)] == [NAME, "assay/env:1"]

    known.keep("other", "assay/instance-acme__calc:unheard")
    assert known.find("other") == ""


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null"])
def test_a_torn_file_is_no_name(known, text):
    replace_file(known.cache / "known/key.json", text.encode())

    assert known.find("key") == ""


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"base_commit": "1" * 40}, True),
        ({"repo": "acme/other"}, True),
        ({"created_at": datetime(2020, 1, 1, tzinfo=UTC)}, True),
        ({"version": "2.0"}, True),
        ({"gold_patch": "diff --git a/setup.py b/setup.py\n"}, True),
        ({"language": "rust"}, True),
        ({"id": "other"}, False),
        ({"problem_statement": "x"}, False),
        ({"fail_to_pass": ("tests/test_calc.py::test_other",)}, False),
    ],
)
def test_a_key_depends_on_all_that_an_image_is_made_from_and_on_no_label(instance: Instance, change, counts: bool):
    same = make_known_key(instance.model_copy(update=change), RECIPE, {}) == make_known_key(instance, RECIPE, {})
    assert same is not counts


def test_a_key_depends_on_recipe_and_toolchain(instance: Instance):
    keys = {
        make_known_key(instance, RECIPE, {}),
        make_known_key(instance, RECIPE.model_copy(update={"packages": ("pytest<8",)}), {}),
        make_known_key(instance, RECIPE, {"python": {"3.11": "mine:1"}}),
    }

    assert len(keys) == 3
    assert make_known_key(instance, RECIPE, {"rust": {"1.85": "mine:1"}}) in keys


def test_files_of_an_instance_are_enough_for_another_cache(known, instance: Instance, tmp_path):
    known.keep("key", NAME)
    other = KnownImages(tmp_path / "other")

    other.adopt(known.read_files("key", instance, RECIPE))

    assert other.find("key") == NAME
    assert other.read_layers(NAME) == known.read_layers(NAME)


@pytest.mark.parametrize(
    "path", ["locks/a.txt", "../known/a.json", "known/../../a", "known/a/b.json", "/known/a.json", "trees/a.tar", "a"]
)
def test_nothing_is_taken_but_what_travels(known, path):
    before = {file for file in known.cache.parent.rglob("*") if file.is_file()}

    known.adopt({path: b"{}"})

    assert {file for file in known.cache.parent.rglob("*") if file.is_file()} == before


def test_what_a_cache_has_is_not_replaced(known):
    known.keep("key", NAME)

    known.adopt({"known/key.json": json.dumps({"image": "assay/instance:evil"}).encode()})

    assert known.find("key") == NAME


@pytest.mark.parametrize("saved_by", [saved_by_old_engine, saved_by_new_engine])
def test_files_come_out_of_an_image_as_they_went_in(saved_by):
    files = {"known/key.json": b'{"image": "x"}', "targets/a.json": b"[]"}

    saved = b"".join(saved_by([Saved("assay/known:key", (pack_tar(files),))]))

    assert read_layer_files(saved) == files


def test_files_travel_through_a_registry(tmp_path, monkeypatch):
    engine = FakeEngine({})
    sent: list[dict[str, bytes]] = []
    keep = engine.import_image

    def note(name: str, tar: Path, labels: dict[str, str]) -> None:
        sent.append(read_tar_files(tar.read_bytes()))
        keep(name, tar, labels)

    monkeypatch.setattr(engine, "import_image", note)
    registry = ImageRegistry(engine, tmp_path, "host:5000/team")

    send_known(registry, "key", {"known/key.json": b"{}"})

    assert sent == [{"known/key.json": b"{}"}]
    assert list(engine.registry) == ["host:5000/team/assay/known:key"]
    assert engine.stock == {}
    assert fetch_known(registry, "other") == {}
