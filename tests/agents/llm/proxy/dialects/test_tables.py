"""Bodies that dialects read and write: tables beside this file, one for each dialect."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.agents.llm.chat import Answer
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects import DIALECTS
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest

PATHS = {"messages": "/v1/messages", "responses": "/v1/responses", "gemini": "/v1beta/models/toy:generateContent"}
TABLES = {name: yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text()) for name in PATHS}
MADE = re.compile(r"[a-z]+_[0-9a-f]{24}(_\d+)?")
"""An id that depends on the question and the answer."""


def rows(section: str) -> list[Any]:
    return [
        pytest.param(name, row, id=f"{name}: {row.get('name') or row.get('words') or row['status']}")
        for name, table in TABLES.items()
        for row in table[section]
    ]


def parse(name: str, row: dict[str, Any]) -> ParsedRequest:
    base = {} if row.get("alone") else TABLES[name]["base"]
    return DIALECTS[name].parse(HttpRequest("POST", PATHS[name]), {**base, **row.get("body", {})})


def drop_made_ids(value: Any, made: list[str]) -> Any:
    if isinstance(value, dict):
        made += [each for each in value.values() if isinstance(each, str) and MADE.fullmatch(each)]
        return {key: drop_made_ids(each, made) for key, each in value.items() if each not in made}
    return [drop_made_ids(each, made) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("name", "row"), rows("requests"))
def test_body_is_read_as_the_request(name: str, row: dict[str, Any]) -> None:
    parsed = parse(name, row)
    expected = {**TABLES[name]["base_request"], **row.get("request", {})}
    assert parsed.request.model_dump(mode="json", exclude_defaults=True) == expected
    assert (parsed.samples, parsed.is_stream) == (row.get("samples", 1), row.get("is_stream", False))
    assert list(parsed.left_out) == row.get("left_out", [])
    assert sorted(parsed.freeform) == row.get("freeform", [])


@pytest.mark.parametrize(("name", "row"), rows("wrong"))
def test_wrong_field_is_named_in_one_line(name: str, row: dict[str, Any]) -> None:
    with pytest.raises(MalformedBody) as error:
        parse(name, row)
    assert row["words"] in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("name", "row"), rows("replies"))
def test_reply_holds_the_answers(name: str, row: dict[str, Any]) -> None:
    parsed, answers = parse(name, row), [Answer.model_validate(each) for each in row["answers"]]
    reply, made = DIALECTS[name].reply(parsed, answers), list[str]()
    assert drop_made_ids(json.loads(json.dumps(reply)), made) == row["reply"]
    assert made
    assert DIALECTS[name].reply(parsed, answers) == reply, "a replay repeats the ids"


@pytest.mark.parametrize(("name", "row"), rows("errors"))
def test_error_has_the_words_of_the_api(name: str, row: dict[str, Any]) -> None:
    assert DIALECTS[name].error_body(ApiError(row["status"], row["code"], "why")) == row["error"]
