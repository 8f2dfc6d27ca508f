from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from assay.agents.llm.json_fields import (
    MalformedBody,
    describe_invalid,
    require_list,
    require_object,
    require_objects,
    require_text,
    text_or_empty,
)


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        (require_list, [1], [1]),
        (require_object, {"a": 1}, {"a": 1}),
        (require_objects, None, []),
        (require_objects, [{}], [{}]),
    ],
)
def test_value_of_the_right_type_is_returned(read: Callable[..., Any], value: Any, expected: Any) -> None:
    assert read(value, "tools") == expected


@pytest.mark.parametrize(
    ("read", "value", "problem"),
    [
        (require_list, None, "field tools must be a list"),
        (require_object, [], "field tools must hold JSON objects"),
        (require_objects, "x", "field tools must be a list"),
        (require_objects, [{}, 1], "field tools must hold JSON objects"),
    ],
)
def test_value_of_another_type_raises_with_the_field(read: Callable[..., Any], value: Any, problem: str) -> None:
    with pytest.raises(MalformedBody, match=problem):
        read(value, "tools")


def test_text_field_is_required_or_empty() -> None:
    assert require_text({"name": "run"}, "name") == text_or_empty({"name": "run"}, "name") == "run"
    assert text_or_empty({"name": 3}, "name") == ""
    with pytest.raises(MalformedBody, match="field name must be a string"):
        require_text({}, "name")


def test_validation_error_is_described_by_its_first_field_in_one_line() -> None:
    class Inner(BaseModel):
        count: int

    class Outer(BaseModel):
        items: list[Inner]

    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"items": [{"count": 1}, {"count": "many"}]})
    assert describe_invalid(caught.value).startswith("field items.1.count: ")
    assert describe_invalid(ValueError("one\ntwo")) == "one"
