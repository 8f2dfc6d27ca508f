import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.errors import AccessDenied, ContextTooLong, ModelError, ModelUnavailable, RequestRefused
from assay.agents.llm.http_errors import make_model_error
from assay.harness.errors import UserError
from tables import read_tables

TABLES = read_tables(__file__)

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_transient_statuses_are_model_unavailable(status: int) -> None:
    assert type(make_model_error(status, {}, "")) is ModelUnavailable


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_denied_statuses_are_user_errors(status: int) -> None:
    error = make_model_error(status, {}, '{"error": {"message": "no"}}')
    assert isinstance(error, AccessDenied)
    assert isinstance(error, UserError)
    assert not error.is_transient
    assert str(status) in str(error)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, '{"error": {"code": "context_length_exceeded", "message": "x"}}', ContextTooLong),
        (400, '{"error": {"type": "exceed_context_size_error", "message": "x"}}', ContextTooLong),
        (400, '{"object": "error", "message": "This model\'s maximum context length is 4096 tokens."}', ContextTooLong),
        (413, '{"error": "prompt is too long"}', ContextTooLong),
        (422, '{"detail": "the context window is full"}', ContextTooLong),
        (413, "too large", RequestRefused),
        (429, '{"error": {"message": "tokens per minute of this context window"}}', ModelUnavailable),
        (429, '{"error": {"code": "insufficient_quota", "message": "pay"}}', AccessDenied),
        (400, "", RequestRefused),
    ],
)
def test_text_separates_errors_of_one_status(status: int, text: str, kind: type[ModelError]) -> None:
    assert type(make_model_error(status, {}, text)) is kind


@pytest.mark.parametrize(("asked", "seconds"), TABLES["retry_after_is_a_number_or_a_date"])
def test_retry_after_is_a_number_or_a_date(asked: str, seconds: float) -> None:
    assert make_model_error(429, {"retry-after": asked}, "", now=NOW).retry_after == seconds


@given(st.integers(300, 599), st.text(), st.text())
def test_any_text_becomes_a_one_line_error(status: int, text: str, wait: str) -> None:
    error = make_model_error(status, {"retry-after": wait}, text, now=NOW)
    assert len(str(error)) < 600
    assert "\n" not in str(error)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "code", "detail", "type"]), inner)
        ),
    )
)
def test_any_json_becomes_an_error(body: object) -> None:
    assert isinstance(make_model_error(400, {}, json.dumps(body)), RequestRefused)
