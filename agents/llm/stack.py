"""A run's model, layer by layer, outermost first.

RecordedModel     one sample's: its trajectory, its usage, and its budget, which counts replayed answers too, so that a
                  resumed run stops where it would have stopped
  Cassette        no answer is paid for twice
    Metered       budget of the run, which counts paid answers only; raises RunBudgetExceeded
      Routed      the endpoint of the request's role
        Retrying
          Served       waits for a server that was started for the run
          ModelClient
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import Field

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered, Spent
from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.cassette_key import Normalise, keep_text
from assay.agents.llm.chat import Answer, ChatModel, Message, Request, Speaker
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import BadAnswer, ModelUnavailable, RequestRefused, RunBudgetExceeded, TooSlow
from assay.agents.llm.http_errors import BUSY
from assay.agents.llm.prices import Price, load_prices
from assay.agents.llm.retry import Patience, Retrying
from assay.agents.llm.server import ModelServer, Served
from assay.harness.closing import Closing
from assay.harness.domain import Model
from assay.harness.errors import UserError


class ModelSetup(Model):
    endpoint: Endpoint
    roles: Mapping[str, Endpoint] = Field(default_factory=dict)
    """Endpoints of roles that have their own; all others ask ``endpoint``."""
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
    own_prices: Mapping[str, Price] = Field(default_factory=dict)
    """Prices by model that override the files."""


class Routed:
    """A ChatModel that gives each request to the model of its role, or else to the run's."""

    def __init__(self, usual: ChatModel, roles: Mapping[str, ChatModel]) -> None:
        self._usual, self._roles = usual, roles

    def complete(self, request: Request) -> Answer:
        return self._roles.get(request.role, self._usual).complete(request)


class Stack(Closing):
    """A run's open model: all layers but a sample's own, and the ledger of what the run pays; a context manager."""

    def __init__(
        self,
        setup: ModelSetup,
        *,
        normalise: Normalise = keep_text,
        note: Callable[[str], None] = lambda _text: None,
        server: ModelServer | None = None,
    ) -> None:
        """Open the layers; a replay opens no connection and needs no key.

        ``server`` is the endpoint's, if it was started for this run: while it starts again, questions wait.
        ``note`` gets a line about the probe, and about each failed try that another one follows. Raises UserError for a
        wrong endpoint, key, cassette or price.
        """
        self.prices = load_prices(setup.prices, setup.own_prices)
        self.paid = Ledger(setup.limits, setup.spent, error=RunBudgetExceeded)
        is_replay = setup.cassette is not None and setup.mode is Mode.REPLAY
        self._clients: dict[Endpoint, ModelClient] = {}
        self._roles = {"": setup.endpoint, **setup.roles}
        self._note = note
        paid = None
        try:
            for endpoint in () if is_replay else dict.fromkeys(self._roles.values()):
                self._clients[endpoint] = ModelClient(endpoint, self.prices)
            if self._clients:
                patient: dict[str, ChatModel] = {}
                for role, endpoint in self._roles.items():
                    client, is_served = self._clients[endpoint], server and endpoint.base_url == server.url
                    model = Served(client, server, client.calls.sleep) if server and is_served else client
                    patient[role] = Retrying(model, setup.patience, client.calls.sleep, note)
                routed = Routed(patient[""], patient) if setup.roles else patient[""]
                paid = Metered(routed, self.paid, self.prices)
            self._cassette = Cassette(setup.cassette, setup.mode, paid, normalise=normalise) if setup.cassette else None
        except BaseException:
            self._close_clients()
            raise
        asked = self._cassette or paid
        assert asked is not None  # without a cassette there is a client
        self.model: ChatModel = asked

    def probe(self, model: str, role: str = "") -> str:
        """Ask the endpoint of a role once, see ``probe``; a replay has none."""
        if not self._clients:
            return ""
        self._note(f"asking {model} one short question")
        return probe(self._clients[self._roles[role if role in self._roles else ""]], model)

    def abort(self) -> None:
        """Release every thread that waits for an answer; it gets RunStopped, and so does any later question."""
        for client in self._clients.values():
            client.calls.abort()

    def close(self) -> None:
        if self._cassette is not None:
            self._cassette.close()
        self._close_clients()

    def _close_clients(self) -> None:
        for client in self._clients.values():
            client.close()


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
