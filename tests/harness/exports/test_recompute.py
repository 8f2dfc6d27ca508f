"""Logs of several runners, graded again without knowing which it was."""

import pytest

from assay.harness.exports.recompute import Recomputation

PYTEST = "PASSED t.py::test_a\nPASSED t.py::test_b\n2 passed in 0.01s\n"
FAILED = PYTEST.replace("PASSED t.py::test_b", "FAILED t.py::test_b")
SKIPPED = PYTEST.replace("PASSED t.py::test_a", "SKIPPED t.py::test_a")
GO = """\
=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestB
--- PASS: TestB (0.00s)
PASS
ok  \texample.org/m\t0.01s
"""
CARGO = """\
running 2 tests
test tests::a ... ok
test src/lib.rs - f (line 7) ... ok

test result: ok. 2 passed; 0 failed
"""
KARMA = "Executed 12 of 12 SUCCESS (0.1 secs / 0.05 secs)\nTOTAL: 12 SUCCESS\n"


@pytest.mark.parametrize(
    ("log", "fixed", "kept"),
    [
        (PYTEST, "t.py::test_a", "t.py::test_b"),
        (GO, "TestA", "TestB"),
        (CARGO, "tests::a", "src/lib.rs - f (line 9)"),
        (KARMA, "draws a line", "draws a circle"),
        (f">>>>> Start Test Output\n{PYTEST}>>>>> End Test Output\n", "t.py::test_a", "t.py::test_b"),
        (f"{PYTEST}PASSED      [100%]\n", "t.py::test_a", "[100%]"),
    ],
)
def test_a_log_that_shows_every_test_lacks_nothing(log: str, fixed: str, kept: str) -> None:
    again = Recomputation()
    assert again.lacking(log, [fixed], [kept]) == ()
    assert again.lacking(log, [fixed], [kept]) == ()


@pytest.mark.parametrize(
    ("log", "fixed", "kept", "lacking"),
    [
        (PYTEST, "t.py::test_a", "t.py::test_c", ("t.py::test_c",)),
        (PYTEST, "t.py::test_a", "[100%]", ("[100%]",)),
        (FAILED, "t.py::test_a", "t.py::test_b", ("t.py::test_b",)),
        (SKIPPED, "t.py::test_a", "t.py::test_b", ("t.py::test_a",)),
        (f">>>>> Start Test Output\n{PYTEST}", "t.py::test_a", "t.py::test_b", ("t.py::test_a", "t.py::test_b")),
        (">>>>> Patch Apply Failed\n" + PYTEST, "t.py::test_a", "t.py::test_b", ("t.py::test_a", "t.py::test_b")),
        ("", "t.py::test_a", "t.py::test_b", ("t.py::test_a", "t.py::test_b")),
        ("Executed 0 of 0 SUCCESS\n", "draws a line", "draws a circle", ("draws a line", "draws a circle")),
    ],
)
def test_a_log_that_does_not_show_it_lacks_the_tests(log: str, fixed: str, kept: str, lacking: tuple[str, ...]) -> None:
    again = Recomputation()
    again.lacking(PYTEST, ["t.py::test_a"], ["t.py::test_b"])
    assert again.lacking(log, [fixed], [kept]) == lacking
