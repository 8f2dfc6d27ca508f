import pytest

from assay.harness.errors import DataError
from assay.harness.reports import FORMATS as REPORTS
from assay.harness.reports import IDS
from assay.instances.dataset.formats import FORMATS, write
from assay.instances.dataset.formats.rebench_parsers import COVERED, why_not
from samples import read, rows


def test_times_are_milliseconds() -> None:
    row = rows("swe-rebench")[0]
    assert write(FORMATS["swe-rebench"], read("swe-rebench"))["created_at"] == row["created_at"]


@pytest.mark.parametrize(
    ("parser", "log_format", "test_id"),
    [
        ("parse_log_cargo", "cargo_text", "node"),
        ("parse_log_pytest_v2", "pytest_text", ""),
        ("parse_log_ruby_v2", "minitest_text", "method"),
        ("parse_log_kotlin_junit", "maven_classes_text", "class_of"),
        ("parse_log_something_new", "parse_log_something_new", ""),
    ],
)
def test_a_parsers_name_gives_log_format_and_names_of_tests(parser: str, log_format: str, test_id: str) -> None:
    instance = read("swe-rebench", install_config={"log_parser": parser})
    assert (instance.log_format, instance.test_id) == (log_format, test_id)
    assert write(FORMATS["swe-rebench"], instance)["install_config"]["log_parser"] == parser


@pytest.mark.parametrize(
    ("labels", "how"),
    [
        (["org.shop.CartTest"], ("maven_classes_text", "class_of")),
        (["CartTest#adds", "CartTest"], ("maven_text", "method")),
    ],
)
@pytest.mark.parametrize("parser", ["parse_log_maven", "parse_java_mvn"])
def test_labels_of_maven_are_classes_or_methods(parser: str, labels: list[str], how: tuple[str, str]) -> None:
    row = {"language": "java", "install_config": {"log_parser": parser}, "FAIL_TO_PASS": labels, "PASS_TO_PASS": []}
    instance = read("swe-rebench", 0, **row)
    assert (instance.log_format, instance.test_id) == how
    assert FORMATS["swe-rebench"].to_instance(write(FORMATS["swe-rebench"], instance), instance.dataset) == instance


@pytest.mark.parametrize(
    ("parser", "reason"),
    [
        ("parse_log_dart_v2", "reads tests of Dart, which is no language of Assay"),
        ("parse_logs_r_junit", "reads tests of R, which is no language of Assay"),
        ("parse_log_cucumber", "names tests in a way that Assay does not know"),
    ],
)
def test_a_parser_that_assay_cannot_follow_is_refused_by_name(parser: str, reason: str) -> None:
    with pytest.raises(DataError) as caught:
        read("swe-rebench", install_config={"log_parser": parser})
    assert str(caught.value) == f"acme__sums-1: field install_config.log_parser: {parser} {reason}"


def test_covered_parsers_name_formats_and_styles_that_there_are() -> None:
    assert {each.log_format for each in COVERED.values()} <= set(REPORTS)
    assert {each.test_id for each in COVERED.values()} - {""} <= set(IDS)
    assert all(not why_not(name) for name in COVERED)
