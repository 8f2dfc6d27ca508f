"""What can go wrong between a question and a model's answer.

AssayError
├── ModelError                the model gave no answer; ``spent`` tells what was billed all the same
│   ├── ModelUnavailable      408, 409, 429, 5xx, no connection, too slow: worth another try
│   ├── BadAnswer             status 200 and no readable answer: worth another try, and billed
│   ├── RequestRefused        400 and its kin: the same request will be refused again
│   │   └── ContextTooLong    more tokens than the model takes
│   └── AccessDenied          401, 402, 403, 404, used-up quota: a person must mend key, address or model (exit 2)
├── BudgetExceeded            a limit leaves no room for the call, which was not made
└── UserError
    └── CassetteMiss          a replay met a request that was never recorded (exit 2)
"""

from assay.agents.llm.chat import TokenUsage
from assay.harness.errors import AssayError, UserError


class ModelError(AssayError):
    """The model gave no answer.

    Attributes:
        status: HTTP status of the endpoint; None if it never answered.
        spent: what the failed tries have presumably cost.
        retry_after: seconds that the endpoint asks to wait before another try; 0 if it asks for nothing.
    """

    is_transient = False
    """Whether the same request may succeed later."""

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


class BadAnswer(ModelError):
    """The endpoint answered with something that is no answer of a chat model."""

    is_transient = True


class RequestRefused(ModelError):
    """The endpoint does not take this request, now or later."""


class ContextTooLong(RequestRefused):
    """The request has more tokens than the model takes."""


class AccessDenied(ModelError, UserError):
    """Key, quota, address or name of the model is wrong."""


class BudgetExceeded(AssayError):
    """A call would begin beyond a limit.

    Attributes:
        limit: which one: ``cost``, ``tokens``, ``calls`` or ``seconds``.
    """

    def __init__(self, problem: str, *, limit: str) -> None:
        super().__init__(problem)
        self.limit = limit


class CassetteMiss(UserError):
    """A request is not in the cassette that is replayed."""
