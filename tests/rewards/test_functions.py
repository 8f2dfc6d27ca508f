"""Reward functions: values by hand, and what holds for every verdict there can be."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from answered import ANSWER, BROKEN, FILES, OTHER, answer, block
from assay import Instance, Outcome, UserError, Verdict
from assay.harness.domain import INFRASTRUCTURE, Rule
from assay.harness.errors import EnvironmentFailure, PluginError
from assay.rewards import REWARDS, RewardCase, RewardFunction, mixture_of, needs_tests, reward
from toy import GOLD

FIXED = tuple(f"tests/test_a.py::test_{number}" for number in range(4))
KEPT = tuple(f"tests/test_b.py::test_{number}" for number in range(10))
JUDGED = tuple(name for name, own in REWARDS.items() if isinstance(own, RewardFunction) and own.needs_tests)


@pytest.fixture(scope="module")
def labelled() -> Instance:
    return Instance.model_validate(
        {
            "id": "acme__calc-1",
            "repo": "acme/calc",
            "base_commit": "0" * 40,
            "problem_statement": "",
            "gold_patch": GOLD,
            "test_patch": GOLD,
            "fail_to_pass": FIXED,
            "pass_to_pass": KEPT,
            "created_at": "2023-01-02T00:00:00Z",
        }
    )


def case(instance: Instance, outcome: Outcome, patch: str = GOLD, **lists: tuple[str, ...]) -> RewardCase:
    return RewardCase(instance, patch, Verdict(instance_id=instance.id, outcome=outcome, **lists))  # type: ignore[arg-type]


def value(wanted: str | dict[str, float], of: RewardCase) -> float | None:
    return reward(mixture_of(wanted), of).reward


@pytest.mark.parametrize(
    ("name", "unfixed", "broken", "expected"),
    [
        ("resolved", FIXED[:1], (), 0.0),
        ("fail_to_pass", FIXED[:1], (), 0.75),
        ("fail_to_pass", FIXED, (), 0.0),
        ("fail_to_pass", FIXED[:1], KEPT[:1], 0.0),
        ("tests", FIXED[:1], (), 0.75),
        ("tests", (), KEPT[:1], 0.9),
        ("tests", FIXED[:2], KEPT[:5], 0.25),
        ("tests", (), (*KEPT, "one that no label names"), 0.0),
        ("applies", FIXED, KEPT, 1.0),
    ],
)
def test_unresolved_patches_get_what_the_table_says(
    labelled: Instance, name: str, unfixed: tuple[str, ...], broken: tuple[str, ...], expected: float
) -> None:
    found = value(name, case(labelled, Outcome.UNRESOLVED, unfixed=unfixed, broken=broken))
    assert found == pytest.approx(expected)


def test_every_function_rewards_a_resolved_gold_patch_with_one(labelled: Instance) -> None:
    gold = replace(case(labelled, Outcome.RESOLVED), answer=ANSWER, read_text=FILES.get)
    assert {value(name, gold) for name in REWARDS} == {1.0}


@pytest.mark.parametrize(("outcome", "name"), [*product(Outcome, JUDGED)])
def test_no_failure_of_the_infrastructure_is_a_reward_and_every_other_outcome_is(
    labelled: Instance, outcome: Outcome, name: str
) -> None:
    assert len(Outcome) == 12
    found = reward(mixture_of(name), case(labelled, outcome))
    assert (found.reward is None) == (outcome in INFRASTRUCTURE)
    assert (found.components[name] is None) == (outcome in INFRASTRUCTURE)
    assert bool(found.problem) == (outcome in INFRASTRUCTURE)


VERDICTS = st.builds(
    Verdict,
    instance_id=st.just("acme__calc-1"),
    outcome=st.sampled_from(Outcome),
    rule=st.sampled_from(Rule),
    unfixed=st.lists(st.sampled_from((*FIXED, *KEPT, "x", "y")), unique=True).map(tuple),
    broken=st.lists(st.sampled_from((*FIXED, *KEPT, "z")), unique=True).map(tuple),
)


@given(
    verdict=VERDICTS,
    weights=st.dictionaries(st.sampled_from(sorted(JUDGED)), st.floats(0.001, 1000), min_size=1),
    labels=st.tuples(st.integers(0, 4), st.integers(0, 10)),
)
def test_any_mixture_is_none_or_in_the_interval_and_only_a_resolved_patch_gets_all(
    labelled: Instance, verdict: Verdict, weights: dict[str, float], labels: tuple[int, int]
) -> None:
    assume(not (verdict.resolved and (verdict.unfixed or verdict.broken)))
    instance = labelled.model_copy(update={"fail_to_pass": FIXED[: labels[0]], "pass_to_pass": KEPT[: labels[1]]})
    found = reward(mixture_of(weights), RewardCase(instance, GOLD, verdict))
    if verdict.outcome in INFRASTRUCTURE:
        assert found.reward is None
        return
    assert found.reward is not None
    assert 0 <= found.reward <= 1
    for name in {"resolved", "fail_to_pass", "tests"} & set(weights):
        assert (found.components[name] == 1) == verdict.resolved
    if verdict.resolved:
        assert found.reward == pytest.approx(1)


@given(patch=st.text(), outcome=st.sampled_from(Outcome))
def test_similarity_needs_no_tests_and_fits_the_interval(labelled: Instance, patch: str, outcome: Outcome) -> None:
    found = value("similarity", case(labelled, outcome, patch))
    assert found is not None
    assert 0 <= found <= 1
    assert not needs_tests(mixture_of("similarity"))
    assert needs_tests(mixture_of({"similarity": 1, "resolved": 1}))


def test_a_gold_patch_that_cannot_be_read_gives_no_similarity(labelled: Instance) -> None:
    found = reward(
        mixture_of({"similarity": 1, "applies": 1}),
        case(labelled.model_copy(update={"gold_patch": "Binary"}), Outcome.RESOLVED),
    )
    assert found.reward is None
    assert found.components == {"similarity": None, "applies": 1.0}


def test_weights_are_shares(labelled: Instance) -> None:
    assert mixture_of({"resolved": 1e308, "tests": 1e308}) == {"resolved": 0.5, "tests": 0.5}
    assert mixture_of({"resolved": 1, "applies": 3}) == {"resolved": 0.25, "applies": 0.75}
    assert value({"resolved": 1, "applies": 3}, case(labelled, Outcome.UNRESOLVED, unfixed=FIXED)) == 0.75


@pytest.mark.parametrize("weights", [{}, {"resolved": 0.0}, {"resolved": -1.0}, {"resolved": math.nan}])
def test_weights_that_are_none_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(UserError):
        mixture_of(weights)


def test_an_unknown_function_names_the_nearest() -> None:
    with pytest.raises(PluginError, match="unknown reward 'resolvd'; did you mean resolved"):
        mixture_of("resolvd")


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Registers an object as another distribution would, under the name ``mine``."""
    return lambda function: monkeypatch.setitem(REWARDS.parts, "mine", function)


