"""One short question before any work, so that a dead or wrong endpoint is reported at once."""

import time

from assay.agents.llm.chat import ChatModel, Message, Request, Role
from assay.agents.llm.errors import BadAnswer, ModelUnavailable, RequestRefused, TooSlow
from assay.agents.llm.http_errors import BUSY
from assay.harness.errors import UserError

SECONDS = 30.0
"""Limit of the wait for the answer; a server that is loading its model may need longer, which is no error."""
MAX_TOKENS = 16


def probe(model: ChatModel, name: str) -> str:
    """Ask an endpoint's model once, without retries.

    Returns a remark for the terminal if the endpoint is busy or slow; empty if it answers, or refuses no more than this
    question. Raises UserError: it is not there, not a model's, or refuses the key or the model's name.
    """
    question = Message(role=Role.USER, content="Reply with OK.")
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
