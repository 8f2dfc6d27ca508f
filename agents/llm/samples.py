"""Numbers for the samples of a question, for those who ask without numbers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from assay.agents.llm.cassette_key import key_of
from assay.agents.llm.chat import Request


class Samples:
    """Gives each repetition of a question the next number: who asks the same again wants another answer.

    A recording then keeps the answers apart, and a replay gives them in the same order.
    """

    def __init__(self) -> None:
        self._taken: dict[str, set[int]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def next(self, request: Request, wanted: int = 1) -> Iterator[tuple[Request, ...]]:
        """Lend a question under its next free numbers; they are free again if the block raises, for want of answers."""
        key = key_of(request)
        numbers = self._take(key, wanted)
        try:
            yield tuple(request.model_copy(update={"sample": number}) for number in numbers)
        except BaseException:
            with self._lock:
                self._taken[key].difference_update(numbers)
            raise

    def _take(self, key: str, wanted: int) -> list[int]:
        with self._lock:
            taken = self._taken.setdefault(key, set())
            free = [number for number in range(len(taken) + wanted) if number not in taken][:wanted]
            taken.update(free)
            return free