def test_another_distribution_adds_a_bare_function(labelled: Instance, register: Callable[[Any], None]) -> None:
    register(lambda each: 0.5 if each.verdict.resolved else 0.1)
    assert value("mine", case(labelled, Outcome.RESOLVED)) == 0.5
    assert value("mine", case(labelled, Outcome.ENV_ERROR)) is None


@pytest.mark.parametrize("answer", [1.5, -0.1, math.nan, math.inf, "1", None, RuntimeError("broken")])
def test_a_function_that_fails_gives_no_reward_and_the_reason(
    labelled: Instance, register: Callable[[Any], None], answer: Any
) -> None:
    def function(_case: RewardCase) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    register(RewardFunction(function, needs_tests=False))
    found = reward(mixture_of({"mine": 1, "resolved": 1}), case(labelled, Outcome.RESOLVED))
    assert found.reward is None
    assert found.problem.startswith("mine: ")
    assert found.components["resolved"] == 1.0


@pytest.mark.parametrize("name", ["tests", "fail_to_pass"])
def test_a_function_of_all_tests_says_nothing_about_an_evaluation_that_stopped_early(
    instance: Instance, name: str
) -> None:
    verdict = Verdict(instance_id=instance.id, outcome=Outcome.UNRESOLVED, flags=("fail_fast",))
    found = reward({name: 0.5, "resolved": 0.5}, RewardCase(instance, "", verdict))
    assert (found.reward, found.components) == (None, {name: None, "resolved": 0.0})
    assert "not all tests were run" in found.problem


def answer_case(instance: Instance, text: str | None, outcome: Outcome = Outcome.UNRESOLVED) -> RewardCase:
    return replace(case(instance, outcome, "", unfixed=FIXED), answer=text, read_text=FILES.get)


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_breaks_the_grammar_or_does_not_apply_is_minus_one(labelled: Instance, name: str) -> None:
    found = reward(mixture_of("swe_rl"), answer_case(labelled, BROKEN[name]))
    assert found.reward == -1.0
    assert found.remarks["swe_rl"]


def test_an_answer_gets_the_similarity_of_its_change_as_difflib_has_it(labelled: Instance) -> None:
    other = answer(OTHER, block("new.py", "", "x = 1\n"))
    # "@@ -1,2 +1,2 @@", " def add(a, b):", "-    return a - b", "+    return a + b" and three line feeds are 67
    # characters, of which "+    return a * b" leaves 66; new.py is not in the gold patch.
    assert value("swe_rl", answer_case(labelled, answer(OTHER))) == pytest.approx(132 / 134)
    assert value("swe_rl", answer_case(labelled, other)) == pytest.approx(132 / 134 / 2)


def test_a_function_that_needs_an_answer_says_so_without_one(labelled: Instance) -> None:
    found = reward(mixture_of("swe_rl"), answer_case(labelled, None))
    assert found.reward is None
    assert "needs what the model wrote" in found.problem


def test_files_that_cannot_be_read_are_no_reward_of_minus_one(labelled: Instance) -> None:
    def fail(_path: str) -> str:
        raise EnvironmentFailure("in no mirror")

    found = reward(mixture_of("swe_rl"), replace(answer_case(labelled, ANSWER), read_text=fail))
    assert found.reward is None
    assert "in no mirror" in found.problem


@given(text=st.text() | st.sampled_from(sorted(BROKEN.values())), weight=st.floats(0.01, 100))
def test_a_mixture_is_in_the_mean_of_its_parts_ranges(labelled: Instance, text: str, weight: float) -> None:
    found = reward(mixture_of({"swe_rl": weight, "resolved": 1}), answer_case(labelled, text))
    assert list(found.range) == pytest.approx([-weight / (weight + 1), 1])
    assert found.components == {"swe_rl": -1.0, "resolved": 0.0}
    assert found.reward == found.range[0]


@pytest.mark.parametrize(("number", "expected"), [(-2.0, -2.0), (0.5, 0.5), (3.0, 3.0), (3.5, None), (-2.1, None)])
def test_a_function_says_its_own_range(
    labelled: Instance, register: Callable[[Any], None], number: float, expected: float | None
) -> None:
    register(RewardFunction(lambda _case: number, range=(-2.0, 3.0)))
    found = reward(mixture_of("mine"), case(labelled, Outcome.RESOLVED))
    assert found.reward == expected
    assert found.problem == (
        "" if expected is not None else f"mine: the function returned {number}, which is not in [-2, 3]"
    )
