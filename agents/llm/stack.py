"""The layers of a model as a run wants them.

budget of an instance     counts replayed answers too: a run taken up again ends where it would have ended
  recording               no answer is paid for twice
    budget of the run     counts what is really paid
      retries
        client
"""

from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import Field

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered, Spent
from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.cassette_key import Steady, unchanged
from assay.agents.llm.chat import ChatModel
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.prices import load_prices
from assay.agents.llm.retry import Patience, Retrying
from assay.harness.domain import Model


class Setup(Model):
    """What a run says about its model."""

    endpoint: Endpoint
    patience: Patience = Field(default_factory=Patience)
    limits: BudgetLimits = Field(default_factory=BudgetLimits)
    """Of the whole run, for what is really paid."""
    spent: Spent = Field(default_factory=Spent)
    """Of them, what earlier processes of the run have paid."""
    cassette: Path | None = None
    mode: Mode = Mode.AUTO
    """Of the cassette."""
    prices: Path | None = None
    """Prices of the user's own."""


class Stack:
    """An open model with its layers; a context manager.

    Attributes:
        model: what to ask, without the budget of an instance.
        paid: what the run has paid.
    """

    def __init__(self, setup: Setup, *, steady: Steady = unchanged) -> None:
        """Open the layers; a replay opens no connection and needs no key.

        Raises:
            UserError: the endpoint, the key, the cassette or the prices are wrong.
        """
        self._prices = load_prices(setup.prices)
        self.paid = Ledger(setup.limits, setup.spent)
        is_replay = setup.cassette is not None and setup.mode is Mode.REPLAY
        self._client = None if is_replay else ModelClient(setup.endpoint, self._prices)
        asked = Metered(Retrying(self._client, setup.patience), self.paid, self._prices) if self._client else None
        try:
            self._cassette = Cassette(setup.cassette, setup.mode, asked, steady=steady) if setup.cassette else None
        except BaseException:
            self.close_client()
            raise
        model = self._cassette or asked
        assert model is not None  # without a cassette there is a client
        self.model: ChatModel = model

    def within(self, limits: BudgetLimits) -> tuple[ChatModel, Ledger]:
        """Return the model under limits of its own, as one instance has them, and the ledger of these."""
        ledger = Ledger(limits)
        return Metered(self.model, ledger, self._prices), ledger

    def __enter__(self) -> Self:
        """Return the stack itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close what is open."""
        self.close()

    def close(self) -> None:
        """Close the recording and the connections."""
        if self._cassette is not None:
            self._cassette.close()
        self.close_client()

    def close_client(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
