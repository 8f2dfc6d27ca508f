import pytest

from assay.agents.llm.chat import Message, Part, Request, Speaker
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ParsedRequest, Route, RouteKind
from tables import read_tables

TABLES = read_tables(__file__)


@pytest.mark.parametrize(("method", "path", "matches"), TABLES["name_in_a_route_matches_any_text"])
def test_name_in_a_route_matches_any_text(method: str, path: str, matches: bool) -> None:
    assert Route("POST", "/v1/models/{model}:ask", RouteKind.ANSWER).matches(method, path) is matches


def test_dot_in_a_route_matches_a_dot_only() -> None:
    assert not Route("GET", "/v1.0/x", RouteKind.MODELS).matches("GET", "/v1a0/x")


def asked(part: dict[str, object]) -> ParsedRequest:
    content = (Part.model_validate({"type": "text", "text": "see"}), Part.model_validate(part))
    return ParsedRequest(Request(model="toy", messages=(Message(role=Speaker.USER, content=content),)))


@pytest.mark.parametrize("part", TABLES["part_that_brings_its_content_along_passes"])
def test_part_that_brings_its_content_along_passes(part: dict[str, object]) -> None:
    assert asked(part).request.messages[0].content[1] == Part.model_validate(part)


@pytest.mark.parametrize("part", TABLES["part_that_names_something_to_fetch_is_refused"])
def test_part_that_names_something_to_fetch_is_refused(part: dict[str, object]) -> None:
    with pytest.raises(MalformedBody, match="must bring its content along"):
        asked(part)


@pytest.mark.parametrize("kind", ["video_url", "audio_url", "input_image", "IMAGE_URL", "x" * 1000])
def test_part_of_another_type_is_refused(kind: str) -> None:
    with pytest.raises(MalformedBody, match="is not supported"):
        asked({"type": kind, kind: {"url": "https://x/y"}})
