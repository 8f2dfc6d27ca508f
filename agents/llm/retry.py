"""Retries after transient errors: exponential waits with jitter, never shorter than the endpoint asks for."""

import random
import time
from collections.abc import Callable
from itertools import count

from pydantic import Field

from assay.agents.llm.chat import Answer, ChatModel, Request, TokenUsage
from assay.agents.llm.errors import ModelError
from assay.harness.domain import Model


class Patience(Model):
    """Number of tries, and waits between them in seconds."""

    tries: int = Field(default=6, ge=1)
    first_wait: float = Field(default=1.0, ge=0)
    """Doubled after each try."""
    longest_wait: float = Field(default=120.0, ge=0)
    """There is no retry if the endpoint asks for a longer one."""


class Retrying:
    """A ChatModel that retries another one after transient errors (``ModelError.is_transient``)."""

    def __init__(
        self,
        model: ChatModel,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
        note: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """``note`` gets a line about each failed try that another one follows."""
        self._model = model
        self._patience = patience or Patience()
        self._sleep = sleep
        self._note = note

    def complete(self, request: Request) -> Answer:
        """Ask until there is an answer; its ``wasted`` is the usage of the failed tries.

        Raises the ModelError of the last try; its ``spent`` covers all tries.
        """
        began, wasted, growing = time.monotonic(), TokenUsage(), self._patience.first_wait
        for tries in count(1):
            try:
                answer = self._model.complete(request)
                break
            except ModelError as error:
                wasted += error.spent
                wait = growing + random.uniform(0, self._patience.first_wait)
                pause = max(error.retry_after, min(wait, self._patience.longest_wait))
                if not self._is_retried(error, tries, pause, request.deadline):
                    error.spent = wasted
                    raise
                self._note(f"{error}; try {tries + 1} of {self._patience.tries} in {pause:.0f} s")
            self._sleep(pause)
            growing *= 2
        if tries == 1:
            return answer
        seconds = round(time.monotonic() - began, 3)
        update = {"wasted": wasted + answer.wasted, "tries": answer.tries + tries - 1, "seconds": seconds}
        return answer.model_copy(update=update)

    def _is_retried(self, error: ModelError, tries: int, pause: float, deadline: float | None) -> bool:
        """Return False without time for another try: the endpoint's failure is what counts."""
        if not error.is_transient or error.retry_after > self._patience.longest_wait or tries >= self._patience.tries:
            return False
        return deadline is None or time.monotonic() + pause < deadline
