import pytest

from assay.instances.collect.duplicates import PatchIndex
from changes import change

FIVE = ("a = 1", "b = 2", "c = 3", "d = 4", "e = 5")
WHOLE = change("calc.py", adds=FIVE)
OTHER_WAY = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1 @@\n import sys\n-a = 1\n"
BROKEN = "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n"


@pytest.mark.parametrize(
    ("known", "asked", "nearest"),
    [
        ({"one": WHOLE}, WHOLE, "one"),
        ({"one": WHOLE}, change("other.py", adds=FIVE[:4]), "one"),  # four fifths of their lines
        ({"one": WHOLE}, change("calc.py", adds=FIVE[:3]), ""),
        ({"one": WHOLE}, change("calc.py", adds=[*FIVE, "f = 6", "g = 7"]), ""),
        ({"far": change("calc.py", adds=FIVE[:4]), "near": WHOLE}, WHOLE, "near"),
        ({"one": change("calc.py", adds=["    a = 1"])}, change("calc.py", adds=["a = 1  "]), "one"),
        ({"one": change("calc.py", adds=["    a = 1"])}, OTHER_WAY, ""),
        ({"broken": BROKEN, "empty": ""}, "", ""),
        ({"broken": BROKEN, "empty": ""}, BROKEN, ""),
    ],
)
def test_the_nearest_patch_that_shares_most_lines_is_named(known: dict[str, str], asked: str, nearest: str) -> None:
    index = PatchIndex()
    for name, text in known.items():
        index.add(name, text)
    assert index.find_duplicate(asked) == nearest
