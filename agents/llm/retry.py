"""Retries after transient errors: exponential waits with jitter, never shorter than the endpoint asks for."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import Field

from assay.agents.llm.chat import Answer, ChatModel, Request, TokenUsage
from assay.agents.llm.errors import ModelError
from assay.harness.domain import Model

if TYPE_CHECKING:
    from tenacity import RetryCallState


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
        self, model: ChatModel, patience: Patience | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._model = model
        self._patience = patience or Patience()
        self._sleep = sleep

    def complete(self, request: Request) -> Answer:
        """Ask until there is an answer; its ``wasted`` is the usage of the failed tries.

        Raises:
            ModelError: of the last try; its ``spent`` covers all tries.
        """
        from tenacity import Retrying as Attempts
        from tenacity import retry_if_exception, stop_after_attempt

        began, wasted = time.monotonic(), list[TokenUsage]()

        def ask() -> Answer:
            try:
                return self._model.complete(request)
            except ModelError as error:
                wasted.append(error.spent)
                raise

        attempts = Attempts(
            stop=stop_after_attempt(self._patience.tries),
            retry=retry_if_exception(self._is_retried),
            wait=self._wait(),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            answer = attempts(ask)
        except ModelError as error:
            error.spent = sum(wasted, TokenUsage())
            raise
        if not wasted:
            return answer
        lost = sum(wasted, answer.wasted)
        seconds = round(time.monotonic() - began, 3)
        return answer.model_copy(update={"wasted": lost, "tries": answer.tries + len(wasted), "seconds": seconds})

    def _is_retried(self, error: BaseException) -> bool:
        if not isinstance(error, ModelError):
            return False
        return error.is_transient and error.retry_after <= self._patience.longest_wait

    def _wait(self) -> Callable[["RetryCallState"], float]:
        from tenacity import wait_exponential, wait_random

        first, longest = self._patience.first_wait, self._patience.longest_wait
        growing = wait_exponential(multiplier=first) + wait_random(0, first)

        def wait(state: "RetryCallState") -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.retry_after if isinstance(error, ModelError) else 0.0
            return max(asked, min(growing(state), longest))

        return wait
