from assay.harness.domain import (
    PatchedCommit,
)
from samples import read, rows


def test_the_patch_is_the_bug_and_the_gold_patch_its_reverse() -> None:
    instance = read("swe-smith")
    assert instance.base == PatchedCommit(commit="b" * 40, patch=rows("swe-smith")[0]["patch"])
    assert (instance.base_commit, instance.test_patch) == ("", "")
    assert "+return 12\n" in instance.gold_patch
    assert "-return 13\n" in instance.gold_patch
