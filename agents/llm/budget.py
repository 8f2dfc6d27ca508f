"""Limits on what a model may cost. A call that would begin beyond one is not made.

Put around a recording, a budget counts replayed answers too, so that a run that is taken up again ends where it would
have ended; put inside of it, it counts what is really paid. Budgets nest: one for an instance in one for the run.
"""

import threading
import time
from collections.abc import Callable

from pydantic import Field

from assay.agents.llm.chat import Answer, ChatModel, Request, TokenUsage
from assay.agents.llm.errors import BudgetExceeded, ModelError
from assay.agents.llm.prices import Prices
from assay.agents.llm.tokens import estimate_prompt
from assay.harness.domain import Model


class BudgetLimits(Model):
    """What may be spent; None is no limit."""

    cost: float | None = Field(default=None, ge=0)
    """US dollars. Calls of unknown price count for nothing here: limit tokens where there are such."""
    tokens: int | None = Field(default=None, ge=0)
    calls: int | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)
    """From the ledger's opening, whatever they are spent with."""


class Spent(Model):
    """What has been spent, or is about to be."""

    calls: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    cost: float = Field(default=0.0, ge=0)
    """US dollars, of the calls whose price is known."""
    unpriced_calls: int = Field(default=0, ge=0)
    """Whose price is not."""

    def __add__(self, other: "Spent") -> "Spent":
        """Return both together."""
        return Spent(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
        )


class Ledger:
    """What has been spent under some limits; shared by all threads that spend."""

    def __init__(
        self, limits: BudgetLimits, spent: Spent | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open it, with what earlier processes have spent."""
        self.limits = limits
        self._spent = spent or Spent()
        self._held: list[Spent] = []
        self._clock = clock
        self._opened = clock()
        self._settled = threading.Condition()

    @property
    def spent(self) -> Spent:
        """What has been spent so far, without the calls that are under way."""
        with self._settled:
            return self._spent

    @property
    def seconds(self) -> float:
        """Seconds since the ledger was opened."""
        return self._clock() - self._opened

    def hold(self, wanted: Spent) -> Spent:
        """Set aside what a call will cost at most; waits for calls under way where they might leave room.

        Returns:
            What to hand to ``settle`` after the call.

        Raises:
            BudgetExceeded: there is no room for it, and no call under way that could leave any.
        """
        with self._settled:
            while self._too_much(sum(self._held, wanted)):
                self._refuse(self._too_much(wanted))
                self._settled.wait(timeout=1.0)  # the limit in seconds passes without anybody telling
            self._held.append(wanted)
            return wanted

    def settle(self, held: Spent, spent: Spent) -> None:
        """Replace what was set aside by what was spent."""
        with self._settled:
            self._held.remove(held)
            self._spent += spent
            self._settled.notify_all()

    def _too_much(self, wanted: Spent) -> str:
        """Name the limit that leaves no room for this on top of what has been spent; empty if all do."""
        limits, spent = self.limits, self._spent
        rooms = {
            "seconds": (limits.seconds, self.seconds, 0.0),
            "calls": (limits.calls, spent.calls, wanted.calls),
            "tokens": (limits.tokens, spent.tokens, wanted.tokens),
            "cost": (limits.cost, spent.cost, wanted.cost),
        }
        full = (
            name for name, (limit, used, more) in rooms.items() if limit is not None and _is_full(limit, used, more)
        )
        return next(full, "")

    def _refuse(self, limit: str) -> None:
        if limit:
            told = {"cost": "US dollars"}.get(limit, limit)
            used = self.seconds if limit == "seconds" else getattr(self._spent, limit)
            allowed = getattr(self.limits, limit)
            problem = f"the budget of {allowed:g} {told} leaves no room for another call ({used:.6g} are spent)"
            raise BudgetExceeded(problem, limit=limit)


def _is_full(limit: float, used: float, more: float) -> bool:
    return used >= limit or used + more > limit


class Metered:
    """A model around a model that charges a ledger for every call, answered or not."""

    def __init__(self, model: ChatModel, ledger: Ledger, prices: Prices | None = None) -> None:
        """Take prices to set aside a call's cost before it is made; without them the cost counts afterwards only."""
        self._model = model
        self._ledger = ledger
        self._prices = prices or Prices()

    def complete(self, request: Request) -> Answer:
        """Ask if the budget has room for the prompt and the longest answer.

        Raises:
            BudgetExceeded: it has none, here or further in.
            ModelError: there is no answer; what that cost is charged.
        """
        held = self._ledger.hold(self._at_most(request))
        spent = Spent()
        try:
            answer = self._model.complete(request)
            spent = _of(answer.usage + answer.wasted)
            return answer
        except ModelError as error:
            spent = _of(error.spent)
            raise
        finally:
            self._ledger.settle(held, spent)

    def _at_most(self, request: Request) -> Spent:
        usage = TokenUsage(prompt_tokens=estimate_prompt(request), completion_tokens=request.max_tokens or 0)
        return Spent(calls=1, tokens=usage.tokens, cost=self._prices.cost(request.model, usage) or 0.0)


def _of(usage: TokenUsage) -> Spent:
    return Spent(calls=1, tokens=usage.tokens, cost=usage.cost or 0.0, unpriced_calls=int(usage.cost is None))
