"""What a data set is like: counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import UNKNOWN_TIME
from assay.instances.dataset.profile import DATE, DatasetProfile, Distribution, count_larger, profile
from changes import change
from toy import GOLD, make_instance


@pytest.fixture
def found() -> DatasetProfile:
    two = GOLD + change("b.py", adds=["x = 1", "y = 2"])
    long = " ".join(["word"] * 100)
    ours = [
        make_instance(id="a-1", problem_statement=long),
        make_instance(id="a-2", gold_patch=two, problem_statement=f"Fix: {long}", fail_to_pass=("t::1", "t::2")),
        make_instance(id="a-3", gold_patch="no patch", created_at=UNKNOWN_TIME, repo="Acme/Calc"),
    ]
    theirs = [make_instance(id="b-1", repo="b/b", language="go", problem_statement="add [bug](https://a.example/1)")]
    return profile({"ours": ours, "theirs": theirs})


def of(found: DatasetProfile, name: str) -> tuple[Distribution | None, ...]:
    return next(each.values for each in found.measures if each.measure == name)


def test_measures_are_those_of_a_count_by_hand(found: DatasetProfile) -> None:
    assert (found.instances, found.repositories, found.largest_repository) == ((3, 1), (1, 1), (3, 1))
    ours, theirs = of(found, "lines of the fix")
    assert ours == Distribution(n=2, mean=3, low=2.5, median=3, high=3.5), "a patch that cannot be read has none"
    assert theirs is not None
    assert theirs.median == 2
    ours, _ = of(found, "fail-to-pass tests")
    assert ours is not None
    assert (ours.n, ours.mean) == (3, 4 / 3)
    ours, _ = of(found, DATE)
    assert ours is not None
    assert ours.n == 2, "a row without a date has none"


def test_properties_languages_and_types_are_counted(found: DatasetProfile) -> None:
    shares = {each.name: each.rows for each in (*found.properties, *found.languages, *found.types)}
    assert shares["only links or pictures"] == (0, 1)
    assert (shares["python"], shares["go"]) == ((3, 0), (0, 1))
    assert shares["bug_fix"][0] == 1


def test_an_empty_side_has_no_figure() -> None:
    alone = profile({"a": [make_instance(gold_patch="no patch")]})
    assert of(alone, "files of the fix") == (None,)
    assert all(each.second_larger is None for each in alone.measures)


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_share_of_larger_ones_is_that_of_all_pairs(first: list[int], second: list[int]) -> None:
    pairs = [(a < b) + (a == b) / 2 for a in first for b in second]
    assert count_larger(sorted(first), sorted(second)) == pytest.approx(sum(pairs) / len(pairs))
