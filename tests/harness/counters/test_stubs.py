"""Sources whose functions only fail."""

import pytest

from assay.harness.counters.stubs import stub_functions
from assay.harness.patches.diff import read_diff


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
