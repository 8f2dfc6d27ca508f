"""Long sequences that are on the disk."""

import os
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar, overload

from assay.harness.files import default_cache

Item = TypeVar("Item")
Source = TypeVar("Source")
Result = TypeVar("Result")

IN_MEMORY = 2500
"""Items of a sequence that are kept in memory; a longer one is on the disk. SWE-bench has 2,294 instances."""


class Lazy(Sequence[Item]):
    """A sequence whose items are made when they are asked for, every time anew."""

    def __init__(self, length: int, item: Callable[[int], Item]) -> None:
        """Take the number of items, and what makes the one at a place; it is called in any thread."""
        self._length, self._item = length, item

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...

    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        if isinstance(place, slice):
            return [self._item(each) for each in range(*place.indices(self._length))]
        if not -self._length <= place < self._length:
            raise IndexError(place)
        return self._item(place % self._length)


def map_items(source: Sequence[Source], change: Callable[[Source], Result]) -> Lazy[Result]:
    """Return a sequence of what a function makes of another's items."""
    return Lazy(len(source), lambda place: change(source[place]))


def keep_items(items: Iterable[Item], most: int = IN_MEMORY) -> Sequence[Item]:
    """Return items as a sequence, which is a tuple of up to ``most``, and a file without a name of more.

    The file is in the cache, and gone with the process. Raises OSError.
    """
    rest = iter(items)
    first = tuple(islice(rest, most))
    following = tuple(islice(rest, 1))
    return _store(chain(first, following, rest)) if following else first


def _store(items: Iterator[Item]) -> Lazy[Item]:
    """Put items into a file that nobody else can open."""
    folder, ends = default_cache(), array("Q", [0])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        for item in items:
            ends.append(ends[-1] + file.write(pickle.dumps(item)))
        file.flush()
        number = os.dup(file.fileno())

    def read(place: int) -> Item:
        item: Item = pickle.loads(os.pread(number, ends[place + 1] - ends[place], ends[place]))
        return item

    stored = Lazy(len(ends) - 1, read)
    weakref.finalize(stored, os.close, number)
    return stored
