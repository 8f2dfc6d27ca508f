"""Client for endpoints with an OpenAI-compatible chat completions API."""

import json
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from assay.agents.llm.call_loop import Calls
from assay.agents.llm.chat import Answer, Request, TokenUsage
from assay.agents.llm.errors import (
    BadAnswer,
    ContextTooLong,
    ModelError,
    ModelUnavailable,
    NoChatModel,
    RequestRefused,
    TooSlow,
)
from assay.agents.llm.http_errors import is_web_page, make_model_error
from assay.agents.llm.json_fields import MalformedBody, NoReply
from assay.agents.llm.openai_chat.replies import answer_from_json, usage_from_json
from assay.agents.llm.openai_chat.requests import request_to_json
from assay.agents.llm.prices import Prices
from assay.agents.llm.tokens import estimate_prompt, estimate_tokens
from assay.harness.closing import Closing
from assay.harness.domain import Model
from assay.harness.errors import UserError

if TYPE_CHECKING:
    import httpx

ADDRESS_HINT = "write the address with the API's version, as https://host/v1"
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


class Endpoint(Model):
    """Address of a model API and how to use it."""

    base_url: str
    """Address with the version, ``https://host/v1``; the client appends ``/chat/completions``."""
    key_env: str = ""
    """Environment variable that holds the API key; empty for no key."""
    timeout: float = Field(default=600.0, gt=0)
    """Seconds for a whole answer."""
    connect_timeout: float = Field(default=10.0, gt=0)
    """Seconds to connect."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The endpoint's name for the limit on an answer's tokens; newer OpenAI models accept the second only."""


