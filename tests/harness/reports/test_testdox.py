"""PHPUnit's prose."""

import pytest

from assay.harness.reports.testdox import prettify


@pytest.mark.parametrize(
    ("name", "prose"),
    [
        ("UrlGeneratorTest", "Url Generator"),
        (r"App\Tests\CartTest", "Cart"),
        ("App.CartTests", "Cart"),
        ("Url Generator", "Url Generator"),
        ("Test", "Test"),
        ("1", "1"),
    ],
)
def test_class_name(name: str, prose: str) -> None:
    assert prettify([name]) == (prose,)


@pytest.mark.parametrize(
    ("name", "prose"),
    [
        ("testBasicGeneration", "Basic generation"),
        ("test_basic_generation", "Basic generation"),
        ("testUtf8Names", "Utf 8 names"),
        ("testAdds with data set #1", "Adds with data set #1"),
        ("Basic generation", "Basic generation"),
        ("testing", "testing"),
    ],
)
def test_method_name(name: str, prose: str) -> None:
    assert prettify(["Cart", name]) == ("Cart", prose)
