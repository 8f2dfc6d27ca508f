"""The bytes that images have alone and share."""

import pytest

from assay.harness.engines.base import ImageInfo, ImageLayer
from assay.harness.engines.docker_images import chain_layers, layer_sizes
from assay.harness.engines.fake import FakeEngine, FakeImage
from assay.harness.images.stock import StockTaker, count_bytes
from stocked import engine_with


@pytest.fixture
def engine() -> FakeEngine:
    os = {"os": 100}
    return engine_with(
        {
            "b1": ("instance", "b/lib", {**os, "env": 40, "b1": 3}),
            "b2": ("instance", "b/lib", {**os, "env": 40, "b2": 5}),
            "a1": ("instance", "a/app", {**os, "a1": 7}),
            "t": ("toolchain", "", os),
            "e": ("environment", "", {**os, "env": 40}),
        }
    )


def test_unique_bytes_are_those_that_a_removal_frees(engine):
    stock = StockTaker(engine).take()

    unique = {image.info.name: stock.unique([image]) for image in stock.images}
    assert unique == {"t": 0, "e": 0, "a1": 7, "b1": 3, "b2": 5}
    assert stock.size == 100 + 40 + 3 + 5 + 7
    assert stock.size - stock.without("b2").size == 5


def test_several_images_free_what_they_share_among_themselves(engine):
    stock = StockTaker(engine).take()
    mine = [image for image in stock.images if image.info.name in {"e", "b1", "b2"}]

    assert stock.unique(mine) == 40 + 3 + 5
    assert count_bytes(mine) == 100 + 40 + 3 + 5


def test_a_stock_is_sorted_from_the_lowest_kind_and_by_repository(engine):
    assert [image.info.name for image in StockTaker(engine).take().images] == ["t", "e", "a1", "b1", "b2"]


def test_two_names_of_one_image_free_nothing_alone(engine):
    engine.stock["a2"] = engine.stock["a1"]
    engine.tag("a1", "a2")

    stock = StockTaker(engine).take()

    assert [stock.unique([image]) for image in stock.images if image.info.name.startswith("a")] == [0, 0]


def test_layers_are_asked_for_once(engine):
    taker = StockTaker(engine)
    taker.take()
    asked: list[str] = []
    engine.layers = lambda name: asked.append(name) or (ImageLayer("new", 1),)
    engine.tag("a1", "new")
    engine.stock["other"] = FakeImage(ImageInfo("other", "sha256:other"))

    assert taker.take().size == 156
    assert asked == ["other"]


def step(size: int, made_by: str) -> dict[str, object]:
    return {"Size": size, "CreatedBy": made_by}


HISTORY = [
    step(0, "ENV A=b"),
    step(7, "RUN /bin/sh -c make # buildkit"),
    step(0, "RUN /bin/sh -c true # buildkit"),
    step(0, "WORKDIR /testbed"),
    step(0, "/bin/sh -c #(nop)  USER assay"),
    step(90, "Imported from -"),
]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (2, [90, 7]),
        (3, [90, 0, 7]),  # a command that changed nothing made a layer all the same
        (4, [90, 0, 0, 7]),  # as did the folder that WORKDIR made
        (8, [0, 0, 90, 0, 0, 0, 7, 0]),
        (0, []),
    ],
)
def test_layers_without_bytes_are_found_in_the_history(count, sizes):
    assert layer_sizes(HISTORY, count) == sizes


def test_a_layer_is_another_one_on_another_layer():
    (base, upper), (other, above) = chain_layers(["a", "c"], [1, 2]), chain_layers(["b", "c"], [1, 2])

    assert base.id != other.id
    assert upper.id != above.id
    assert (base, upper) == chain_layers(["a", "c"], [1, 2])
