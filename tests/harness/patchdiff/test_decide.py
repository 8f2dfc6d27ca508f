from typing import Any

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
from tables import read_tables


def value(text: str, type_: str = "int") -> ProbeObservation:
    return ProbeObservation(kind="value", type=type_, text=text)


def error(type_: str) -> ProbeObservation:
    return ProbeObservation(kind="error", type=type_)


ONE, TWO, THREE = map(value, "123")
WRONG_KIND = error("TypeError")
CASES = read_tables(__file__)


def read(shown: str | dict[str, str]) -> ProbeObservation:
    """Read an observation of the table."""
    if isinstance(shown, str):
        return MISSING if shown == "missing" else value(shown)
    ((kind, text),) = shown.items()
    return error(text) if kind == "error" else value(text, kind)


@pytest.mark.parametrize("case", CASES["observations"], ids=str)
def test_observations_are_classified(case: dict[str, Any]) -> None:
    base, gold, candidate = (read(case[side]) for side in ("base", "gold", "candidate"))
    more = {"promised": case.get("promised", False), "operator": case.get("operator", "")}
    assert classify(base, Sighting(gold, mutated=case.get("changed", True), **more), candidate) == case["finding"]


@pytest.mark.parametrize("case", CASES["edits"], ids=str)
def test_candidate_may_reject_a_value_of_another_type_only(case: dict[str, str]) -> None:
    seen = Sighting(ONE, mutated=True, changes=[["somewhere", case["old"], case["new"]]])
    assert classify(ONE, seen, WRONG_KIND) == case["finding"]
    assert classify(ONE, seen, TWO) is PatchDiffFinding.CHANGED_UNRELATED


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
    seen = {"generator": "replay", "probe": "p", "base": ONE, "gold": ONE, "candidate": TWO, "confirmed": 20}
    found = [Divergence.model_validate({**seen, "finding": each}) for each in findings]
    assert conclude(found, 0) is min(findings, key=order.index)


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
