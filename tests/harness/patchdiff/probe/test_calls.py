import functools
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from assay.harness.patchdiff.probe import calls

MODULE = "acme_lookup"


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, made)
    return made


def plain() -> int:
    return 1


class Held:
    @property
    def size(self) -> int:
        return 2

    @staticmethod
    def fixed() -> int:
        return 3


def test_function_is_found_by_its_name(module: ModuleType) -> None:
    module.plain = plain  # type: ignore[attr-defined]
    assert list(calls.find_functions(MODULE, "plain")) == [plain]


def test_function_is_found_behind_decorators_and_properties(module: ModuleType) -> None:
    module.wrapped = functools.wraps(plain)(lambda: 0)  # type: ignore[attr-defined]
    module.Held = Held  # type: ignore[attr-defined]
    assert plain in list[object](calls.find_functions(MODULE, "wrapped"))
    assert {each.__name__ for each in calls.find_functions(MODULE, "Held.size")} == {"size"}
    assert {each.__name__ for each in calls.find_functions(MODULE, "Held.fixed")} == {"fixed"}


def test_unknown_name_raises() -> None:
    with pytest.raises(AttributeError):
        list(calls.find_functions(MODULE, "absent"))


def called(first: Any, *rest: Any, key: Any = None, **more: Any) -> Any:
    return calls.get_arguments(sys._getframe())


def test_parameters_are_in_order_with_their_stars_and_arguments_are_those_of_the_call() -> None:
    assert calls.get_parameters(called.__code__) == ["first", "key", "*rest", "**more"]
    assert called(1, 2, key=3, other=4) == ((1, 2), {"key": 3, "other": 4})


def test_leaves_are_the_places_of_plain_data() -> None:
    leaves = calls.find_leaves((([1, "a"],), {"held": SimpleNamespace(size=2, _hidden=3)}))
    found = {leaf["value"]: leaf["path"] for leaf in leaves}
    assert found["'a'"] == [["item", 0], ["item", 0], ["item", 1]]
    assert found["2"] == [["item", 1], ["key", "'held'"], ["attribute", "size"]]
    assert "3" not in found


@pytest.mark.parametrize(
    ("root", "path", "wanted"),
    [
        ((1, [2, 3]), [["item", 1], ["item", 0]], (1, [9, 3])),
        ({"a": {"b": 1}}, [["key", "'a'"], ["key", "'b'"]], {"a": {"b": 9}}),
        ((1,), [], 9),
    ],
)
def test_value_at_a_place_is_replaced(root: Any, path: list[Any], wanted: Any) -> None:
    assert calls.replace_leaf(root, path, 9) == wanted


def test_attribute_is_replaced_in_its_object() -> None:
    held = SimpleNamespace(size=2)
    assert calls.replace_leaf(held, [["attribute", "size"]], 9) is held
    assert held.size == 9


def test_missing_place_raises() -> None:
    with pytest.raises(LookupError):
        calls.replace_leaf([1], [["item", 3]], 9)
