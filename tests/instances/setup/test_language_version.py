from datetime import date

import pytest

from assay.instances.setup.language_version import allows, choose_version, sort_versions

PYTHONS = ("3.6", "3.9", "3.11", "3.13")


@pytest.mark.parametrize(
    ("day", "requires", "named", "chosen"),
    [
        (date(2023, 6, 1), "", ("3.8", "3.9", "3.11"), "3.11"),
        (date(2022, 12, 1), "", ("3.9", "3.11"), "3.9"),  # 3.11 is a few weeks old
        (date(2022, 12, 1), "", ("3.7", "3.11"), "3.11"),  # nothing else is named
        (date(2019, 6, 1), "", ("2.7", "3.6", "3.7"), "3.6"),
        (date(2021, 6, 1), "", ("3.7", "3.8"), "3.9"),
        (date(2024, 6, 1), "", ("3.14",), "3.13"),
        (date(2021, 6, 1), ">=3.10", (), "3.11"),
        (date(2024, 6, 1), "<3.10", ("3.11",), "3.9"),
        (date(2024, 6, 1), "", ("3.x", "pypy3"), "3.11"),
        (date(2024, 6, 1), "==2.7", (), ""),
        (date(2024, 6, 1), "nonsense", (), "3.11"),
    ],
)
def test_version_is_the_newest_that_is_named_and_in_use(
    day: date, requires: str, named: tuple[str, ...], chosen: str
) -> None:
    assert choose_version("python", PYTHONS, day, requires=requires, named=named) == chosen


def test_a_bound_on_the_patch_release_allows_its_line() -> None:
    assert allows(">=3.9.2,<4", "3.9")
    assert not allows(">=3.10.1", "3.9")


def test_versions_are_ordered_as_numbers() -> None:
    assert sort_versions(["3.10", "3.9", "x", "3.9"]) == ["3.9", "3.10"]
