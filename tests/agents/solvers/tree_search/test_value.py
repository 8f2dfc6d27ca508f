"""Rewards by rule, against the published values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.tree_search.actions import Action, ActionKind, Failure, PassFailCounts, SearchState
from assay.agents.solvers.tree_search.search_tree import SearchNode, SearchTree
from assay.agents.solvers.tree_search.value import judge_by_rule, read_reward


def way(*states: SearchState, rewards: tuple[float, ...] = ()) -> SearchNode[SearchState]:
    tree = SearchTree(SearchState("base"))
    node = tree.root
    for number, state in enumerate(states):
        node = tree.add(node, state)
        node.reward = rewards[number] if number < len(rewards) else None
    return node


def failed(failure: Failure) -> SearchState:
    return SearchState("base", action=Action(ActionKind.EDIT), failure=failure)


def ran(passed: int, wrong: int) -> SearchState:
    return SearchState("base", action=Action(ActionKind.TEST), tests=PassFailCounts(passed, wrong))


def value(node: SearchNode[SearchState]) -> float | None:
    reward = judge_by_rule(node)
    return reward.value if reward else None


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure.FILE_NOT_FOUND, -50),
        (Failure.STRING_NOT_FOUND, -50),
        (Failure.NO_CHANGES, -50),
        (Failure.TOO_MANY_TOKENS, -25),
        (Failure.NO_SEARCH_HITS, -25),
        (Failure.MULTIPLE_OCCURRENCES, -25),
        (Failure.MALFORMED, -100),
    ],
)
def test_failure_has_the_reward_of_its_severity(failure: Failure, expected: float) -> None:
    assert value(way(failed(failure))) == expected


def test_giving_up_has_the_worst_reward() -> None:
    assert value(way(SearchState("base", action=Action(ActionKind.REJECT)))) == -100


def test_each_earlier_failure_costs_25_down_to_the_worst() -> None:
    """Minor -25, then -50, -75, -100, and no lower. A step that worked in between begins anew."""
    minor = failed(Failure.NO_SEARCH_HITS)
    assert [value(way(*[minor] * times)) for times in range(1, 6)] == [-25, -50, -75, -100, -100]
    assert value(way(minor, minor, SearchState("base", action=Action(ActionKind.VIEW)), minor)) == -25


@pytest.mark.parametrize(("kind", "is_news", "expected"), [(ActionKind.SEARCH, True, 50), (ActionKind.VIEW, False, 25)])
def test_new_code_is_rewarded(kind: ActionKind, is_news: bool, expected: float) -> None:
    assert value(way(SearchState("base", action=Action(kind), is_news=is_news))) == expected


@pytest.mark.parametrize(
    ("before", "reward", "after", "expected"),
    [
        ((1, 2), 10, (3, 0), 100),  # all pass
        ((2, 1), 10, (1, 2), -40),  # 10 - 50
        ((2, 1), -70, (1, 2), -100),  # -120, and no lower than -100
        ((1, 2), 10, (2, 1), 35),  # 10 + 25
        ((1, 2), 60, (2, 1), 75),  # 85, and no higher than 75
        ((1, 2), 10, (1, 2), -15),  # 10 - 25
    ],
)
def test_test_reward_depends_on_the_run_before(
    before: tuple[int, int], reward: float, after: tuple[int, int], expected: float
) -> None:
    between = SearchState("base", action=Action(ActionKind.EDIT))
    assert value(way(ran(*before), between, ran(*after), rewards=(reward, 99))) == expected


def test_state_without_a_rule_is_for_the_model() -> None:
    assert value(way(ran(1, 1))) is None  # some fail, and nobody knows how many did before
    assert value(way(ran(0, 0))) is None
    assert value(way(SearchState("base", action=Action(ActionKind.EDIT)))) is None
    assert value(way(SearchState("base", action=Action(ActionKind.FINISH)))) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Right. <value>50</value>", 50), ("<value> -12.5 </value>", -12.5), ("<value>900</value>", 100), ("50", None)],
)
def test_read_reward_clamps_the_value(text: str, expected: float | None) -> None:
    reward = read_reward(text)
    assert (reward.value if reward else None) == expected


@given(st.lists(st.sampled_from([*Failure]), min_size=1, max_size=8))
def test_every_failure_has_a_negative_reward(failures: list[Failure]) -> None:
    got = value(way(*map(failed, failures)))
    assert got is not None
    assert -100 <= got < 0
