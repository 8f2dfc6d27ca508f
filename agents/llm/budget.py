"""Limits on a model's cost, tokens, calls and time. A call that does not fit is not made.

A budget around a recording counts replayed answers too, so that a resumed run stops where it would have stopped; a
budget inside the recording counts paid answers only. Budgets nest: a sample's in the run's.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import Field

from assay.agents.llm.chat import Answer, ChatModel, Request, TokenUsage
from assay.agents.llm.errors import BudgetExceeded, ModelError
from assay.agents.llm.prices import Prices
from assay.agents.llm.tokens import estimate_prompt
from assay.harness.domain import Model


class BudgetLimits(Model):
    """Limits on spending; None is no limit."""

    cost: float | None = Field(default=None, ge=0)
    """US dollars. Calls of unknown price count as 0; ``Prices.check`` refuses a limit that would so be ignored."""
    tokens: int | None = Field(default=None, ge=0)
    calls: int | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)
    """Wall-clock time since the ledger was created."""

    def share(self, begin: int, end: int, of: int) -> "BudgetLimits":
        """Return the limits of parts ``begin`` to ``end`` of ``of`` equal ones; shares of all add up to the whole."""

        def part(whole: int) -> int:
            return whole * end // of - whole * begin // of

        return BudgetLimits(
            cost=None if self.cost is None else self.cost * (end - begin) / of,
            tokens=None if self.tokens is None else part(self.tokens),
            calls=None if self.calls is None else part(self.calls),
            seconds=self.seconds,
        )


class Spent(Model):
    """An amount of spending."""

    calls: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    cost: float = Field(default=0.0, ge=0)
    """US dollars, for the calls with a known price."""
    unpriced_calls: int = Field(default=0, ge=0)
    """Calls with an unknown price."""

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
        )


@dataclass(slots=True)
class Call:
    """One call under way; whoever makes it sets ``usage`` and ``answers`` once there is an answer."""

    request: Request
    """The question, with the budget's deadline."""
    usage: TokenUsage | None = field(default=None, init=False)
    answers: int = field(default=1, init=False)


class Ledger:
    """Spending under some limits; safe to use from several threads."""

    def __init__(
        self,
        limits: BudgetLimits,
        spent: Spent | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        error: type[BudgetExceeded] = BudgetExceeded,
    ) -> None:
        """``spent`` is the spending of earlier processes under the same limits; ``error`` is raised at a limit."""
        self.limits = limits
        self._error = error
        self._spent = spent or Spent()
        self._reserved: list[Spent] = []
        self._clock = clock
        self._started = clock()
        self._settled = threading.Condition()

    @property
    def spent(self) -> Spent:
        """Spending so far, without the calls under way."""
        with self._settled:
            return self._spent

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    @property
    def deadline(self) -> float | None:
        """``time.monotonic()`` at which the limit in seconds is reached; None if there is no such limit."""
        return None if self.limits.seconds is None else time.monotonic() + self.limits.seconds - self.seconds

    @property
    def is_out_of_time(self) -> bool:
        return self.limits.seconds is not None and self.seconds >= self.limits.seconds

    @contextmanager
    def charge(self, request: Request, prices: Prices) -> Iterator[Call]:
        """Reserve room for the prompt and the longest answer; after the block, charge what the call spent instead.

        Waits for calls under way that might leave room. A failed call costs the error's ``spent``. Raises
        BudgetExceeded: there is no room even if the calls under way spend nothing, or the time ended before the answer
        came.
        """
        longest = (request.max_tokens or 0) * request.wanted
        most = TokenUsage(prompt_tokens=estimate_prompt(request), completion_tokens=longest)
        cost = prices.cost(request.model, most) or 0.0
        reserved = self._reserve(Spent(calls=request.wanted, tokens=most.tokens, cost=cost))
        spent = Spent()
        deadlines = [each for each in (request.deadline, self.deadline) if each is not None]
        call = Call(request.model_copy(update={"deadline": min(deadlines)}) if deadlines else request)
        try:
            yield call
            if call.usage is not None:
                spent = count_spent(call.usage, call.answers)
        except ModelError as error:
            spent = count_spent(error.spent)
            if self.is_out_of_time:
                problem = f"the budget of {self.limits.seconds:g} seconds ended before the model answered"
                raise self._error(problem, limit="seconds") from error
            raise
        finally:
            with self._settled:
                self._reserved.remove(reserved)
                self._spent += spent
                self._settled.notify_all()

    def _reserve(self, wanted: Spent) -> Spent:
        with self._settled:
            while self._find_full(sum(self._reserved, wanted)):
                self._raise_if(self._find_full(wanted))
                self._settled.wait(timeout=1.0)  # nothing notifies when the limit in seconds passes
            self._reserved.append(wanted)
            return wanted

    def _find_full(self, wanted: Spent) -> str:
        """Return the name of the first limit that has no room for ``wanted`` beyond the spending; empty if none."""
        limits, spent = self.limits, self._spent
        amounts = {
            "seconds": (limits.seconds, self.seconds, 0.0),
            "calls": (limits.calls, spent.calls, wanted.calls),
            "tokens": (limits.tokens, spent.tokens, wanted.tokens),
            "cost": (limits.cost, spent.cost, wanted.cost),
        }
        for name, (limit, used, more) in amounts.items():
            if limit is not None and (used >= limit or used + more > limit):
                return name
        return ""

    def _raise_if(self, limit: str) -> None:
        if limit:
            unit = {"cost": "US dollars"}.get(limit, limit)
            used = self.seconds if limit == "seconds" else getattr(self._spent, limit)
            allowed = getattr(self.limits, limit)
            problem = f"the budget of {allowed:g} {unit} leaves no room for another call ({used:.6g} are spent)"
            raise self._error(problem, limit=limit)


class Metered:
    """A ChatModel that charges every call of another one to a ledger, answered or not."""

    def __init__(self, model: ChatModel, ledger: Ledger, prices: Prices | None = None) -> None:
        """A call's cost is charged but not reserved without ``prices``."""
        self._model = model
        self._ledger = ledger
        self._prices = prices or Prices()

    def complete(self, request: Request) -> Answer:
        """Ask if the budget has room; raises BudgetExceeded (of this budget or an inner one) and ModelError."""
        with self._ledger.charge(request, self._prices) as call:
            answer = self._model.complete(call.request)
            call.usage, call.answers = answer.spent, 1 + len(answer.others)
        return answer


def count_spent(usage: TokenUsage, answers: int = 1) -> Spent:
    """Return the spending of a call; each of several answers to one request counts as a call."""
    unpriced = answers if usage.cost is None else 0
    return Spent(calls=answers, tokens=usage.tokens, cost=usage.cost or 0.0, unpriced_calls=unpriced)
