"""An endpoint that plays prepared replies."""

from collections.abc import Iterator

import pytest

from played_endpoint import Played, played_endpoint


@pytest.fixture
def endpoint() -> Iterator[Played]:
    with played_endpoint() as played:
        yield played


@pytest.fixture(autouse=True)
def _no_models_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
