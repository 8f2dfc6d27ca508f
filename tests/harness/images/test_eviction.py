import pytest

from assay.harness.errors import UserError
from assay.harness.images.eviction import format_size, parse_size, select_evictions
from assay.harness.images.stock import StockTaker
from stocked import engine_with

OS = {"os": 100}
STOCK = {
    "toolchain": ("toolchain", "", OS),
    "rust": ("toolchain", "", {"rust": 900}),
    "env": ("environment", "", {**OS, "env": 40}),
    "quarter": ("tree", "a/a", {**OS, "env": 40, "quarter": 20}),
    "a": ("instance", "a/a", {**OS, "env": 40, "quarter": 20, "a": 1}),
    "b": ("instance", "a/a", {**OS, "env": 40, "quarter": 20, "b": 2}),
    "c": ("instance", "a/a", {**OS, "env": 40, "quarter": 20, "c": 3}),
}
USED = {"a": 30, "b": 10, "c": 20, "rust": 25}


def evicted(limit: int, *held: str) -> list[str]:
    stock = StockTaker(engine_with(STOCK)).take()
    return [each.info.name for each in select_evictions(stock, limit, held, lambda each: USED.get(each.info.name, 0))]


ALL = 100 + 900 + 40 + 20 + 1 + 2 + 3


@pytest.mark.parametrize(
    ("limit", "gone"),
    [
        (ALL, []),
        (ALL - 1, ["b"]),
        (ALL - 2, ["b"]),
        (ALL - 3, ["b", "c"]),
        (ALL - 6, ["b", "c", "rust"]),
        (ALL - 906, ["b", "c", "rust", "a"]),
        # What the last instance stands on was used when it was; from the top, so that each frees something.
        (ALL - 907, ["b", "c", "rust", "a", "quarter"]),
        (ALL - 927, ["b", "c", "rust", "a", "quarter", "env"]),
        (99, ["b", "c", "rust", "a", "quarter", "env", "toolchain"]),
    ],
)
def test_those_not_used_for_longest_go_first(limit, gone):
    assert evicted(limit) == gone


def test_what_is_held_stays_with_all_below_it_and_not_what_stands_on_it():
    assert evicted(0, "b") == ["c", "rust", "a"]
    assert evicted(0, "env", "toolchain") == ["b", "c", "rust", "a", "quarter"]


def test_unused_large_images_go_before_small_ones_in_use():
    old = {"x": ("environment", "", {"x": 500}), "y": ("instance", "y/y", {"x": 500, "y": 1})}
    stock = StockTaker(engine_with({**STOCK, **old})).take()
    gone = select_evictions(stock, ALL, (), lambda each: {**USED, "y": 5}.get(each.info.name, 0))
    assert [each.info.name for each in gone] == ["y", "x"]


def test_images_of_other_kinds_go_with_the_instances():
    engine = engine_with({**STOCK, "odd": ("lookalike", "a/a", {"odd": 5})})

    gone = select_evictions(StockTaker(engine).take(), ALL, (), lambda image: USED.get(image.info.name, 15))

    assert [each.info.name for each in gone] == ["b", "odd"]


@pytest.mark.parametrize(
    ("text", "size"), [("40GB", 40 * 10**9), ("1.5 gb", 1_500_000_000), ("500MB", 5 * 10**8), ("2TB", 2 * 10**12)]
)
def test_a_size_is_a_number_with_a_unit(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "40", "GB", "-1GB", "0GB", "0.0 MB", "4KB", "1,5GB", "40GB now"])
def test_anything_else_is_no_size(text):
    with pytest.raises(UserError, match="is no size; write a number with MB, GB or TB"):
        parse_size(text)


def test_bytes_are_shown_in_units():
    sizes = (0, 5_000_000, 1_000_000_000, 41_260_000_000)
    assert [format_size(size) for size in sizes] == ["0 MB", "5 MB", "1.0 GB", "41.3 GB"]
