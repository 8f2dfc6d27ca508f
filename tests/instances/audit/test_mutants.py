import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.patches.diff import read_diff
from assay.instances.audit import mutants as operators
from assay.instances.audit.mutants import MutatedPatch, Operator, mutants
from assay.instances.audit.subject import subject
from changes import change
from tables import read_tables
from toy import make_instance

LINES = read_tables(__file__)
Made = Callable[..., tuple[MutatedPatch, ...]]
BASE = ["def total(prices, limit):", "    return sum(prices)", "", "", "def mean(prices):", "    return 0"]
GOLD = """\
diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -1,3 +1,8 @@
 def total(prices, limit):
-    return sum(prices)
+    # more than one is needed
+    found = sum(prices)
+    if found > limit:
+        found = limit
+        log(found)
+    return found

@@ -5,2 +10,2 @@ def total(prices, limit):
 def mean(prices):
-    return 0
+    return total(prices, 1) / len(prices)
"""


@pytest.fixture
def made() -> Made:
    return lambda limit=99, gold=GOLD, **more: mutants(subject(make_instance(gold_patch=gold, **more)), limit)


def test_operators_take_turns(made: Made) -> None:
    assert [each.operator for each in made(6)] == [
        "drop hunk",
        "negate condition",
        "shift comparison",
        "off by one",
        "drop statement",
        "return nothing",
    ]
    assert [each.description for each in made(3)] == [
        "drop hunk in shop.py: return sum(prices)",
        "negate condition in shop.py: if found > limit: -> if not (found > limit):",
        "shift comparison in shop.py: if found > limit: -> if found >= limit:",
    ]


def test_mutants_differ_from_each_other_and_from_gold(made: Made) -> None:
    patches = [each.patch for each in made()]
    assert len({*patches, GOLD}) == len(patches) + 1 == 11
    assert made(4) == made()[:4]
    assert made(0) == ()


def test_every_mutant_applies_to_the_base_tree(made: Made, tmp_path: Path) -> None:
    for each in made():
        (tmp_path / "shop.py").write_text("\n".join(BASE) + "\n")
        subprocess.run(["git", "apply", "-"], input=each.patch, text=True, cwd=tmp_path, check=True)
        text = (tmp_path / "shop.py").read_text()
        assert each.new.strip() in text
        compile(text, "shop.py", "exec")


def test_only_hunk_of_a_patch_stays(made: Made) -> None:
    gold = change("shop.py", adds=["log(found)"])
    assert [each.operator for each in made(gold=gold)] == ["drop statement"]
    assert made(gold=change("shop.go", adds=["log(found)"]), language="go") == ()


def test_file_without_its_only_hunk_is_dropped(made: Made) -> None:
    gold = change("shop.py", adds=["log(found)"]) + change("till.py", adds=["log(found, till)"])
    first = made(1, gold=gold)[0]
    assert [each.path for each in read_diff(first.patch)] == ["till.py"]


@pytest.mark.parametrize(
    "adds",
    [["# a comment: if a == 1"], ["import one"], ['__version__ = "2.3.2"'], ['"""Say', "that one == 1 here", '"""']],
)
def test_lines_without_behaviour_are_not_mutated(made: Made, adds: list[str]) -> None:
    assert made(gold=change("shop.py", adds=adds)) == ()


def test_hunk_of_comments_is_not_dropped(made: Made) -> None:
    other = change("till.py", adds=["log(found, till)"])
    gold = change("shop.py", drops=["log('#', found)"], adds=["log('#', found)  # typed"]) + other
    assert "drop hunk" not in {each.operator for each in made(gold=gold)}
    gold = change("shop.py", drops=["log('#', found)"], adds=["log('#1', found)"]) + other
    assert "drop hunk" in {each.operator for each in made(gold=gold)}


def test_tests_and_documents_are_not_mutated(made: Made) -> None:
    gold = (
        change("shop.py", adds=["log(found)"])
        + change("tests/test_shop.py", adds=["log(1)"])
        + change("a.md", adds=["f(1)"])
    )
    assert {each.path for each in made(gold=gold)} == {"shop.py"}


@pytest.mark.parametrize(
    ("operator", "language", "line", "other"), [(name, *case) for name, cases in LINES.items() for case in cases]
)
def test_an_operator_changes_one_line(operator: str, language: str, line: str, other: str | None) -> None:
    changed: Operator = getattr(operators, operator)
    assert changed(line, language) == other
