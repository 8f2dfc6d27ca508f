import pytest

from samples import read


def test_lists_are_python_literals() -> None:
    instance = read("polybench")
    assert instance.fail_to_pass == ('a.test.ts->a: it\'s "two"', "b")
    assert instance.language == "typescript"


@pytest.mark.parametrize(
    ("language", "labels", "style"),
    [
        ("Python", ["tests/test_a.py:TestA:test_one"], "colons"),
        ("Python", ["tests/test_a.py:None:test_one[1]"], "colons"),
        ("Python", ["tests.test_a.TestA:test_one:"], "colons"),
        ("Python", ["tests/test_a.py::test_one"], ""),
        ("Java", ["org.shop.CartTest.adds"], "dot"),
        ("Java", ["org.shop.CartTest#adds"], ""),
        ("TypeScript", ["/testbed/src/a.test.ts->Cart adds"], "file_arrow"),
        ("JavaScript", ["Cart adds "], "padded"),
    ],
)
def test_labels_show_how_they_name_tests(language: str, labels: list[str], style: str) -> None:
    assert read("polybench", language=language, F2P=labels, P2P=[]).test_id == style
