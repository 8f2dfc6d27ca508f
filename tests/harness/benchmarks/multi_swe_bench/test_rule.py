"""The three stages against a second, literal reading of the benchmark's definitions."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.benchmarks.multi_swe_bench.rule import (
    classify,
    explain_invalid,
    find_fixed,
    find_killers,
    find_status,
    get_word,
    labels,
    list_tests,
    results,
    simplify,
)
from assay.harness.domain import Stages, Status

P, F, S = Status.PASSED, Status.FAILED, Status.SKIPPED
STAGE = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([P, F, S]), max_size=8)
STAGES = st.builds(Stages, run=STAGE, test=STAGE, fix=STAGE)


def word_in(stage: Mapping[str, Status], test: str) -> str:
    return {P: "PASS", F: "FAIL", S: "SKIP", None: "NONE"}[stage.get(test)]


def as_words(stages: Stages) -> dict[str, tuple[str, str, str]]:
    every = {*stages.run, *stages.test, *stages.fix}
    return {test: (word_in(stages.run, test), word_in(stages.test, test), word_in(stages.fix, test)) for test in every}


@given(STAGES)
def test_four_sets_partition_the_tests_that_pass_with_gold(stages: Stages) -> None:
    sets, words = classify(stages), as_words(stages)
    before = {"p2p": "PASS", "f2p": "FAIL", "s2p": "SKIP", "n2p": "NONE"}
    for name, word_before in before.items():
        assert set(sets[name]) == {
            test for test, (_, then, now) in words.items() if (then, now) == (word_before, "PASS")
        }
    assert set(find_fixed(stages)) == {*sets["f2p"], *sets["s2p"], *sets["n2p"]}
    assert sum(map(len, sets.values())) == sum(now == "PASS" for _, _, now in words.values())
    assert set(list_tests(stages)) == set(words)


@given(STAGES)
def test_stages_are_valid_as_the_benchmark_says(stages: Stages) -> None:
    words = as_words(stages).values()
    has_tests = any(now != "NONE" for _, _, now in words)
    breaks = any((then, now) == ("PASS", "FAIL") for _, then, now in words)
    fixes = any(then != "PASS" and now == "PASS" for _, then, now in words)
    hidden = any(first == "PASS" and then in {"NONE", "SKIP"} and now == "FAIL" for first, then, now in words)
    assert (explain_invalid(stages) == "") == (has_tests and not breaks and fixes and not hidden)
    assert bool(list(find_killers(stages))) == (breaks or hidden)


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        (Stages(test={"a": F}), "the fix stage has no test"),
        (Stages(test={"a": P, "b": F}, fix={"a": F, "b": P}), "'a' passed before the gold patch and fails with it"),
        (Stages(run={"a": P}, fix={"a": F, "b": P}), "'a' passed before the gold patch and fails with it"),
        (Stages(test={"a": P}, fix={"a": P}), "the gold patch fixes no test"),
        (Stages(run={"a": P}, test={"a": F}, fix={"a": F, "b": P}), ""),
    ],
)
def test_invalid_stages_say_why(stages: Stages, reason: str) -> None:
    assert explain_invalid(stages) == reason


def test_every_status_has_one_of_four_words() -> None:
    assert [get_word(status) for status in Status] == ["PASS", "FAIL", "FAIL", "SKIP", "SKIP", "NONE"]
    assert simplify(Status.ERROR) is F
    assert find_status({}, "a") is Status.MISSING


def test_long_name_of_a_test_is_cut() -> None:
    assert explain_invalid(Stages(test={"a" * 90: P}, fix={"a" * 90: F})).startswith("'" + "a" * 80 + "' passed")


def test_test_skipped_at_base_and_missing_later_is_no_killer() -> None:
    assert list(find_killers(Stages(run={"a": S}, fix={"a": F, "b": P}))) == []


def test_stage_is_written_as_counts_and_lists() -> None:
    found = results({"a": P, "b": F, "c": S, "d": Status.ERROR, "e": Status.XFAIL})
    assert {key: found[key] for key in found if key.endswith("_count")} == {
        "passed_count": 1,
        "failed_count": 2,
        "skipped_count": 2,
    }
    assert (found["passed_tests"], found["failed_tests"], found["skipped_tests"]) == (["a"], ["b", "d"], ["c", "e"])


def test_labels_have_a_column_for_each_set_with_a_word_for_each_stage() -> None:
    columns = labels(Stages(run={"k": P}, test={"k": P, "f": F}, fix={"k": P, "f": P, "n": P}))
    assert len(columns) == 5
    assert columns["p2p_tests"] == {"k": {"run": "PASS", "test": "PASS", "fix": "PASS"}}
    assert columns["n2p_tests"] == {"n": {"run": "NONE", "test": "NONE", "fix": "PASS"}}
    assert set(columns["fixed_tests"]) == {"f", "n"}
