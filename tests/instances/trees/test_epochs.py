from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.instances.trees.epochs import epochs

MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.timezones())


@pytest.mark.parametrize(
    ("moment", "starts"),
    [
        (datetime(2023, 4, 1, tzinfo=UTC), ["2023-04-01", "2023-04-01", "2023-04-01"]),
        (datetime(2023, 12, 31, 23, 59, tzinfo=UTC), ["2023-10-01", "2023-12-01", "2023-12-29"]),
        (datetime(2024, 2, 14, 5, tzinfo=UTC), ["2024-01-01", "2024-02-01", "2024-02-08"]),
        (datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), ["2023-10-01", "2023-12-01", "2023-12-29"]),
    ],
)
def test_epochs_are_the_starts_of_quarter_month_and_week(moment, starts):
    assert [f"{start:%Y-%m-%d}" for start in epochs(moment)] == starts


@given(MOMENTS)
def test_epochs_are_ordered_and_contain_the_moment(moment):
    quarter, month, week = epochs(moment)

    assert quarter <= month <= week <= moment < week + timedelta(days=7)
    assert epochs(quarter) == (quarter, quarter, quarter)
    assert epochs(week) == (quarter, month, week)
