"""Errors of asking a model.

AssayError
├── ModelError                the model gave no answer; ``spent`` is what was billed nevertheless
│   ├── ModelUnavailable      408, 409, 429, 5xx, no connection: retried
│   │   └── TooSlow           no answer in time: retried
│   ├── BadAnswer             status 200 without a readable answer: retried, and billed
│   │   └── NoChatModel       a web page, or a reply without a choice: not retried, since the next one would be the same
│   ├── RequestRefused        400 and similar: the same request would be refused again
│   │   └── ContextTooLong    more tokens than the model accepts
│   └── AccessDenied          401, 402, 403, 404, used-up quota: fix the key, address or model name (exit 2)
├── BudgetExceeded            a limit leaves no room for the call, which was not made
│   └── RunBudgetExceeded     it is a limit of the whole run: with a larger one the sample resumes
└── UserError
    └── CassetteMiss          a replay lacks the request (exit 2)
"""

from assay.agents.llm.chat import TokenUsage
from assay.harness.errors import AssayError, UserError


class ModelError(AssayError):
    """The model gave no answer; ``status`` is the endpoint's, None if it did not answer.

    Attributes:
        spent: estimated usage of the failed tries.
        retry_after: seconds to wait before another try, as the endpoint asks; 0 if it does not.
    """

    is_transient = False
    """Whether the same request may succeed in a moment."""
    is_infrastructure = False
    """Whether the endpoint failed, so that nothing is known about the solver."""

    def __init__(
        self, problem: str, *, status: int | None = None, spent: TokenUsage | None = None, retry_after: float = 0.0
    ) -> None:
        super().__init__(problem)
        self.status = status
        self.spent = spent or TokenUsage()
        self.retry_after = retry_after


class ModelUnavailable(ModelError):
    """The endpoint cannot answer now."""

    is_transient = True
    is_infrastructure = True


class TooSlow(ModelUnavailable):
    """The endpoint has the question, and its answer has not come in time."""


class BadAnswer(ModelError):
    """The endpoint's reply cannot be read."""

    is_transient = True
    is_infrastructure = True


class NoChatModel(BadAnswer):
    """The endpoint's reply is no chat model's: a web page, or no choice."""

    is_transient = False


class RequestRefused(ModelError):
    """The endpoint rejects this request for good."""


class ContextTooLong(RequestRefused):
    """The request has more tokens than the model accepts."""


class AccessDenied(ModelError, UserError):
    """The key, the address or the model's name is wrong, or the quota is used up."""


class BudgetExceeded(AssayError):
    """A limit leaves no room for another call: ``cost``, ``tokens``, ``calls``, ``seconds`` or ``steps``."""

    def __init__(self, problem: str, *, limit: str = "") -> None:  # without a limit only where it is unpickled
        super().__init__(problem)
        self.limit = limit


class RunBudgetExceeded(BudgetExceeded):
    """A limit of the whole run leaves no room for a call; with a larger one the sample resumes."""


class CassetteMiss(UserError):
    """The replayed cassette has no answer to a request."""
