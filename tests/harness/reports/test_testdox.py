import pytest

from assay.harness.reports.testdox import prettify
from tables import read_tables

TABLES = read_tables(__file__)


@pytest.mark.parametrize(("names", "prose"), TABLES["last_of_the_names_of_classes_and_methods"])
def test_last_of_the_names_of_classes_and_methods(names: list[str], prose: str) -> None:
    assert prettify(names) == (*names[:-1], prose)
