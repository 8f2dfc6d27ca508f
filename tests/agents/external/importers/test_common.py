from typing import Any

import pytest

from assay.agents.external.importers.common import (
    LooseModel,
    assemble,
    json_lines,
    non_empty,
    parse_arguments,
    plain_text,
)
from assay.agents.trajectory import AgentInfo, Step


class Line(LooseModel):
    type: str


def test_lines_that_are_no_known_objects_are_skipped() -> None:
    content = b'warning: x\n{"type": "a", "unknown": 1}\n{"kind": "b"}\n{torn\n  {"type": "c"}\n\xff'
    assert [line.type for line in json_lines(content, Line)] == ["a", "c"]


def test_file_without_a_known_object_raises() -> None:
    with pytest.raises(ValueError, match="no line that is a JSON object of a known kind"):
        list(json_lines(b"warning: x\n", Line))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("hi", "hi"),
        ([{"type": "text", "text": "a"}, "b", {"type": "image"}], 'a\nb\n{"type": "image"}'),
        ({"output": "é"}, '{"output": "é"}'),
    ],
)
def test_content_becomes_text(content: Any, text: str) -> None:
    assert plain_text(content) == text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("ls -l", {"text": "ls -l"}),
        ("[1]", {"text": "[1]"}),
        (None, {}),
        ([1], {}),
    ],
)
def test_arguments_become_an_object(arguments: Any, expected: dict[str, Any]) -> None:
    assert parse_arguments(arguments) == expected


def test_empty_fields_are_left_out() -> None:
    assert non_empty(a=0, b="", c=None, d=[], e={}, f=False) == {"a": 0, "f": False}
    assert non_empty(a="") is None


def test_steps_are_numbered_and_counted() -> None:
    agent = AgentInfo(name="toy", version="1")
    found = assemble(agent, [Step(source="user", message="a"), Step(source="agent", message="b")])
    assert [step.step_id for step in found.steps] == [1, 2]
    assert found.final_metrics is not None
    assert found.final_metrics.total_steps == 2
    with pytest.raises(ValueError, match="no step"):
        assemble(agent, [])
