import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.differential.decide import (
    MIN_PROBES,
    Round,
    Seen,
    classify,
    confirmed,
    counted,
    finding_of,
    screen,
    stable,
)
from assay.harness.domain import MISSING, Divergence, Finding, Observation


def value(text: str, type_: str = "int") -> Observation:
    return Observation(kind="value", type=type_, text=text)


def error(type_: str) -> Observation:
    return Observation(kind="error", type=type_)


ONE, TWO, THREE = map(value, "123")
WRONG_KIND, BAD_VALUE = error("TypeError"), error("ValueError")


@pytest.mark.parametrize(
    ("base", "gold", "candidate", "mutated", "finding"),
    [
        (ONE, ONE, ONE, True, None),
        (ONE, TWO, TWO, True, None),
        (ONE, TWO, ONE, True, Finding.UNFIXED_LIKE_BASE),
        (ONE, ONE, TWO, True, Finding.CHANGED_UNRELATED),
        (ONE, TWO, THREE, True, Finding.DIVERGENT),
        (MISSING, TWO, THREE, True, Finding.DIVERGENT),
        (value("1"), value("1"), value("1", "bool"), False, Finding.CHANGED_UNRELATED),
        # An input that gold takes as of the wrong kind proves nothing about a patch that accepts it.
        (ONE, WRONG_KIND, TWO, True, Finding.GOLD_REJECTS),
        (WRONG_KIND, WRONG_KIND, TWO, True, Finding.GOLD_REJECTS),
        (ONE, WRONG_KIND, ONE, True, Finding.GOLD_REJECTS),
        (WRONG_KIND, ONE, WRONG_KIND, True, Finding.GOLD_REJECTS),
        # What worked before and with gold, and fails now, is no matter of taste.
        (ONE, ONE, WRONG_KIND, True, Finding.CHANGED_UNRELATED),
        # A developer's own input is of the right kind.
        (ONE, WRONG_KIND, ONE, False, Finding.UNFIXED_LIKE_BASE),
        # An error that tells of a bad value is a promise like any result.
        (ONE, BAD_VALUE, ONE, True, Finding.UNFIXED_LIKE_BASE),
        (BAD_VALUE, BAD_VALUE, ONE, True, Finding.CHANGED_UNRELATED),
    ],
)
def test_classes(
    base: Observation, gold: Observation, candidate: Observation, mutated: bool, finding: Finding | None
) -> None:
    assert classify(base, Seen(gold, mutated=mutated), candidate) is finding


@pytest.mark.parametrize(
    ("base", "gold", "candidate", "finding"),
    [
        # gold adds a column and keeps the order of the rows; the candidate turns it round
        ("Zeta /z, alpha /a", "Zeta GET /z, alpha GET /a", "alpha GET /a, Zeta GET /z", Finding.CHANGED_UNRELATED),
        ("one two three", "one two and three", "one and", Finding.CHANGED_UNRELATED),
        # of two faults gold mends both, the candidate one
        ("x, bad y, bad z", "x, y, z", "x, y, bad z", Finding.UNFIXED_LIKE_BASE),
        # both change the same place, each in its own way
        ("the result is 1", "the result is 2", "the result is 3", Finding.DIVERGENT),
        ("a b", "a new b", "a b other", Finding.DIVERGENT),
        ("0.5", "0.7", "1.7", Finding.DIVERGENT),
        ("", "one", "two", Finding.DIVERGENT),
    ],
)
def test_where_all_three_differ_the_part_that_gold_keeps_or_takes_out_tells(
    base: str, gold: str, candidate: str, finding: Finding
) -> None:
    assert classify(value(base), Seen(value(gold), mutated=True), value(candidate)) is finding


def test_parts_are_compared_among_values_of_one_type_only() -> None:
    gold, candidate = Seen(value("x, y, z", "tuple")), value("x, y, bad z")
    assert classify(value("x, bad y, bad z"), gold, candidate) is Finding.DIVERGENT


def seen(**observations: Observation) -> Round:
    return {key: Seen(each) for key, each in observations.items()}


def test_what_wavers_on_one_side_is_no_difference() -> None:
    two_rounds = [seen(a=ONE, b=ONE), seen(a=ONE, b=TWO)]
    assert set(stable(two_rounds)) == {"a"}
    steady = [seen(a=ONE, b=ONE)] * 2
    other = [seen(a=TWO, b=TWO)] * 2
    assert screen(two_rounds, steady, other).suspects == ("a",)


def test_gold_against_its_copy_is_noise_and_is_counted() -> None:
    gold, null, candidate = [seen(a=ONE)] * 2, [seen(a=TWO)] * 2, [seen(a=THREE)] * 2
    screened = screen(gold, null, candidate)
    assert screened.null_divergences == 1
    assert screened.suspects == ()


def test_only_probes_count_that_reach_a_target_on_both_sides_and_can_be_compared() -> None:
    gold = {"a": Seen(ONE, reached=False), "b": Seen(ONE), "c": Seen(ONE), "d": Seen(ONE)}
    candidate = {"a": Seen(TWO), "b": Seen(TWO, reached=False), "c": Seen(MISSING), "d": Seen(TWO)}
    assert screen([gold] * 2, [gold], [candidate] * 2).suspects == ("d",)
    first = counted({**gold, "f": Seen(ONE)}, {**candidate, "e": Seen(ONE), "f": Seen(ONE)})
    assert (first.apart, first.alike) == (("d",), ("f",))


def test_confirmation_needs_every_round_on_both_sides() -> None:
    gold, other = [seen(a=ONE)] * 20, [seen(a=TWO)] * 20
    assert confirmed("a", gold, other, 20)
    assert not confirmed("a", gold, other[:19], 20)
    assert not confirmed("a", gold, [*other[:19], seen(a=ONE)], 20)
    assert not confirmed("a", gold, [*other[:19], seen()], 20)


def divergence(finding: Finding) -> Divergence:
    return Divergence(finding=finding, generator="replay", probe="p", base=ONE, gold=ONE, candidate=TWO, confirmed=20)


@given(st.lists(st.sampled_from([Finding.REGRESSION, Finding.UNFIXED_LIKE_BASE, Finding.GOLD_REJECTS]), min_size=1))
def test_a_comparison_is_as_bad_as_its_hardest_divergence(findings: list[Finding]) -> None:
    order = list(Finding)
    assert finding_of([divergence(each) for each in findings], 0) is min(findings, key=order.index)


def test_silence_counts_only_with_enough_probes() -> None:
    assert finding_of([], MIN_PROBES) is Finding.NO_DIFFERENCE_FOUND
    assert finding_of([], MIN_PROBES - 1) is Finding.NOT_ASSESSED
