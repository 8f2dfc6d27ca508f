"""Statistics against scipy's on random cases, and against values that were worked out by hand."""

from random import Random
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.harness.statistics import (
    Interval,
    Row,
    bootstrap_clusters,
    clopper_pearson,
    cost_per_resolved,
    holm,
    mcnemar,
    pass_all_k,
    pass_at_k,
    wilson,
)

pytestmark = pytest.mark.slow

CASES = 200
SAME = 1e-9


@pytest.fixture
def draw() -> Random:
    return Random(20261121)


def test_pass_at_k_and_pass_all_k_equal_scipys(draw: Random) -> None:
    for _ in range(CASES):
        n = draw.randint(1, 60)
        c, k = draw.randint(0, n), draw.randint(1, n)
        drawn = stats.hypergeom(n, c, k)  # how many of k samples, of n with c right ones, are right
        assert pass_at_k(n, c, k) == pytest.approx(float(drawn.sf(0)), abs=SAME)
        assert pass_all_k(n, c, k) == pytest.approx(float(drawn.pmf(k)), abs=SAME)


def test_clopper_pearson_equals_scipys(draw: Random) -> None:
    for _ in range(CASES // 4):
        n, confidence = draw.randint(1, 2000), draw.choice([0.8, 0.9, 0.95, 0.99])
        successes = draw.choice([0, n, draw.randint(0, n)])
        theirs = stats.binomtest(successes, n).proportion_ci(confidence, method="exact")
        ours = clopper_pearson(successes, n, confidence)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=SAME)
    assert clopper_pearson(0, 0) == Interval(estimate=0.0, low=0.0, high=1.0)


def test_wilson_equals_scipys(draw: Random) -> None:
    for _ in range(CASES):
        n, confidence = draw.randint(1, 2000), draw.choice([0.8, 0.9, 0.95, 0.99])
        successes = draw.randint(0, n)
        theirs = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
        ours = wilson(successes, n, confidence)
        assert ours.estimate == successes / n
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=SAME)


def test_mcnemar_equals_scipys(draw: Random) -> None:
    for _ in range(CASES):
        one, other = draw.randint(0, 200), draw.randint(0, 200)
        theirs = stats.binomtest(one, one + other, 0.5).pvalue if one + other else 1.0
        assert mcnemar(one, other) == pytest.approx(theirs, rel=1e-7, abs=0)


def test_holm_rejects_as_its_definition_does(draw: Random) -> None:
    """scipy has no Holm; its Benjamini-Hochberg controls less, so that it is never above."""
    for _ in range(CASES):
        raw = [draw.random() ** 4 for _ in range(draw.randint(1, 12))]
        adjusted = holm(raw)
        ordered = sorted(raw)
        for level in (0.01, 0.05, 0.2):
            kept = next((i for i, p in enumerate(ordered) if p > level / (len(raw) - i)), len(raw))
            assert sorted(p for p, new in zip(raw, adjusted, strict=True) if new <= level) == ordered[:kept]
        benjamini_hochberg = stats.false_discovery_control(raw)
        assert all(bh <= new + SAME for bh, new in zip(benjamini_hochberg, adjusted, strict=True))


def test_bootstrap_is_near_scipys(draw: Random) -> None:
    """Drawing whole clusters is drawing pairs of (sum, size), which scipy can do too."""
    for case in range(12):
        rows = {
            str(cluster): [(draw.choice([-1.0, 0.0, 0.0, 1.0]),) for _ in range(draw.randint(1, 40))]
            for cluster in range(draw.randint(6, 30))
        }
        sums = np.array([sum(value for (value,) in cluster) for cluster in rows.values()])
        sizes = np.array([len(cluster) for cluster in rows.values()])
        theirs = stats.bootstrap(
            (sums, sizes),
            lambda total, size, axis: total.sum(axis=axis) / size.sum(axis=axis),
            paired=True,
            method="percentile",
            n_resamples=10_000,
            rng=np.random.default_rng(case),
        )
        ours = bootstrap_clusters(rows, mean_of_sums, seed=case)
        width = theirs.confidence_interval.high - theirs.confidence_interval.low
        assert ours.estimate == pytest.approx(sums.sum() / sizes.sum())
        assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
        assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)


def mean_of_sums(sums: Row) -> float:
    return sums[0] / sums[-1]


