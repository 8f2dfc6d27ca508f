import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import Instance
from assay.harness.patches.diff import read_diff
from assay.instances.audit.mutants import (
    MutatedPatch,
    leave_out,
    mutants,
    negate,
    nothing_returned,
    off_by_one,
    shift_comparison,
)
from assay.instances.audit.subject import subject
from changes import change

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
def made(make_instance: Callable[..., Instance]) -> Callable[..., tuple[MutatedPatch, ...]]:
    return lambda limit=99, gold=GOLD, **more: mutants(subject(make_instance(gold_patch=gold, **more)), limit)


def test_operators_take_turns(made: Callable[..., tuple[MutatedPatch, ...]]) -> None:
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


def test_mutants_differ_from_each_other_and_from_gold(made: Callable[..., tuple[MutatedPatch, ...]]) -> None:
    patches = [each.patch for each in made()]
    assert len({*patches, GOLD}) == len(patches) + 1 == 11
    assert made(4) == made()[:4]
    assert made(0) == ()


def test_every_mutant_applies_to_the_base_tree(made: Callable[..., tuple[MutatedPatch, ...]], tmp_path: Path) -> None:
    for each in made():
        (tmp_path / "shop.py").write_text("\n".join(BASE) + "\n")
        subprocess.run(["git", "apply", "-"], input=each.patch, text=True, cwd=tmp_path, check=True)
        text = (tmp_path / "shop.py").read_text()
        assert each.new.strip() in text
        compile(text, "shop.py", "exec")


def test_only_hunk_of_a_patch_stays(made: Callable[..., tuple[MutatedPatch, ...]]) -> None:
    gold = change("shop.py", adds=["log(found)"])
    assert [each.operator for each in made(gold=gold)] == ["drop statement"]
    assert made(gold=change("shop.go", adds=["log(found)"]), language="go") == ()


def test_file_without_its_only_hunk_is_dropped(made: Callable[..., tuple[MutatedPatch, ...]]) -> None:
    gold = change("shop.py", adds=["log(found)"]) + change("till.py", adds=["log(found, till)"])
    first = made(1, gold=gold)[0]
    assert [each.path for each in read_diff(first.patch)] == ["till.py"]


@pytest.mark.parametrize(
    "adds",
    [
        ["# a comment: if a == 1"],
        ["import one"],
        ['__version__ = "2.3.2"'],
        ['"""Say', "that one == 1 here", '"""'],
    ],
)
def test_lines_without_behaviour_are_not_mutated(
    made: Callable[..., tuple[MutatedPatch, ...]], adds: list[str]
) -> None:
    assert made(gold=change("shop.py", adds=adds)) == ()


def test_hunk_of_comments_is_not_dropped(made: Callable[..., tuple[MutatedPatch, ...]]) -> None:
    other = change("till.py", adds=["log(found, till)"])
    gold = change("shop.py", drops=["log('#', found)"], adds=["log('#', found)  # typed"]) + other
    assert "drop hunk" not in {each.operator for each in made(gold=gold)}
    gold = change("shop.py", drops=["log('#', found)"], adds=["log('#1', found)"]) + other
    assert "drop hunk" in {each.operator for each in made(gold=gold)}


def test_tests_and_documents_are_not_mutated(made: Callable[..., tuple[MutatedPatch, ...]]) -> None:
    gold = (
        change("shop.py", adds=["log(found)"])
        + change("tests/test_shop.py", adds=["log(1)"])
        + change("a.md", adds=["f(1)"])
    )
    assert {each.path for each in made(gold=gold)} == {"shop.py"}


@pytest.mark.parametrize(
    ("language", "line", "other"),
    [
        ("python", "    elif a and (b or c):", "    elif not (a and (b or c)):"),
        ("python", "    while ready:", "    while not (ready):"),
        ("python", "    if a: return b", None),
        ("go", "\tif len(a) > 0 {", "\tif !(len(a) > 0) {"),
        ("go", "\tif a := f(); a > 0 {", None),
        ("rust", "    } else if a.is_empty() {", "    } else if !(a.is_empty()) {"),
        ("rust", "    if let Some(a) = b {", None),
        ("java", "    if (a != null) {", "    if (!(a != null)) {"),
        ("kotlin", "    if (a != null && b is C) {", "    if (!(a != null && b is C)) {"),
        ("kotlin", "    val a = if (b) c else d", None),
        ("c", "    while (a) {", "    while (!(a)) {"),
        ("javascript", "if (a) return f(b)", None),
        ("ruby", "  if a == b", "  if !(a == b)"),
        ("kobold", "if a", None),
    ],
)
def test_conditions_are_negated(language: str, line: str, other: str | None) -> None:
    assert negate(line, language) == other


@pytest.mark.parametrize(
    ("language", "line", "other"),
    [
        ("python", "if a is not None:", "if a is None:"),
        ("python", "if a in b:", "if a not in b:"),
        ("python", "for a in b:", None),
        ("python", "f('a == b') if c <= d else e", "f('a == b') if c < d else e"),
        ("javascript", "return a === b", "return a !== b"),
        ("java", "Map<String, List<A>> a = b;", None),
        ("ruby", "class A < B", None),
    ],
)
def test_comparisons_are_changed(language: str, line: str, other: str | None) -> None:
    assert shift_comparison(line, language) == other


def test_numbers_are_off_by_one() -> None:
    assert off_by_one("a1 = f('2', 3, 4)", "python") == "a1 = f('2', 4, 4)"
    assert off_by_one("a = 1.5  # 2", "python") is None


@pytest.mark.parametrize(
    ("language", "line", "other"),
    [
        ("python", "    return f(a)", "    return None"),
        ("python", "    return None", None),
        ("python", "    return f(", None),
        ("javascript", "  return a ? b : c;", "  return undefined;"),
        ("javascript", "  return a ||", None),
        ("java", "    return false;", None),
        ("java", "    return name;", "    return null;"),
        ("kotlin", "    return name", None),
        ("ruby", "  return a if b", None),
        ("go", "\treturn a", None),
    ],
)
def test_results_are_replaced_by_nothing(language: str, line: str, other: str | None) -> None:
    assert nothing_returned(line, language) == other


@pytest.mark.parametrize(
    ("language", "line", "other"),
    [
        ("python", "    a.b = c", "    pass"),
        ("python", "    if a:", None),
        ("python", "    return a", None),
        ("python", "    f(a,", None),
        ("python", "    )", None),
        ("java", "    a.b(c);", ""),
        ("java", "    private final int a;", None),
        ("kotlin", "    a.b(c)", ""),
        ("kotlin", "    val a = b(c)", None),
        ("kotlin", "    override fun a() = b", None),
        ("kotlin", "    private lateinit var a: B = c", None),
        ("cpp", "    Registry::Map const& a = b();", None),
        ("c", "    a = b;", ""),
        ("c", "    a = b +", None),
        ("go", "\ta.b = c", ""),
        ("go", "\ta := b", None),
        ("javascript", "  <div>", None),
        ("javascript", "  isReady", None),
        ("ruby", "  a << b", ""),
        ("rust", "    }", None),
    ],
)
def test_statements_are_left_out(language: str, line: str, other: str | None) -> None:
    assert leave_out(line, language) == other
