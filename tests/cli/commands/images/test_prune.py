"""Which images ``assay images prune`` removes."""

from collections.abc import Callable
from pathlib import Path

import pytest

import stocked
from assay.harness.images.uses import Uses

ENGINE = ("--engine", "stocked:open_engine")
INSTANCES = {name for name in stocked.IMAGES if "instance" in name}
A, B1, B2 = "assay/instance-a__app:1", "assay/instance-b__lib:1", "assay/instance-b__lib:2"


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> stocked.FakeEngine:
    opened = stocked.engine_with(stocked.IMAGES)
    monkeypatch.setattr(stocked, "opened", opened)
    return opened


@pytest.fixture
def uses(in_folder: Path) -> Uses:
    return Uses(in_folder / "cache/uses")


def test_images_of_instances_go_and_the_others_stay(assay: Callable, engine: stocked.FakeEngine) -> None:
    done = assay("images", "prune", *ENGINE)

    assert done.code == 0, done.err
    assert set(engine.stock) == set(stocked.IMAGES) - INSTANCES
    assert done.out.startswith("removed 3 images: 78 MB freed, 140 MB left")
    assert done.err.count("removed assay/instance-") == 3


def test_kinds_can_be_named(assay: Callable, engine: stocked.FakeEngine) -> None:
    found = assay("images", "prune", "--kind", "environment", "--json", *ENGINE).json

    assert found == {"removed": ["assay/env-python:1"], "freed": 0, "left": 218_000_000}
    assert assay("images", "prune", "--all", *ENGINE).out == "removed 4 images: 218 MB freed, 0 MB left\n"
    assert engine.stock == {}
    assert assay("images", "prune", *ENGINE).out == "removed 0 images: 0 MB freed, 0 MB left\n"


def test_images_used_lately_stay(assay: Callable, engine: stocked.FakeEngine, uses: Uses) -> None:
    with uses.hold() as hold:
        hold.add(B1)

    assert set(assay("images", "prune", "--older", "30", "--json", *ENGINE).json["removed"]) == {A, B2}
    assert assay("images", "prune", "--older", "0", "--json", *ENGINE).json["removed"] == [B1]


def test_images_in_use_stay(assay: Callable, engine: stocked.FakeEngine, uses: Uses) -> None:
    with uses.hold() as hold:
        hold.add(B1, "assay/env-python:1")
        done = assay("images", "prune", "--all", *ENGINE)

    assert set(engine.stock) == {B1, "assay/env-python:1"}
    assert "removed 3 images, 2 in use stayed: 75 MB freed, 143 MB left" in done.out


def test_a_budget_removes_what_was_not_used_for_longest(
    assay: Callable, engine: stocked.FakeEngine, uses: Uses
) -> None:
    for name in (A, B2):
        with uses.hold() as hold:
            hold.add(name)

    found = assay("images", "prune", "--disk", "215MB", "--json", *ENGINE).json

    assert found == {"removed": [B1], "freed": 3_000_000, "left": 215_000_000}
    assert assay("images", "prune", "--disk", "1GB", "--json", *ENGINE).json["removed"] == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--kind", "pods"], "--kind must be one of toolchain, environment, tree, instance, published, grading, agent"),
        (["--disk", "40"], "'40' is no size; write a number with MB, GB or TB, such as 40GB"),
        (["--disk", "4GB", "--older", "3"], "--disk chooses by itself what goes; leave out --kind, --all and --older"),
        (["--older", "soon"], "--older takes a number of at least 0"),
    ],
)
def test_a_wrong_option_is_one_line(assay: Callable, engine: stocked.FakeEngine, args: list[str], message: str) -> None:
    assay("images", "prune", *args, *ENGINE).refuses(message)
    assert set(engine.stock) == set(stocked.IMAGES)
