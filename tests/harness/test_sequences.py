from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.harness.sequences import Lazy, keep_items, map_items


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_item_is_made_whenever_it_is_asked_for() -> None:
    made: list[int] = []
    squares = map_items(range(5), lambda number: made.append(number) or number**2)
    assert made == []
    assert (squares[2], squares[-1], squares[2]) == (4, 16, 4)
    assert made == [2, 4, 2]
    assert list(squares) == [0, 1, 4, 9, 16] == squares[:]
    assert squares[1:4:2] == [1, 9]
    assert (len(squares), bool(squares), bool(Lazy(0, str))) == (5, True, False)


@pytest.mark.parametrize("place", [5, -6])
def test_a_place_outside_is_an_error(place: int) -> None:
    with pytest.raises(IndexError):
        map_items(range(5), str)[place]


def test_few_items_stay_in_memory(cache: Path) -> None:
    assert keep_items(iter("abc"), 3) == ("a", "b", "c")
    assert keep_items([]) == ()
    assert not cache.exists()


def test_many_items_are_in_a_file_without_a_name(cache: Path) -> None:
    items = [{"text": "é\udcff" * number} for number in range(20)]
    found = keep_items(iter(items), 3)
    assert not isinstance(found, tuple)
    assert (len(found), list(found), found[7:9]) == (20, items, items[7:9])
    assert list(cache.iterdir()) == []


def test_several_threads_read_at_once() -> None:
    found = keep_items((str(number) * 100 for number in range(200)), 1)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(found.__getitem__, range(200))) == [str(number) * 100 for number in range(200)]
