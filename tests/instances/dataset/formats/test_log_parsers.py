import pytest

from assay.instances.dataset.formats import swebench, write
from samples import read


@pytest.mark.parametrize(
    ("parser", "log_format", "language"),
    [
        ("parse_log_pytest", "pytest_text", "python"),
        ("parse_log_xarray", "pytest_text", "python"),
        ("parse_log_django", "unittest_text", "python"),
        ("parse_log_sympy", "sympy_text", "python"),
        ("parse_log_gotest", "go_text", "go"),
        ("parse_log_new", "parse_log_new", "python"),
        ("", "", "python"),
        (None, "pytest_text", "python"),
    ],
)
def test_a_parsers_name_gives_log_format_and_language(parser: str | None, log_format: str, language: str) -> None:
    instance = read("swebench", log_parser=parser, language=None)
    assert (instance.log_format, instance.language) == (log_format, language)


def test_a_synonym_of_a_parser_is_written_back() -> None:
    assert write(swebench, read("swebench", log_parser="parse_log_seaborn"))["log_parser"] == "parse_log_seaborn"
