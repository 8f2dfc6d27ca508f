"""Reward of a state by rule: the coding value function of SWE-Search.

The paper gives the values of failures (major -50, minor -25), giving up (-100) and repeated failures (-25 each); those
of searches, views and test runs are from the authors' public code. All other states are judged by the model.
"""

import re
from dataclasses import dataclass

from assay.agents.solvers.tree_search.actions import ActionKind, Failure, SearchState
from assay.agents.solvers.tree_search.search_tree import SearchNode

MAJOR, MINOR = -50.0, -25.0
WORST, BEST = -100.0, 100.0
REJECTED = WORST
REPEATED = -25.0  # added for each failure directly before this one
NEWS, NO_NEWS = 50.0, 25.0  # reward of a search or view with new code, and without
MORE_FAIL, FEWER_FAIL, SAME_FAIL = -50.0, 25.0, -25.0
"""Added to the last reward if tests were run before on the same path."""
MOST_FOR_FEWER = 75.0

SEVERITY = {
    Failure.FILE_NOT_FOUND: MAJOR,
    Failure.STRING_NOT_FOUND: MAJOR,
    Failure.NO_CHANGES: MAJOR,
    Failure.INVALID_FILE: MAJOR,
    Failure.TOO_MANY_TOKENS: MINOR,
    Failure.NO_SEARCH_HITS: MINOR,
    Failure.MULTIPLE_OCCURRENCES: MINOR,
    Failure.FILE_EXISTS: MINOR,
}
"""Reward of a failure; ``WORST`` for all others."""

_VALUE = re.compile(r"<value>\s*(-?\d+(?:\.\d+)?)\s*</value>")


@dataclass(frozen=True, slots=True)
class Reward:
    """A value from -100 to 100, and its reason."""

    value: float
    why: str


def judge_by_rule(node: SearchNode[SearchState]) -> Reward | None:
    """Return the reward of a state by rule; None if the model must judge."""
    state = node.content
    if state.failure is not None:
        value = SEVERITY.get(state.failure, WORST) + REPEATED * _failures_before(node)
        return Reward(max(WORST, value), f"it failed: {state.failure}")
    if state.action.kind is ActionKind.REJECT:
        return Reward(REJECTED, "the way was given up")
    if state.action.kind in {ActionKind.SEARCH, ActionKind.VIEW}:
        return Reward(NEWS, "it shows code not seen before") if state.is_news else Reward(NO_NEWS, "nothing new")
    return _judge_tests(node)


def _failures_before(node: SearchNode[SearchState]) -> int:
    count, above = 0, node.parent
    while above is not None and above.content.failure is not None:
        count, above = count + 1, above.parent
    return count


def _judge_tests(node: SearchNode[SearchState]) -> Reward | None:
    tests = node.content.tests
    if tests is None or not tests.passed + tests.failed:
        return None
    if not tests.failed:
        return Reward(BEST, f"all {tests.passed} tests pass")
    earlier = next((each for each in reversed(node.path()[:-1]) if each.content.tests is not None), None)
    if earlier is None or earlier.content.tests is None:
        return None
    before, value = earlier.content.tests.failed, earlier.worth
    if tests.failed > before:
        return Reward(max(WORST, value + MORE_FAIL), f"{tests.failed} tests fail, {before} did before")
    if tests.failed < before:
        return Reward(min(MOST_FOR_FEWER, value + FEWER_FAIL), f"{tests.failed} tests fail, {before} did before")
    return Reward(max(WORST, value + SAME_FAIL), f"still {tests.failed} tests fail")


def read_reward(text: str) -> Reward | None:
    """Return the value between ``<value>`` tags, clamped to -100 to 100; None if there is none."""
    found = _VALUE.search(text)
    if found is None:
        return None
    return Reward(min(BEST, max(WORST, float(found[1]))), _VALUE.sub("", text).strip())
