import pytest

from assay.agents.llm.proxy.dialects.base import Route, RouteKind


@pytest.mark.parametrize(
    ("method", "path", "matches"),
    [
        ("POST", "/v1/models/toy:ask", True),
        ("POST", "/v1/models/org/toy:ask", True),
        ("GET", "/v1/models/toy:ask", False),
        ("POST", "/v1/models/:ask", False),
        ("POST", "/v1/models/toy:asked", False),
        ("POST", "/v2/v1/models/toy:ask", False),
        ("POST", "/v1/models/toy.ask", False),
    ],
)
def test_name_in_a_route_matches_any_text(method: str, path: str, matches: bool) -> None:
    assert Route("POST", "/v1/models/{model}:ask", RouteKind.ANSWER).matches(method, path) is matches


def test_dot_in_a_route_matches_a_dot_only() -> None:
    assert not Route("GET", "/v1.0/x", RouteKind.MODELS).matches("GET", "/v1a0/x")
