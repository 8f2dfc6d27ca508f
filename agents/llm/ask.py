"""A model as one function, for those who only want to hand it messages and read its answer."""

import os
from collections.abc import Sequence
from pathlib import Path

from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.cassette import Mode
from assay.agents.llm.chat import Message, Request, Role
from assay.agents.llm.client import Endpoint
from assay.agents.llm.samples import Samples
from assay.agents.llm.stack import Setup, Stack
from assay.harness.errors import UserError

OPENAI = "https://api.openai.com/v1"
KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"
"""Environment variables that every client of this interface knows."""


def usual_endpoint(base_url: str = "") -> Endpoint:
    """Return the endpoint that an address and the usual environment variables name.

    An address that is given, or is in OPENAI_BASE_URL, may do without a key, as servers of one's own do.

    Raises:
        UserError: neither an address nor a key is known.
    """
    address = base_url or os.environ.get(ADDRESS, "")
    has_key = bool(os.environ.get(KEY, "").strip())
    if not address and not has_key:
        problem = f"no model can be reached: give --base-url (or {ADDRESS}) for a server of your own, or set {KEY}"
        raise UserError(problem)
    return Endpoint(base_url=address or OPENAI, key_env=KEY if has_key else "")


class Asker:
    """Takes (role, text) messages and returns the text of a model's answer; a thin coat around a ``Stack``.

    The same messages again are another sample of the same question, with and without a recording.

    Attributes:
        stack: what is asked; its ``paid`` tells what was spent, and its ``close`` ends it.
    """

    def __init__(self, stack: Stack, model: str) -> None:
        self.stack = stack
        self._model = model
        self._samples = Samples()

    def __call__(self, messages: Sequence[tuple[str, str]]) -> str:
        """Ask; raises ModelError, BudgetExceeded and CassetteMiss."""
        said = tuple(Message(role=Role(role), content=text) for role, text in messages)
        with self._samples.next(Request(model=self._model, messages=said)) as (request,):
            return self.stack.model.complete(request).content


def make_ask(
    model: str,
    base_url: str = "",
    *,
    cassette: Path | None = None,
    mode: Mode = Mode.AUTO,
    limits: BudgetLimits | None = None,
) -> Asker:
    """Return what takes (role, text) messages and returns the text of a model's answer.

    Args:
        model: its name at the endpoint.
        base_url: address with the version; see ``usual_endpoint``.
        cassette: file to record answers in and to replay them from.
        mode: of the cassette; a replay needs neither address nor key.
        limits: on what all questions together may cost.

    Raises:
        UserError: address, key or cassette are wrong.
    """
    is_replay = cassette is not None and mode is Mode.REPLAY
    endpoint = Endpoint(base_url=base_url or OPENAI) if is_replay else usual_endpoint(base_url)
    setup = Setup(endpoint=endpoint, cassette=cassette, mode=mode, limits=limits or BudgetLimits())
    return Asker(Stack(setup), model)
