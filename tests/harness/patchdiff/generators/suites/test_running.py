import pytest

from assay.harness.patchdiff.generators.suites.running import is_style


@pytest.mark.parametrize(
    ("test", "style"),
    [
        ("sympy/testing/tests/test_code_quality.py::test_files", True),
        ("src/a.py::FLAKE8", True),
        ("tests/test_black.py::test_x", False),
        ("tests/test_styles.py::test_css", False),
        ("a.py::black", True),
        ("com.acme.CheckstyleTest::conforms", True),
    ],
)
def test_only_conventions_of_writing_count_as_style(test: str, style: bool) -> None:
    assert is_style(test) is style
