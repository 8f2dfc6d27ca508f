"""Which rows are taken: filters by hand, and samples whose proportions are those of the whole."""

from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.instances.dataset.select import RowFilter, RowToSelect, choose_sample
from changes import change
from toy import make_instance


def row(number: int, repo: str = "acme/calc", **columns: str) -> RowToSelect:
    return RowToSelect(make_instance(id=f"{repo.replace('/', '__')}-{number}", repo=repo), columns)


@pytest.mark.parametrize(
    ("wanted", "takes"),
    [
        (RowFilter(), True),
        (RowFilter(languages=frozenset({"go"})), False),
        (RowFilter(repos=frozenset({"acme/calc"})), True),
        (RowFilter(difficulties=frozenset({"easy"})), True),
        (RowFilter(difficulties=frozenset({"hard"})), False),
        (RowFilter(since=date(2024, 1, 2)), False),
        (RowFilter(until=date(2024, 1, 1)), True),
        (RowFilter(most_files=1), False),
        (RowFilter(most_files=2), True),
        (RowFilter(left_out=frozenset({"acme__calc-1"})), False),
    ],
)
def test_a_row_fits_or_not(wanted: RowFilter, takes: bool) -> None:
    gold = change("a.py", adds=["x = 1"]) + change("b.py", adds=["y = 1"])
    instance = make_instance(id="acme__calc-1", gold_patch=gold, created_at="2024-01-01T10:00:00Z")
    assert wanted.takes(RowToSelect(instance, {"difficulty": "easy"})) is takes


@given(
    sizes=st.dictionaries(st.sampled_from(["a/a", "b/b", "c/c", "d/d"]), st.integers(1, 20), min_size=1),
    number=st.integers(1, 60),
    seed=st.text(max_size=3),
)
def test_a_sample_keeps_proportions_to_the_row_and_is_always_the_same(
    sizes: dict[str, int], number: int, seed: str
) -> None:
    rows = [row(number, repo) for repo, size in sizes.items() for number in range(size)]
    chosen = choose_sample(rows, number, ["repo"], seed)
    assert chosen == choose_sample(rows[::-1], number, ["repo"], seed)[::-1]
    assert len(chosen) == min(number, len(rows))
    counts = Counter(each.instance.repo for each in chosen)
    for repo, size in sizes.items():
        assert abs(counts[repo] - len(chosen) * size / len(rows)) < 1