class ModelClient(Closing):
    """The model of an endpoint: one POST for each question, without retries or streaming; a context manager.

    Safe to use from several threads. ``calls.abort()`` releases every thread that waits for an answer.
    """

    def __init__(self, endpoint: Endpoint, prices: Prices | None = None) -> None:
        """Raises UserError if the address is not an HTTP URL, or the key's variable is not set."""
        self._endpoint = endpoint
        self._prices = prices or Prices()
        self._gives_one = False
        self._key = _key(endpoint.key_env)
        self._http = _open(endpoint, self._key)
        self.calls = Calls(self._http.aclose)

    def close(self) -> None:
        self.calls.close()

    def complete(self, request: Request) -> Answer:
        """Ask once. Raises ModelError; its ``spent`` estimates what is billed if the endpoint received the question.

        Several answers are wanted of the endpoint at once until it refuses that or gives fewer; then one at a time.
        """
        if request.wanted > 1 and self._gives_one:
            request = request.model_copy(update={"wanted": 1})
        try:
            answer = self._complete(request)
        except ContextTooLong:
            raise
        except RequestRefused:
            if request.wanted == 1:
                raise
            self._gives_one = True
            return self.complete(request)
        if len(answer.answers) < request.wanted:
            self._gives_one = True
        return answer

    def _complete(self, request: Request) -> Answer:
        start = time.monotonic()
        try:
            status, headers, text = self._post(request)
            if not 200 <= status < 300:  # some endpoints repeat the key in errors, and it must not reach a log
                raise make_model_error(status, headers, text.replace(self._key, "[key]") if self._key else text)
            answer = self._read(request, text)
        except ModelError as error:
            error.spent = self._add_price(request.model, error.spent)
            raise
        priced = _map_usage(answer, lambda each: self._add_price(request.model, each.usage))
        return priced.model_copy(update={"seconds": round(time.monotonic() - start, 3)})

    def _post(self, request: Request) -> tuple[int, dict[str, str], str]:
        import httpx

        left = float("inf") if request.deadline is None else request.deadline - time.monotonic()
        seconds = max(0.0, min(self._endpoint.timeout, left))
        body = {**request_to_json(request, limit_field=self._endpoint.limit_field), "stream": False}
        if request.wanted > 1:
            body["n"] = request.wanted
        content = json.dumps(body).encode()  # ASCII, so that texts with lone surrogates can be sent
        try:
            response = self.calls.run(self._http.post(_address(self._endpoint), content=content), seconds)
            return response.status_code, dict(response.headers), response.content.decode("utf-8", "replace")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ModelUnavailable(f"no connection to {self._endpoint.base_url}: {_reason(error)}") from error
        except TimeoutError as error:
            problem = f"no answer from {self._endpoint.base_url} within {round(seconds, 2):g} s"
            raise TooSlow(problem, spent=_estimate(request, "")) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            problem = f"the connection to {self._endpoint.base_url} broke: {_reason(error)}"
            raise ModelUnavailable(problem, spent=_estimate(request, "")) from error

    def _read(self, request: Request, text: str) -> Answer:
        """Read a reply. An unreadable one is billed by the usage it reports, or else by its length."""
        if is_web_page(text):
            raise NoChatModel(f"{self._endpoint.base_url} answers with a web page: {ADDRESS_HINT}", status=200)
        reply: JsonValue = None
        try:
            # Half a surrogate pair, which JSON can spell and no file holds, becomes a question mark.
            reply = json.loads(json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace"))
            _raise_error_in_body(reply, text)
            answer = answer_from_json(reply, request.wanted)
        except (MalformedBody, ValueError, RecursionError) as error:
            reported = usage_from_json(reply.get("usage") if isinstance(reply, dict) else None)
            spent = _estimate(request, text) if reported.estimated else reported
            reason = str(error) if isinstance(error, MalformedBody) else "it is not JSON"
            kind = NoChatModel if isinstance(error, NoReply) else BadAnswer
            problem = f"the answer of {self._endpoint.base_url} cannot be read: {reason}"
            raise kind(problem, status=200, spent=spent) from error
        if not answer.usage.estimated:
            return answer
        asked = _estimate(request, "").prompt_tokens
        return _map_usage(
            answer,
            lambda each: each.usage.model_copy(
                update={
                    "prompt_tokens": asked if each is answer else 0,
                    "completion_tokens": estimate_tokens(each.full_text),
                }
            ),
        )

    def _add_price(self, model: str, usage: TokenUsage) -> TokenUsage:
        if usage.cost is not None:
            return usage
        return usage.model_copy(update={"cost": self._prices.cost(model, usage)})


def _map_usage(answer: Answer, usage: Callable[[Answer], TokenUsage]) -> Answer:
    """Return an answer and its others with other figures."""
    others = tuple(each.model_copy(update={"usage": usage(each)}) for each in answer.others)
    return answer.model_copy(update={"usage": usage(answer), "others": others})


def _raise_error_in_body(reply: JsonValue, text: str) -> None:
    """Raise the error in a reply with status 200; some gateways put the real status into the body."""
    error = reply.get("error") if isinstance(reply, dict) and "choices" not in reply else None
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        raise make_model_error(code if isinstance(code, int) and 300 <= code < 600 else 502, {}, text)


def _estimate(request: Request, answer: str) -> TokenUsage:
    """Estimate the usage from the lengths of question and answer; the cost is unknown."""
    completion = estimate_tokens(answer)
    return TokenUsage(prompt_tokens=estimate_prompt(request), completion_tokens=completion, cost=None, estimated=True)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _address(endpoint: Endpoint) -> str:
    return endpoint.base_url.rstrip("/") + "/chat/completions"


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise UserError(f"the environment variable {variable} is not set; put the model's key there")
    if not (key.isascii() and key.isprintable()):
        raise UserError(f"the key in the environment variable {variable} has characters other than printable ASCII")
    return key


def _open(endpoint: Endpoint, key: str) -> "httpx.AsyncClient":
    import httpx

    try:
        parts = urlsplit(endpoint.base_url)
        is_http = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        httpx.URL(_address(endpoint))
    except (ValueError, httpx.InvalidURL):
        is_http = False
    if not is_http:
        raise UserError(f"{endpoint.base_url!r} is not the address of a model API; {ADDRESS_HINT}")
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    timeout = httpx.Timeout(None, connect=endpoint.connect_timeout)  # the whole call has a limit of its own
    # HTTP_PROXY and the like are for hosts other than this one.
    return httpx.AsyncClient(headers=headers, timeout=timeout, trust_env=parts.hostname not in _LOCAL_HOSTS)
