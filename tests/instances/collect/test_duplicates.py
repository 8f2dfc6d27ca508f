"""Patches that are nearly the same."""

import pytest

from assay.instances.collect.duplicates import PatchIndex


def patch(*lines: str, path: str = "calc.py") -> str:
    added = "".join(f"+{line}\n" for line in lines)
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1,{len(lines) + 1} @@\n import sys\n{added}"


FIVE = ("a = 1", "b = 2", "c = 3", "d = 4", "e = 5")


OTHER_WAY = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1 @@\n import sys\n-a = 1\n"
BROKEN = "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n"


@pytest.mark.parametrize(
    ("known", "asked", "nearest"),
    [
        ({"one": patch(*FIVE)}, patch(*FIVE), "one"),
        ({"one": patch(*FIVE)}, patch(*FIVE[:4], path="other.py"), "one"),  # four fifths of their lines
        ({"one": patch(*FIVE)}, patch(*FIVE[:3]), ""),
        ({"one": patch(*FIVE)}, patch(*FIVE, *("f = 6", "g = 7")), ""),
        ({"far": patch(*FIVE[:4]), "near": patch(*FIVE)}, patch(*FIVE), "near"),
        ({"one": patch("    a = 1")}, patch("a = 1  "), "one"),
        ({"one": patch("    a = 1")}, OTHER_WAY, ""),
        ({"broken": BROKEN, "empty": ""}, "", ""),
        ({"broken": BROKEN, "empty": ""}, BROKEN, ""),
    ],
)
def test_the_nearest_patch_that_shares_most_lines_is_named(known: dict[str, str], asked: str, nearest: str) -> None:
    index = PatchIndex()
    for name, text in known.items():
        index.add(name, text)
    assert index.find_duplicate(asked) == nearest