def test_figures_worked_out_by_hand() -> None:
    assert pass_at_k(5, 2, 1) == pytest.approx(2 / 5)
    assert pass_at_k(5, 2, 2) == pytest.approx(1 - 3 / 10)
    assert pass_at_k(5, 2, 4) == 1
    assert pass_all_k(5, 2, 1) == 2 / 5
    assert pass_all_k(5, 2, 2) == 1 / 10
    assert pass_all_k(5, 2, 3) == 0
    assert mcnemar(0, 0) == 1
    assert mcnemar(3, 3) == 1
    assert mcnemar(0, 5) == 2 / 32
    assert mcnemar(1, 5) == pytest.approx(2 * (1 + 6) / 64)
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.9, 0.8]) == (1, 1)
    assert holm([]) == ()
    assert cost_per_resolved(12, 8) == 1.5
    assert cost_per_resolved(12, 0) is None
    assert wilson(0, 0) == Interval(estimate=0, low=0, high=1)
    assert wilson(250, 500).high - 0.5 == pytest.approx(0.0437, abs=1e-4)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, 1, 0), (3, 1, 4), (3, -1, 1)])
def test_impossible_samples_are_refused(n: int, c: int, k: int) -> None:
    for estimate in (pass_at_k, pass_all_k):
        with pytest.raises(ValueError, match="must be 0 <= c <= n and 1 <= k <= n"):
            estimate(n, c, k)


def test_impossible_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="4 of 3 is no rate"):
        wilson(4, 3)


@given(n=st.integers(1, 40), data=st.data())
def test_more_samples_raise_pass_at_k_and_lower_pass_all_k(n: int, data: st.DataObject) -> None:
    c = data.draw(st.integers(0, n))
    at_least_one = [pass_at_k(n, c, k) for k in range(1, n + 1)]
    all_of_them = [pass_all_k(n, c, k) for k in range(1, n + 1)]
    assert at_least_one == sorted(at_least_one)
    assert all_of_them == sorted(all_of_them, reverse=True)
    assert at_least_one[0] == pytest.approx(all_of_them[0]) == pytest.approx(c / n)


@given(n=st.integers(1, 3000), data=st.data())
def test_interval_contains_the_rate(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    found, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert found.low < found.high
    assert found.low == pytest.approx(1 - mirrored.high)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_adjusted_p_values_keep_their_order(raw: list[float]) -> None:
    adjusted = holm(raw)
    assert all(p <= new <= 1 for p, new in zip(raw, adjusted, strict=True))
    pairs = sorted(zip(raw, adjusted, strict=True))
    assert [new for _, new in pairs] == sorted(adjusted)


def test_bootstrap_with_the_same_seed_is_the_same() -> None:
    rows = {str(repo): [(float(repo % 3 == 0),)] * (repo + 1) for repo in range(8)}
    assert bootstrap_clusters(rows, mean_of_sums, seed=1) == bootstrap_clusters(rows, mean_of_sums, seed=1)
    assert bootstrap_clusters(rows, mean_of_sums, seed=1) != bootstrap_clusters(rows, mean_of_sums, seed=2)


def test_similar_results_within_clusters_widen_the_interval() -> None:
    """20 repositories of 25 instances, each all right or all wrong: 20 things were seen, not 500."""
    alike = {str(repo): [(float(repo % 2),)] * 25 for repo in range(20)}
    mixed = {str(repo): [(float(number % 2),) for number in range(25)] for repo in range(20)}
    alone = {f"{repo}-{number}": [(float(number % 2),)] for repo in range(20) for number in range(25)}
    widths = [found.high - found.low for found in (bootstrap_clusters(r, mean_of_sums) for r in (alike, mixed, alone))]
    assert widths[0] > 0.35
    assert widths[1] < 0.01
    assert 0.07 < widths[2] < 0.1


def test_single_cluster_is_drawn_from_by_row() -> None:
    found = bootstrap_clusters({"only": [(0.0,), (1.0,)] * 50}, mean_of_sums)
    assert found.estimate == 0.5
    assert 0.35 < found.low < 0.45
    assert 0.55 < found.high < 0.65


def test_bootstrap_of_no_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="no row"):
        bootstrap_clusters({"empty": []}, mean_of_sums)


def test_bootstrap_of_500_instances_is_fast() -> None:
    rows = {str(number): [(float(number % 3 == 0),)] for number in range(500)}
    start = perf_counter()
    bootstrap_clusters(rows, mean_of_sums)
    assert perf_counter() - start < 10
