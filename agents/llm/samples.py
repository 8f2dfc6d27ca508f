"""Sample numbers for clients that repeat a question without numbering it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from assay.agents.llm.cassette_key import Normalise, hash_question, keep_text
from assay.agents.llm.chat import Request


class Samples:
    """Numbers the repetitions of each question, by which a recording keeps their answers apart and in order."""

    def __init__(self, normalise: Normalise = keep_text, first: int = 0) -> None:
        """Questions are equal that are so after ``normalise``, as in the recording; ``first`` is the lowest number."""
        self._normalise = normalise
        self._first = first
        self._taken: dict[str, set[int]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def next(self, request: Request, wanted: int = 1) -> Iterator[tuple[Request, ...]]:
        """Yield the question ``wanted`` times with its next free numbers; if the block raises, they are free again."""
        key = hash_question(request, self._normalise)
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
            numbers = range(self._first, self._first + len(taken) + wanted)
            free = [number for number in numbers if number not in taken][:wanted]
            taken.update(free)
            return free
