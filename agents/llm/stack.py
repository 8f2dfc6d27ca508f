"""A run's model, layer by layer, outermost first.

RecordedModel     one sample's: its trajectory, its usage, and its budget, which counts replayed answers too, so that a
                  resumed run stops where it would have stopped
  Cassette        no answer is paid for twice
    Metered       budget of the run, which counts paid answers only; raises RunBudgetExceeded
      Retrying
        ModelClient
"""

import time
from collections.abc import Callable
from pathlib import Path

from pydantic import Field

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered, Spent
from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.cassette_key import Normalise, keep_text
from assay.agents.llm.chat import ChatModel, Message, Request, Speaker
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import BadAnswer, ModelUnavailable, RequestRefused, RunBudgetExceeded, TooSlow
from assay.agents.llm.http_errors import BUSY
from assay.agents.llm.prices import load_prices
from assay.agents.llm.retry import Patience, Retrying
from assay.harness.closing import Closing
from assay.harness.domain import Model
from assay.harness.errors import UserError


class ModelSetup(Model):
    endpoint: Endpoint
    patience: Patience = Field(default_factory=Patience)
    limits: BudgetLimits = Field(default_factory=BudgetLimits)
    """Limits of what the whole run pays."""
    spent: Spent = Field(default_factory=Spent)
    """Paid by earlier processes of the run; counts towards ``limits``."""
    cassette: Path | None = None
    """File of the recording; None for none."""
    mode: Mode = Mode.AUTO
    prices: Path | None = None
    """The user's own price file."""


class Stack(Closing):
    """A run's open model: all layers but a sample's own, and the ledger of what the run pays; a context manager."""

    def __init__(
        self, setup: ModelSetup, *, normalise: Normalise = keep_text, note: Callable[[str], None] = lambda _text: None
    ) -> None:
        """Open the layers; a replay opens no connection and needs no key.

        ``note`` gets a line about the probe, and about each failed try that another one follows. Raises UserError for a
        wrong endpoint, key, cassette or price.
        """
        self.prices = load_prices(setup.prices)
        self.paid = Ledger(setup.limits, setup.spent, error=RunBudgetExceeded)
        is_replay = setup.cassette is not None and setup.mode is Mode.REPLAY
        self._client = None if is_replay else ModelClient(setup.endpoint, self.prices)
        self._note = note
        paid = None
        if self._client is not None:
            retrying = Retrying(self._client, setup.patience, self._client.calls.sleep, note)
            paid = Metered(retrying, self.paid, self.prices)
        try:
            self._cassette = Cassette(setup.cassette, setup.mode, paid, normalise=normalise) if setup.cassette else None
        except BaseException:
            self._close_client()
            raise
        model = self._cassette or paid
        assert model is not None  # without a cassette there is a client
        self.model: ChatModel = model

    def probe(self, model: str) -> str:
        """Ask the endpoint once, see ``probe``; a replay has none."""
        if self._client is None:
            return ""
        self._note(f"asking {model} one short question")
        return probe(self._client, model)

    def abort(self) -> None:
        """Release every thread that waits for an answer; it gets RunStopped, and so does any later question."""
        if self._client:
            self._client.calls.abort()

    def close(self) -> None:
        if self._cassette is not None:
            self._cassette.close()
        self._close_client()

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()


SECONDS = 30.0
"""Limit of the wait for the answer; a server that is loading its model may need longer, which is no error."""
MAX_TOKENS = 16


def probe(model: ChatModel, name: str) -> str:
    """Ask an endpoint's model once, without retries.

    Returns a remark for the terminal if the endpoint is busy or slow; empty if it answers, or refuses no more than this
    question. Raises UserError: it is not there, not a model's, or refuses the key or the model's name.
    """
    question = Message(role=Speaker.USER, content="Reply with OK.")
    deadline = time.monotonic() + SECONDS
    try:
        model.complete(Request(model=name, messages=(question,), max_tokens=MAX_TOKENS, deadline=deadline))
    except RequestRefused:
        return ""
    except BadAnswer as error:
        raise UserError(str(error)) from error
    except ModelUnavailable as error:
        if error.status in BUSY or isinstance(error, TooSlow):
            return f"{error}; the run continues and asks again"
        raise UserError(f"{error}; start the server, or correct --base-url") from error
    return ""
