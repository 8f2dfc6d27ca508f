"""PHPUnit's prose."""

import pytest

from assay.harness.reports.testdox import prettify


@pytest.mark.parametrize(
    ("names", "prose"),
    [
        (["UrlGeneratorTest"], "Url Generator"),
        ([r"App\Tests\CartTest"], "Cart"),
        (["App.CartTests"], "Cart"),
        (["Url Generator"], "Url Generator"),
        (["Test"], "Test"),
        (["1"], "1"),
        (["Cart", "testBasicGeneration"], "Basic generation"),
        (["Cart", "test_basic_generation"], "Basic generation"),
        (["Cart", "testUtf8Names"], "Utf 8 names"),
        (["Cart", "testAdds with data set #1"], "Adds with data set #1"),
        (["Cart", "Basic generation"], "Basic generation"),
        (["Cart", "testing"], "testing"),
    ],
)
def test_last_of_the_names_of_classes_and_methods(names: list[str], prose: str) -> None:
    assert prettify(names) == (*names[:-1], prose)
