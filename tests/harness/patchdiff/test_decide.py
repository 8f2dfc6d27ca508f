import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import MISSING, Divergence, PatchDiffFinding, ProbeObservation
from assay.harness.patchdiff.decide import (
    MIN_PROBES,
    Round,
    Sighting,
    classify,
    conclude,
    find_stable,
    make_divergence,
    screen,
    soften_lone,
    split,
)


def value(text: str, type_: str = "int") -> ProbeObservation:
    return ProbeObservation(kind="value", type=type_, text=text)


def error(type_: str) -> ProbeObservation:
    return ProbeObservation(kind="error", type=type_)


ONE, TWO, THREE = map(value, "123")
WRONG_KIND, BAD_VALUE = error("TypeError"), error("ValueError")


@pytest.mark.parametrize(
    ("base", "gold", "candidate", "mutated", "finding"),
    [
        (ONE, ONE, ONE, True, None),
        (ONE, TWO, TWO, True, None),
        (ONE, TWO, ONE, True, PatchDiffFinding.UNFIXED_LIKE_BASE),
        (ONE, ONE, TWO, True, PatchDiffFinding.CHANGED_UNRELATED),
        (ONE, TWO, THREE, True, PatchDiffFinding.DIVERGENT),
        (MISSING, TWO, THREE, True, PatchDiffFinding.DIVERGENT),
        (value("1"), value("1"), value("1", "bool"), False, PatchDiffFinding.CHANGED_UNRELATED),
        # An input that gold takes as of the wrong kind proves nothing about a patch that accepts it.
        (ONE, WRONG_KIND, TWO, True, PatchDiffFinding.GOLD_REJECTS),
        (WRONG_KIND, WRONG_KIND, TWO, True, PatchDiffFinding.GOLD_REJECTS),
        (ONE, WRONG_KIND, ONE, True, PatchDiffFinding.GOLD_REJECTS),
        (WRONG_KIND, ONE, WRONG_KIND, True, PatchDiffFinding.GOLD_REJECTS),
        # What worked before and with gold, and fails now, is no matter of taste.
        (ONE, ONE, WRONG_KIND, True, PatchDiffFinding.CHANGED_UNRELATED),
        # A developer's own input is of the right kind.
        (ONE, WRONG_KIND, ONE, False, PatchDiffFinding.UNFIXED_LIKE_BASE),
        # An error about a bad value is part of the contract, like any result.
        (ONE, BAD_VALUE, ONE, True, PatchDiffFinding.UNFIXED_LIKE_BASE),
        (BAD_VALUE, BAD_VALUE, ONE, True, PatchDiffFinding.CHANGED_UNRELATED),
    ],
)
def test_observations_are_classified(
    base: ProbeObservation,
    gold: ProbeObservation,
    candidate: ProbeObservation,
    mutated: bool,
    finding: PatchDiffFinding | None,
) -> None:
    assert classify(base, Sighting(gold, mutated=mutated), candidate) is finding


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("'a'", "b'a'", PatchDiffFinding.GOLD_REJECTS),
        ("3", "'3'", PatchDiffFinding.GOLD_REJECTS),
        ("'a'", "['a']", PatchDiffFinding.GOLD_REJECTS),
        ("[1, 2]", "[[1, 2]]", PatchDiffFinding.GOLD_REJECTS),
        ("3", "object()", PatchDiffFinding.GOLD_REJECTS),
        # A value that is left out, or that was not given before, and other kinds of iterables, are what code may get.
        ("'a'", "None", PatchDiffFinding.CHANGED_UNRELATED),
        ("None", "3", PatchDiffFinding.CHANGED_UNRELATED),
        ("[1, 'a']", "[1]", PatchDiffFinding.CHANGED_UNRELATED),
        ("[1, 2]", "iter([1, 2])", PatchDiffFinding.CHANGED_UNRELATED),
        ("'a'", "''", PatchDiffFinding.CHANGED_UNRELATED),
        ("a, b", "b, a", PatchDiffFinding.CHANGED_UNRELATED),
        ("", ", 'b'", PatchDiffFinding.CHANGED_UNRELATED),
    ],
)
def test_candidate_may_reject_a_value_of_another_type_only(old: str, new: str, finding: PatchDiffFinding) -> None:
    seen = Sighting(ONE, mutated=True, changes=[["somewhere", old, new]])
    assert classify(ONE, seen, WRONG_KIND) is finding
    assert classify(ONE, seen, TWO) is PatchDiffFinding.CHANGED_UNRELATED


@pytest.mark.parametrize(
    ("base", "gold", "candidate", "finding"),
    [
        # gold adds a column and keeps the order of the rows; the candidate turns it round
        (
            "Zeta /z, alpha /a",
            "Zeta GET /z, alpha GET /a",
            "alpha GET /a, Zeta GET /z",
            PatchDiffFinding.CHANGED_UNRELATED,
        ),
        ("one two three", "one two and three", "one and", PatchDiffFinding.CHANGED_UNRELATED),
        # of two faults gold fixes both, the candidate one
        ("x, bad y, bad z", "x, y, z", "x, y, bad z", PatchDiffFinding.UNFIXED_LIKE_BASE),
        # both change the same place, each in its own way
        ("the result is 1", "the result is 2", "the result is 3", PatchDiffFinding.DIVERGENT),
        ("a b", "a new b", "a b other", PatchDiffFinding.DIVERGENT),
        ("0.5", "0.7", "1.7", PatchDiffFinding.DIVERGENT),
        ("", "one", "two", PatchDiffFinding.DIVERGENT),
    ],
)
def test_where_all_three_differ_the_part_that_gold_keeps_or_takes_out_tells(
    base: str, gold: str, candidate: str, finding: PatchDiffFinding
) -> None:
    assert classify(value(base), Sighting(value(gold), mutated=True), value(candidate)) is finding


