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
