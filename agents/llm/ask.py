"""A model as a function from messages to the text of an answer, and the endpoint that the environment names."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.agents.llm.cassette import Mode
from assay.agents.llm.cassette_key import mask_ids
from assay.agents.llm.chat import Message, Request, Speaker
from assay.agents.llm.client import Endpoint
from assay.agents.llm.samples import Samples
from assay.agents.llm.stack import ModelSetup, Stack
from assay.harness.errors import UserError

OPENAI = "https://api.openai.com/v1"
KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"
"""Environment variables that clients of OpenAI-compatible APIs share."""


def usual_endpoint(base_url: str = "") -> Endpoint:
    """Return the endpoint of an address, or else of OPENAI_BASE_URL, or else OpenAI's.

    The key is that of OPENAI_API_KEY; only OpenAI's endpoint requires one. Raises UserError without address and key.
    """
    address = base_url or os.environ.get(ADDRESS, "")
    has_key = bool(os.environ.get(KEY, "").strip())
    if not address and not has_key:
        problem = f"no model to ask: give --base-url (or set {ADDRESS}) for your own server, or set {KEY} for OpenAI's"
        raise UserError(problem)
    return Endpoint(base_url=address or OPENAI, key_env=KEY if has_key else "")


def endpoint_and_mode(base_url: str, cassette: Path | None) -> tuple[Endpoint, Mode]:
    """Return where a model answers, and the mode of its cassette: an existing one is replayed if no endpoint is named.

    Raises UserError if there is neither an address nor a key, nor a recording.
    """
    try:
        return usual_endpoint(base_url), Mode.AUTO
    except UserError:
        if cassette is None or not cassette.is_file():
            raise
        return Endpoint(base_url=OPENAI), Mode.REPLAY


class Asker:
    """Function from (role, text) messages to the text of a model's answer; ``stack.close()`` must be called at the end.

    Repeating the messages asks for another sample of the same question, with and without a recording. Questions that
    differ only in durations, ids or temporary names are the same. ``stack.paid`` has the spending.
    """

    def __init__(self, setup: ModelSetup, model: str, note: Callable[[str], None]) -> None:
        self.stack = Stack(setup, normalise=mask_ids, note=note)
        self._model = model
        self._samples = Samples(mask_ids)

    def __call__(self, messages: Sequence[tuple[str, str]]) -> str:
        """Ask; raises ModelError, BudgetExceeded and CassetteMiss."""
        conversation = tuple(Message(role=Speaker(role), content=text) for role, text in messages)
        with self._samples.next(Request(model=self._model, messages=conversation)) as (request,):
            return self.stack.model.complete(request).content


def make_ask(
    model: str,
    base_url: str = "",
    *,
    cassette: Path | None = None,
    note: Callable[[str], None] = lambda _text: None,
) -> Asker:
    """Return a model as a function; ``base_url`` as for ``usual_endpoint``.

    ``cassette`` records answers; an existing one is replayed and needs neither address nor key.
    ``note`` gets a line about each failed try that another one follows.

    Raises UserError if the address, the key or the cassette is wrong.
    """
    endpoint, mode = endpoint_and_mode(base_url, cassette)
    setup = ModelSetup(endpoint=endpoint, cassette=cassette, mode=mode)
    return Asker(setup, model, note)