@pytest.mark.parametrize(
    ("base", "gold", "candidate", "finding"),
    [
        (WRONG_KIND, ONE, BAD_VALUE, PatchDiffFinding.UNFIXED_LIKE_BASE),
        (ONE, BAD_VALUE, TWO, PatchDiffFinding.UNFIXED_LIKE_BASE),
        (error("KeyError"), BAD_VALUE, ONE, PatchDiffFinding.CHANGED_UNRELATED),
        (ONE, TWO, BAD_VALUE, PatchDiffFinding.CHANGED_UNRELATED),
        (BAD_VALUE, ONE, TWO, PatchDiffFinding.DIVERGENT),
        (ONE, BAD_VALUE, error("KeyError"), PatchDiffFinding.DIVERGENT),
        (MISSING, ONE, BAD_VALUE, PatchDiffFinding.DIVERGENT),
    ],
)
def test_where_all_three_differ_the_one_that_alone_raises_or_alone_does_not_decides(
    base: ProbeObservation, gold: ProbeObservation, candidate: ProbeObservation, finding: PatchDiffFinding
) -> None:
    assert classify(base, Sighting(gold, mutated=True), candidate) is finding


@pytest.mark.parametrize(
    ("base", "gold", "candidate", "finding"),
    [
        ("list", "tuple", "list", PatchDiffFinding.UNFIXED_LIKE_BASE),
        ("list", "list", "tuple", PatchDiffFinding.CHANGED_UNRELATED),
        ("list", "tuple", "tuple", PatchDiffFinding.DIVERGENT),
        ("list", "tuple", "set", PatchDiffFinding.DIVERGENT),
    ],
)
def test_where_all_three_differ_the_one_that_alone_has_another_type_decides(
    base: str, gold: str, candidate: str, finding: PatchDiffFinding
) -> None:
    seen = Sighting(value("x, y, z", gold))
    assert classify(value("x, bad y, bad z", base), seen, value("x, y, bad z", candidate)) is finding


def seen(**observations: ProbeObservation) -> Round:
    return {key: Sighting(each, "f") for key, each in observations.items()}


def test_flaky_probe_is_no_difference() -> None:
    two_rounds = [seen(a=ONE, b=ONE), seen(a=ONE, b=TWO)]
    assert set(find_stable(two_rounds)) == {"a"}
    assert find_stable([seen(a=ONE)] * 19 + [seen()]) == find_stable([]) == {}
    steady = [seen(a=ONE, b=ONE)] * 2
    other = [seen(a=TWO, b=TWO)] * 2
    assert screen(two_rounds, steady, other)[1] == ["a"]


def test_difference_of_gold_and_its_copy_is_counted_as_noise() -> None:
    gold, null, candidate = [seen(a=ONE)] * 2, [seen(a=TWO)] * 2, [seen(a=THREE)] * 2
    assert screen(gold, null, candidate) == (1, [])


def test_probe_counts_only_if_it_reaches_a_target_on_both_sides() -> None:
    gold = {**seen(b=ONE, c=ONE, d=ONE), "a": Sighting(ONE)}
    candidate = {**seen(a=TWO, c=MISSING, d=TWO), "b": Sighting(TWO)}
    assert screen([gold] * 2, [gold], [candidate] * 2)[1] == ["d"]
    apart = split({**gold, **seen(f=ONE)}, {**candidate, **seen(e=ONE, f=ONE)})
    assert apart == (["d"], ["f"])


def divergence(finding: PatchDiffFinding) -> Divergence:
    return Divergence(finding=finding, generator="replay", probe="p", base=ONE, gold=ONE, candidate=TWO, confirmed=20)


@given(
    st.lists(
        st.sampled_from(
            [PatchDiffFinding.REGRESSION, PatchDiffFinding.UNFIXED_LIKE_BASE, PatchDiffFinding.GOLD_REJECTS]
        ),
        min_size=1,
    )
)
def test_comparison_has_the_finding_of_its_most_severe_divergence(findings: list[PatchDiffFinding]) -> None:
    order = list(PatchDiffFinding)
    assert conclude([divergence(each) for each in findings], 0) is min(findings, key=order.index)


def test_no_difference_needs_enough_probes() -> None:
    assert conclude([], MIN_PROBES) is PatchDiffFinding.NO_DIFFERENCE_FOUND
    assert conclude([], MIN_PROBES - 1) is PatchDiffFinding.NOT_ASSESSED


def test_what_all_pages_have_does_not_hide_the_part_that_is_like_base() -> None:
    around = "\n".join(f"<td>cell {number}</td>" for number in range(3000))
    base, gold, candidate = (
        value(f"{around}\n<h1>{head}</h1>\n<h2>{name}</h2>", "str")
        for head, name in (("Old title", "profiles"), ("New title", "s"), ("Another title", "profiles"))
    )
    assert classify(base, Sighting(gold, mutated=True), candidate) is PatchDiffFinding.UNFIXED_LIKE_BASE


def test_lone_difference_on_a_changed_input_is_undecided() -> None:
    one = make_divergence("amplify", "t.py::test|m1|s0#1", ONE, Sighting(ONE, mutated=True), TWO, 20)
    another, plain = (one.model_copy(update=more) for more in ({"probe": "t.py::test|m2|s0#1"}, {"mutated": False}))
    assert one.finding is PatchDiffFinding.CHANGED_UNRELATED
    assert [each.finding for each in soften_lone([one])] == [PatchDiffFinding.DIVERGENT]
    assert soften_lone([one, another]) == [one, another]
    assert soften_lone([plain]) == [plain]
    assert soften_lone([]) == []
