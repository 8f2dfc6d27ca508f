from typing import Any

import pytest
from pydantic import ValidationError

from assay.agents.solvers.ast_search.places import BugLocation, NextStep, describe_location, find_places
from assay.agents.solvers.shared.code_search import CodeSearch
from assay.agents.solvers.shared.codebase import Codebase

SHOP = """\
class Shop:
    def price(self, count):
        return count * 4


def total(shop, counts):
    return sum(map(shop.price, counts))
"""
FILES = {"shop.py": SHOP, "tests/test_shop.py": "from shop import total\n"}


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ({"file": "shop.py", "class": "Shop", "method": "price", "intended_behavior": "charge 3"}, ["Shop.price"]),
        ({"method": "total"}, ["total"]),
        ({"file": "shop.py", "class": "Shop", "method": "nothing"}, ["Shop"]),
        ({"file": "shop.py", "class": "Nobody"}, [""]),
        ({"file": "/testbed/shop.py", "class": None, "method": "Shop.price"}, ["Shop.price"]),
        ({"file": "till.py", "method": "price"}, []),
        ({}, []),
    ],
)
def test_find_places_returns_the_narrowest_existing_place(location: dict[str, Any], found: list[str]) -> None:
    search = CodeSearch(Codebase(FILES, "python"))
    assert [each.owner for each in find_places(search, BugLocation.model_validate(location))] == found


def test_next_step_needs_calls_or_locations() -> None:
    assert NextStep.model_validate({"API_calls": ["search_class('A')"]}).bug_locations == ()
    with pytest.raises(ValidationError, match="neither API_calls nor bug_locations"):
        NextStep.model_validate({"answer": "42"})


def test_spelled_joins_the_named_parts() -> None:
    location = BugLocation.model_validate({"file": "a.py", "class": None, "method": "run"})
    assert describe_location(location) == "a.py run"
    assert describe_location(BugLocation()) == "(no name)"
