"""One item after another, in this thread."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def run(work: Callable[[Any], Any], items: Sequence[Any], jobs: int) -> Iterator[Any]:  # noqa: ARG001
    """Yield the result of each item in order; ``jobs`` is of no use here."""
    yield from map(work, items)
