import functools
import sys
from types import ModuleType

import pytest

from assay.harness.patchdiff.probe import lookup

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
    assert list(lookup.functions_at(MODULE, "plain")) == [plain]


def test_function_is_found_behind_decorators_and_properties(module: ModuleType) -> None:
    module.wrapped = functools.wraps(plain)(lambda: 0)  # type: ignore[attr-defined]
    module.Held = Held  # type: ignore[attr-defined]
    assert plain in lookup.functions_at(MODULE, "wrapped")
    assert {each.__name__ for each in lookup.functions_at(MODULE, "Held.size")} == {"size"}
    assert {each.__name__ for each in lookup.functions_at(MODULE, "Held.fixed")} == {"fixed"}


def test_unknown_name_raises() -> None:
    with pytest.raises(AttributeError):
        list(lookup.functions_at(MODULE, "absent"))
