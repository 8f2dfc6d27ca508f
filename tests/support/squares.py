"""A Work of a crew that needs nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass
class Squares:
    """A Work on numbers: squares them."""

    do: Callable[[int, int], int] = lambda item, _number: item * item
    retries: Callable[[int], bool] = lambda _attempt: False
    found: dict[int, int] = field(default_factory=dict)
    """Results of an earlier process."""
    saved: list[int] = field(default_factory=list)

    def key(self, item: int) -> str:
        return f"item {item}"

    def find_known(self, item: int) -> int | None:
        return self.found.get(item)

    def plan(self, pending: Mapping[str, int], _total: int) -> list[str]:
        return list(pending)

    def begin(self, item: int, number: int) -> None:
        pass

    def attempt(self, item: int, number: int) -> int:
        return self.do(item, number)

    def may_retry(self, _item: int, attempt: int) -> bool:
        return self.retries(attempt)

    def save(self, item: int, attempt: int) -> int:
        self.saved.append(item)
        return attempt
