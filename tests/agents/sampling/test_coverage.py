"""Coverage: what a perfect choice would reach, beside the solver's own and a random one."""

from hypothesis import given
from hypothesis import strategies as st

from assay.agents.contract import Candidate, Solution, SolutionStatus
from assay.agents.sampling.coverage import list_rounds, measure_coverage


def solution(name: str, chosen: str, **candidates: str) -> Solution:
    found = tuple(Candidate(patch=patch, source=source) for source, patch in candidates.items())
    return Solution(instance_id=name, agent="best_of", status=SolutionStatus.SUBMITTED, patch=chosen, candidates=found)


def test_choice_members_and_coverage_are_counted_beside_each_other() -> None:
    solutions = [
        solution("one", "x", a="x", b="y"),
        solution("two", "x", a="x", b="y", c="z"),
        solution("three", "", a="", b="q"),
        Solution(instance_id="four", agent="best_of", status=SolutionStatus.EMPTY),
    ]
    judged = {("one", "x"): True, ("one", "y"): True, ("two", "x"): False, ("two", "y"): True, ("two", "z"): None}
    found = measure_coverage(solutions, judged)
    assert (found.solutions, found.chosen, found.covered, found.unknown) == (3, 1, 2, 2)
    assert found.random == 1.5
    assert [(each.source, each.tried, each.resolved) for each in found.sources] == [("b", 2, 2), ("a", 2, 1)]


def test_a_choice_that_is_no_candidate_counts_too() -> None:
    found = measure_coverage([solution("one", "merged", a="x")], {("one", "merged"): True, ("one", "x"): False})
    assert (found.chosen, found.covered, found.random) == (1, 1, 0.0)


NAMES = st.sampled_from(["one", "two", "three"])
PATCHES = st.sampled_from(["", " ", "x", "y", "z"])
SOLUTIONS = st.lists(st.builds(solution, NAMES, PATCHES, a=PATCHES, b=PATCHES), max_size=5)


@given(SOLUTIONS)
def test_rounds_have_each_patch_of_each_instance_once(solutions: list[Solution]) -> None:
    rounds = [pair for each in list_rounds(solutions) for pair in each.items()]
    wanted = {
        (each.instance_id, patch) for each in solutions for patch in (each.patch, *(c.patch for c in each.candidates))
    }
    assert len(rounds) == len({*rounds})
    assert {*rounds} == {(name, patch) for name, patch in wanted if patch.strip()}


@given(SOLUTIONS, st.dictionaries(st.tuples(NAMES, PATCHES.filter(str.strip)), st.none() | st.booleans()))
def test_neither_the_choice_nor_a_source_beats_coverage(solutions: list[Solution], judged: dict) -> None:
    found = measure_coverage(solutions, judged)
    assert found.chosen <= found.covered <= found.solutions
    assert all(each.resolved <= min(each.tried, found.covered) for each in found.sources)
    assert found.random <= found.covered
