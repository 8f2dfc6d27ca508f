"""Retrieval scores against values that were worked out by hand (``retrieval.yaml``)."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.metrics.placing import parse_patch
from assay.harness.metrics.retrieval import Scores, find_touched_nodes, retrieval, scores

CASES = yaml.safe_load((Path(__file__).parent / "retrieval.yaml").read_text())
each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])

BASE = "def f():\n    return 1\n"
PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n"


def fractions(values: list[int | str] | None) -> Any:
    if values is None:
        return None
    return pytest.approx([float(Fraction(each)) for each in values])


def as_list(found: Scores | None) -> list[float] | None:
    return None if found is None else [found.precision, found.recall, found.f1]


def test_every_language_has_cases() -> None:
    assert len(CASES) >= 20
    assert len({case["language"] for case in CASES}) >= 8


@each_case
def test_scores(case: dict[str, Any]) -> None:
    found = retrieval(case["gold"], case["candidate"], case["base"].get, case["language"])
    assert found.problem == ""
    assert as_list(found.files) == fractions(case["files"])
    assert as_list(found.nodes) == fractions(case["nodes"])


@each_case
def test_nodes(case: dict[str, Any]) -> None:
    for patch, keys in (("gold", "wanted"), ("candidate", "found")):
        touched = find_touched_nodes(parse_patch(case[patch]), case["base"].get, case["language"])
        assert sorted(node.key for node in touched) == sorted(case[keys]), patch


@each_case
def test_patch_against_itself_scores_1(case: dict[str, Any]) -> None:
    found = retrieval(case["gold"], case["gold"], case["base"].get, case["language"])
    assert as_list(found.files) == [1, 1, 1]
    assert as_list(found.nodes) == ([1, 1, 1] if case["wanted"] else None)


@each_case
def test_swapped_patches_swap_precision_and_recall(case: dict[str, Any]) -> None:
    found, back = (
        retrieval(one, other, case["base"].get, case["language"])
        for one, other in ((case["gold"], case["candidate"]), (case["candidate"], case["gold"]))
    )
    assert found.files is not None
    assert back.files is not None
    assert (found.files.precision, found.files.f1) == (back.files.recall, back.files.f1)


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        ("", "the patch is empty"),
        ("I would change f.", "the patch cannot be read"),
        (PATCH.replace("return 1", "return 9"), "the patch does not apply: a.py: no lines like those"),
        (PATCH.replace("a.py", "missing.py"), "the patch does not apply: missing.py: there is no such file"),
        (PATCH + "@@ -9,3 +9,3 @@\n x\n", "the patch cannot be read: the last hunk is cut off"),
    ],
)
def test_malformed_patch_scores_0(candidate: str, problem: str) -> None:
    found = retrieval(PATCH, candidate, {"a.py": BASE}.get, "python")
    assert found.problem.startswith(problem)
    assert as_list(found.nodes) == [0, 0, 0]


def test_files_of_a_patch_that_does_not_apply_are_scored() -> None:
    found = retrieval(PATCH, PATCH.replace("return 1", "return 9"), {"a.py": BASE}.get, "python")
    assert as_list(found.files) == [1, 1, 1]


@pytest.mark.parametrize("gold", ["not a diff", PATCH.replace("return 1", "return 9")])
def test_malformed_gold_patch_gives_no_score(gold: str) -> None:
    found = retrieval(gold, PATCH, {"a.py": BASE}.get, "python")
    assert (found.files, found.nodes) == (None, None)
    assert "the gold patch cannot be scored against" in found.problem


def test_without_a_tree_only_files_are_scored() -> None:
    found = retrieval(PATCH, PATCH, None, "python")
    assert as_list(found.files) == [1, 1, 1]
    assert found.nodes is None


@given(wanted=st.sets(st.integers(0, 9)), found=st.sets(st.integers(0, 9)))
def test_scores_of_sets(wanted: set[int], found: set[int]) -> None:
    result = scores(wanted, found)
    if not wanted:
        assert result is None
        return
    assert result is not None
    lower, upper = sorted([result.precision, result.recall])
    assert 0 <= lower <= upper <= 1
    assert lower - 1e-12 <= result.f1 <= upper + 1e-12
    assert (result.f1 == 1) == (wanted == found)
    if result.precision and result.recall:
        harmonic = 2 / (1 / result.precision + 1 / result.recall)
        assert result.f1 == pytest.approx(harmonic)
