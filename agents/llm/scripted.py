"""A model with scripted answers, for tests, for demos without a key, and for trying out an agent."""

import threading
from collections.abc import Callable, Iterable

from assay.agents.llm.chat import Answer, Request, TokenUsage
from assay.agents.llm.errors import RequestRefused
from assay.agents.llm.tokens import estimate_prompt, estimate_tokens


class Scripted:
    """Answers with its lines in order, or with a function's results; costs nothing, usage is estimated."""

    def __init__(self, lines: Iterable[str | Answer] | Callable[[Request], str | Answer]) -> None:
        self._ask = lines if callable(lines) else None
        self._lines = iter(()) if callable(lines) else iter(lines)
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Answer:
        line = self._ask(request) if self._ask else self._next()
        if isinstance(line, Answer):
            return line
        usage = TokenUsage(
            prompt_tokens=estimate_prompt(request), completion_tokens=estimate_tokens(line), estimated=True
        )
        return Answer(content=line, model=request.model, usage=usage)

    def _next(self) -> str | Answer:
        with self._lock:
            line = next(self._lines, None)
        if line is None:
            raise RequestRefused("the scripted model has no line left")
        return line
