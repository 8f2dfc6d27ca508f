from datetime import datetime, timedelta, timezone

import pytest

from assay.harness.domain import UNKNOWN_TIME
from assay.harness.errors import DataError
from assay.instances.dataset.formats.columns import origin
from samples import PLAIN, read


def test_a_column_that_holds_itself_is_named() -> None:
    column: list[object] = []
    column.append(column)
    with pytest.raises(DataError, match="a-1: field tags: holds itself; write it out"):
        origin("swebench", {"instance_id": "a-1", "tags": column}, {"instance_id"})


@pytest.mark.parametrize(
    "written",
    [
        "2020-01-02T03:04:05Z",
        "2020-01-02 03:04:05",
        "2020-01-02T04:04:05+01:00",
        1577934245000,
        datetime(2020, 1, 2, 4, 4, 5, tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_a_time_in_any_notation_is_read(written: object) -> None:
    assert read("swebench", created_at=written).created_at == PLAIN.created_at


def test_an_unknown_time_is_null() -> None:
    assert read("swebench", created_at=None).created_at == UNKNOWN_TIME
    assert read("multi-swe-bench").created_at == UNKNOWN_TIME


def test_a_test_named_twice_is_kept_once() -> None:
    assert read("swebench", FAIL_TO_PASS='["a", "a"]').fail_to_pass == ("a",)
