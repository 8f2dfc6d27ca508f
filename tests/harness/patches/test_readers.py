"""What the gate lets through, no reader raises on, but for an error that blames the patch."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.benchmarks.swe_bench.rule import find_expected_failures
from assay.harness.benchmarks.swt_bench.evaluate import only_tests
from assay.harness.benchmarks.swt_bench.lookalike import make_lookalike
from assay.harness.domain import TestPlan
from assay.harness.evaluation.changes import Changes
from assay.harness.evaluation.protection import find_named_like_tests, put_back
from assay.harness.languages import find
from assay.harness.metrics.category import category
from assay.harness.metrics.similarity import patch_similarity
from assay.harness.patches.alike import find_equal_changes
from assay.harness.patches.diff import MalformedPatchError, find_touched_paths
from assay.harness.patches.gate import GatedPatch, gate
from odd_patches import patches
from toy import GOLD, make_instance

INSTANCE, PLAN = make_instance(), TestPlan(command="true", targets=("tests/test_calc.py",))
READERS: tuple[Callable[[GatedPatch], object], ...] = (
    lambda patch: find_touched_paths(patch.text),
    lambda patch: find_equal_changes(patch.text, GOLD),
    lambda patch: find_expected_failures(patch.text),
    lambda patch: only_tests(INSTANCE, patch.text),
    lambda patch: make_lookalike(patch.text, find("python").LINES),
    lambda patch: find_named_like_tests(INSTANCE, PLAN, Changes(patch.paths), patch.text, lambda _words: ()),
    lambda patch: put_back(INSTANCE, PLAN, patch.paths),
    lambda patch: patch_similarity(GOLD, patch.text),
    lambda patch: category(INSTANCE.model_copy(update={"gold_patch": patch.text})),
)
TEXTS = st.one_of(patches().map(lambda patch: patch.decode(errors="surrogateescape")), st.text(), st.just(GOLD * 9))


def read_by_all(text: str) -> None:
    try:
        patch = gate(text, allow_binary=True)
    except MalformedPatchError:
        return
    for reader in READERS:
        try:
            reader(patch)
        except MalformedPatchError:
            continue


@settings(max_examples=200)
@given(TEXTS)
def test_readers_raise_nothing_else(text: str) -> None:
    read_by_all(text)


@pytest.mark.exhaustive
@settings(max_examples=10_000)
@given(TEXTS)
def test_readers_raise_nothing_else_on_many_more(text: str) -> None:
    read_by_all(text)
