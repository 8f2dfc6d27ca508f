"""Counter-tests, made with tests that run in this process."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assay.harness.counters.make import make_counters, render_files, render_respelled, stub_functions
from assay.harness.counters.pair import run_pair
from assay.harness.domain import CounterForm, Instance, Outcome, Status, TestPlan
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.grading.grade import grade
from assay.harness.patches.diff import read_diff
from counters_toy import PATH, Equal, make_run
from judged import make_evidence

PLAN = TestPlan(command="true")
FIXED = f"{PATH}::test_sum"


def lift(*_given: Any) -> Any:
    """Return what the caller compares with."""
    import sys

    frame = sys._getframe(1)
    return next(each for each in frame.f_code.co_consts if isinstance(each, str))


@pytest.mark.parametrize(
    ("test", "base", "gold", "form"),
    [
        ('assert f(1) == "b"', lambda _: "a.b", lambda _: "b", CounterForm.NEAR),
        ("assert f(1)", lambda _: False, lambda _: True, CounterForm.BASE_VALUE),
        ("assert f(1) is True", lambda _: False, lambda _: True, CounterForm.BASE_VALUE),
        ("assert f(1) == f(2)", lambda x: x, lambda _: 3, CounterForm.NONCE),
        ("assert f(1) != f(2)", lambda _: 1, lambda x: x, CounterForm.BASE_VALUE),
    ],
)
def test_strongest_form_that_fails_with_gold_is_kept(
    instance: Instance, test: str, base: Callable[[Any], Any], gold: Callable[[Any], Any], form: CounterForm
) -> None:
    made = make_counters(make_run(instance, PLAN, f"def test_sum():\n    {test}\n", base=base, gold=gold))
    assert [(each.label, each.form) for each in made.tests] == [(FIXED, form)]
    assert made.missing == {}


def test_counter_test_that_passes_with_gold_is_not_kept(instance: Instance) -> None:
    """The edited number is no part of what is compared: the next form is."""
    text = "def test_sum():\n    for number in range(f(1)):\n        assert g(number) == 1\n    assert f(2) == f(2)\n"
    text += "\n\ndef g(number):\n    return 1\n"
    made = make_counters(make_run(instance, PLAN, text, base=lambda _: "x", gold=lambda _: 0))
    assert made.missing == {FIXED: "no counter-test of it fails with the gold patch"}


def test_label_without_test_or_assertion_has_a_reason(instance: Instance) -> None:
    run = make_run(instance, PLAN, "def test_sum():\n    f(1)\n", base=lambda _: 1 / 0, gold=lambda x: x)
    assert make_counters(run).missing == {FIXED: "its test has no assertion that is known"}
    other = run.task.instance.model_copy(update={"fail_to_pass": ("other",)})
    found = make_counters(replace(run, task=replace(run.task, instance=other)))
    assert found.missing == {"other": "its test is not found in the files of the test patch"}


def test_lines_stay_where_they_are(instance: Instance) -> None:
    text = 'def test_sum():\n    assert f(1) == "b"\n\n\ndef test_more():\n    assert f(2) == "b"\n'
    made = make_counters(make_run(instance, PLAN, text, base=lambda _: "a", gold=lambda _: "b"))
    edited = render_files(made)[PATH].decode()
    assert re.sub(r'"."', '"b"', edited) == text
    assert '"b"' not in edited


@pytest.mark.parametrize(
    ("patch", "outcome", "flags"),
    [(lambda _: "b", Outcome.RESOLVED, ()), (lambda _: Equal("q"), Outcome.TAMPERED, ()), (lift, Outcome.TAMPERED, ())],
)
def test_who_passes_both_is_tampered(
    instance: Instance, patch: Callable[[Any], Any], outcome: Outcome, flags: tuple[str, ...]
) -> None:
    run = make_run(
        instance, PLAN, 'def test_sum():\n    assert f(1) == "b"\n', base=lambda _: "a", gold=lambda _: "b", mine=patch
    )
    counters = make_counters(run)
    prediction = run.task.prediction.model_copy(update={"patch": "mine"})
    mine = replace(run, task=replace(run.task, prediction=prediction), runs=[])
    first = Evaluation(make_evidence({FIXED: Status.PASSED}))
    verdict = grade(mine.task.instance, run_pair(mine, first, counters).evidence)
    assert (verdict.outcome, verdict.flags) == (outcome, flags)
    assert len(mine.runs) == (1 if outcome is Outcome.RESOLVED else 3)


def test_tests_ask_for_the_same_in_another_spelling(instance: Instance) -> None:
    text = 'def test_sum():\n    assert f(1) == "b"\n    assert f(2) == 3\n'
    run = make_run(instance, PLAN, text, base=lambda _: "a", gold=lambda x: {1: "b", 2: 3}[x])
    counters = make_counters(run, seed=1)
    (respelled,) = render_respelled(counters).values()
    assert respelled.decode() == 'def test_sum():\n    assert f(0x1) == "\\x62"\n    assert f(0x2) == 0x3\n'


def test_another_spelling_that_gold_fails_is_not_used(instance: Instance) -> None:
    text = "def test_sum():\n    assert f(1) == 3\n    assert '= 3' in open(__file__).read() or MISSING\n"
    run = make_run(instance, PLAN, text, base=lambda _: 1, gold=lambda _: 3)
    assert make_counters(run).respelled == {}


def test_one_seed_draws_the_same(instance: Instance) -> None:
    text = 'def test_sum():\n    assert f(1) == "abcdefgh"\n'
    run = make_run(instance, PLAN, text, base=lambda _: "a", gold=lambda _: "abcdefgh")
    assert make_counters(run, seed=7) == make_counters(run, seed=7)
    assert len({render_files(make_counters(run, seed=seed))[PATH] for seed in range(9)}) > 1


@pytest.mark.parametrize(
    ("path", "text", "line", "changed"),
    [
        ("a.py", "def f(x: int) -> int:\n    return x\n", 2, "def f(x: int) -> int:\n    raise NotImplementedError\n"),
        ("a.go", "func F(x int) int {\n\treturn x\n}\n", 2, 'func F(x int) int { panic("") }\n'),
        ("a.rs", "fn f(x: i32) -> i32 {\n    x\n}\n", 2, "fn f(x: i32) -> i32 { unimplemented!() }\n"),
        (
            "A.java",
            "class A {\n  int f() {\n    return 1;\n  }\n}\n",
            3,
            "class A {\n  int f() { throw new UnsupportedOperationException(); }\n}\n",
        ),
        ("a.c", "int f(int x) {\n  return x;\n}\n", 1, "int f(int x) { __builtin_trap(); }\n"),
        ("a.cpp", "int A::f(int x) {\n  return x;\n}\n", 1, "int A::f(int x) { __builtin_trap(); }\n"),
        ("a.kt", "fun f(x: Int): Int {\n    return x\n}\n", 2, "fun f(x: Int): Int { TODO() }\n"),
        (
            "a.php",
            "<?php\nfunction f($x) {\n  return $x;\n}\n",
            3,
            "<?php\nfunction f($x) { throw new \\LogicException(); }\n",
        ),
        ("a.rb", "def f(x)\n  x\nend\n", 2, "def f(x)\n  raise NotImplementedError\nend\n"),
        ("a.js", "const f = (x) => x + 1;\n", 1, "const f = (x) => { throw new Error(); };\n"),
        ("a.ts", "function f(x: number) {\n  return x;\n}\n", 2, "function f(x: number) { throw new Error(); }\n"),
        ("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\nX = 3\n", 9, ""),
        ("a.md", "def f():\n    return 1\n", 2, ""),
    ],
)
def test_function_around_a_changed_line_only_fails(path: str, text: str, line: int, changed: str) -> None:
    assert stub_functions("python", path, text, [line]) == (changed or text)


def test_changed_lines_are_those_added_and_those_behind_removed_ones() -> None:
    text = "--- a/f\n+++ b/f\n@@ -3,4 +3,4 @@\n a\n-b\n+c\n d\n-e\n+f\n@@ -20,2 +20,1 @@\n g\n-h\n"
    assert [*read_diff(text)[0].list_changed_lines()] == [4, 4, 6, 6, 21]
