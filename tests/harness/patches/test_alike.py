import pytest

from assay.harness.patches.alike import find_equal_changes

ONE = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-{1}\n+{2}\n"


@pytest.mark.parametrize(
    ("patch", "alike"),
    [
        (ONE.format("x", "a", "b"), {"x"}),
        ("diff --git a/x b/x\nindex 1..2 100644\n" + ONE.format("x", "a", "b").removesuffix("\n"), {"x"}),
        (ONE.format("x", "a", "c"), set()),
        (ONE.format("x", "a", "b") + ONE.format("x", "b", "c"), set()),
        (ONE.format("x", "a", "b") + ONE.format("y", "a", "c"), {"x"}),
        ("diff --git a/x b/z\nrename from x\nrename to z\n" + ONE.format("x", "a", "b").replace("b/x", "b/z"), set()),
    ],
)
def test_files_that_two_patches_change_by_the_same_lines(patch: str, alike: set[str]) -> None:
    fix = ONE.format("x", "a", "b") + ONE.format("y", "a", "b")
    assert find_equal_changes(patch, fix) == alike
