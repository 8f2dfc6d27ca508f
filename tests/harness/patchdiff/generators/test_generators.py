import pytest

from assay.harness.errors import PluginError
from assay.harness.patchdiff.contract import Generator
from assay.harness.patchdiff.generators import GENERATORS, USUAL, find_generators


def test_generators_come_cheapest_first_and_once() -> None:
    assert list(find_generators(["replay", "suites", "replay"])) == ["suites", "replay"]


def test_every_known_generator_loads() -> None:
    found = find_generators(GENERATORS)
    assert all(isinstance(each, Generator) for each in found.values())
    assert [name for name, each in found.items() if not each.aims] == ["suites"]
    assert set(USUAL) < set(found)


@pytest.mark.parametrize(("names", "problem"), [(["magic"], "unknown generator"), ([], "no generator is named")])
def test_unknown_or_no_name_is_refused(names: list[str], problem: str) -> None:
    with pytest.raises(PluginError, match=problem):
        find_generators(names)


def test_plugin_that_is_no_generator_is_refused() -> None:
    with pytest.raises(PluginError, match="is no assay"):
        find_generators(["json:dumps"])
