from datetime import UTC, date, datetime

import pytest

from assay.harness.domain import Recipe, Service
from assay.instances.environments.pins.cutoff import cutoffs, service_cutoff
from toy import make_instance


@pytest.mark.parametrize(
    ("created", "python", "days", "expected"),
    [
        (datetime(2023, 4, 14, 16, 36, 54, tzinfo=UTC), "3.11", 0, "2023-04-14T16:36:54Z"),
        (datetime(2023, 4, 14), "3.11", 3, "2023-04-17T00:00:00Z"),
        (datetime(2016, 1, 1, tzinfo=UTC), "3.9", 0, "2021-01-03T00:00:00Z"),  # Python 3.9 came in October 2020
        (datetime(2016, 1, 1, tzinfo=UTC), "2.7", 0, "2016-01-01T00:00:00Z"),
    ],
)
def test_the_cut_off_of_stated_days_is_exact_but_not_before_its_toolchain(created, python, days, expected):
    assert cutoffs(make_instance(created_at=created), Recipe(toolchain=python, cutoff_days=days)) == (expected,)


def test_a_cut_off_is_first_one_that_neighbours_share_and_dates_before_the_toolchain_fall_together():
    at, early = datetime(2023, 5, 30, 16, 0, tzinfo=UTC), datetime(2020, 12, 30, tzinfo=UTC)
    assert cutoffs(make_instance(created_at=early), Recipe(toolchain="3.9")) == ("2021-01-03T00:00:00Z",)
    assert cutoffs(make_instance(created_at=at), Recipe(toolchain="3.11")) == (
        "2023-04-01T00:00:00Z",
        "2023-05-01T00:00:00Z",
        "2023-05-29T00:00:00Z",
        "2023-05-30T16:00:00Z",
    )


@pytest.mark.parametrize(
    ("as_of", "tests", "expected"),
    [
        (None, "2022-05-01T00:00:00Z", "2023-01-22T00:00:00Z"),  # Python 3.11 came in October 2022
        (None, "2023-05-01T00:00:00Z", "2023-05-01T00:00:00Z"),
        (date(2024, 6, 1), "2022-05-01T00:00:00Z", "2024-06-01T00:00:00Z"),
    ],
)
def test_a_services_packages_are_of_its_own_day_or_as_old_as_its_python_allows(as_of, tests, expected):
    service = Service(name="echo.example.org", command="exec echo", port=80, as_of=as_of)
    assert service_cutoff(service, tests, Recipe(toolchain="3.11")) == expected
