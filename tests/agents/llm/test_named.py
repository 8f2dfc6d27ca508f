"""Models by role, as a person names them."""

import pytest

from assay.agents.llm.named import NamedModel, assign_models
from assay.harness.errors import UserError

BIG = NamedModel(name="big", model="acme/big-2", cost=2.0, calls=7)


def test_roles_and_the_rest_have_their_models() -> None:
    found = assign_models(["small", "editor=big", "value=a=b"], {"big": BIG})
    assert {role: each.endpoint_name for role, each in found.items()} == {
        "": "small",
        "editor": "acme/big-2",
        "value=a": "b",
    }
    assert (found["editor"].limits.cost, found["editor"].limits.calls, found[""].limits.cost) == (2.0, 7, None)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["=big"], "--model '=big' names no model; write --model NAME or --model ROLE=NAME"),
        (["editor="], "--model 'editor=' names no model"),
        (["a", "b"], "--model names two models for the whole run"),
        (["editor=a", "editor=b"], "--model names two models for the role editor"),
    ],
)
def test_wrong_texts_are_one_line(given: list[str], problem: str) -> None:
    with pytest.raises(UserError, match=f"^{problem}"):
        assign_models(given, {})
