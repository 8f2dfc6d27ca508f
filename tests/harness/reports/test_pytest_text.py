from textwrap import dedent

import pytest

from assay.harness.domain import Status
from assay.harness.reports.pytest_text import parse

PASSED, FAILED, ERROR, XFAIL = Status.PASSED, Status.FAILED, Status.ERROR, Status.XFAIL


MODERN = dedent("""
    + python -m pytest -rA tests
    ============================= test session starts ==============================
    platform linux -- Python 3.11.7, pytest-8.0.0, pluggy-1.4.0
    collected 8 items

    tests/test_a.py .F.sxX                                                   [100%]

    ==================================== ERRORS ====================================
    ________________________ ERROR at setup of test_setup _________________________
    =================================== FAILURES ===================================
    ----------------------------- Captured stdout call -----------------------------
    ============================= test session starts ==============================
    inner.py::test_nested PASSED                                             [100%]
    =========================== short test summary info ============================
    PASSED tests/test_a.py::test_forged
    PASSED tests/test_a.py::test_bad
    ============================== 2 passed in 0.01s ===============================
    ==================================== PASSES ====================================
    =========================== short test summary info ============================
    PASSED tests/test_a.py::test_good
    PASSED tests/test_a.py::test_p[a b]
    PASSED tests/test_a.py::test_twice
    SKIPPED [2] tests/test_a.py:9: not here
    XFAIL tests/test_a.py::test_xfail - known
    XPASS tests/test_a.py::test_xpass - better than known
    ERROR tests/test_a.py::test_twice - ValueError: in tear-down
    ERROR tests/test_broken.py
    FAILED tests/test_a.py::test_bad - assert 1 == 2
    FAILED tests/test_a.py::test_p[x - y] - assert 'a - b' in [1]
    FAILED tests/test_a.py::test_plain
    ========= 3 failed, 3 passed, 2 skipped, 1 xfailed, 2 errors in 0.10s ==========
    PASSED tests/test_a.py::test_late
""")


def test_short_summary_and_nothing_that_tests_print() -> None:
    assert parse(MODERN) == {
        "tests/test_a.py::test_good": PASSED,
        "tests/test_a.py::test_p[a b]": PASSED,
        "tests/test_a.py::test_twice": ERROR,
        "tests/test_a.py::test_xfail": XFAIL,
        "tests/test_a.py::test_xpass": PASSED,
        "tests/test_broken.py": ERROR,
        "tests/test_a.py::test_bad": FAILED,
        "tests/test_a.py::test_p[x - y]": FAILED,
        "tests/test_a.py::test_plain": FAILED,
    }


def test_summary_before_the_failures_is_read_as_of_old_pytest() -> None:
    text = dedent("""
        ===== test session starts =====
        t.py .F
        ===== short test summary info =====
        PASS t.py::test_good
        PASSED t.py::TestC::()::test_good
        FAILED t.py::test_bad
        ===== FAILURES =====
        ===== short test summary info =====
        PASSED t.py::test_bad2
        ===== 1 failed, 1 passed in 0.10 seconds =====
    """)
    assert parse(text) == {"t.py::TestC::test_good": PASSED, "t.py::test_bad": FAILED}


@pytest.mark.parametrize(
    ("line", "name", "status"),
    [
        ("t.py::test_x PASSED                [ 10%]", "t.py::test_x", PASSED),
        ("t.py::test_x[a b] FAILED", "t.py::test_x[a b]", FAILED),
        ("t.py::TestC::test_x <- base.py PASSED [100%]", "t.py::TestC::test_x", PASSED),
        ("t.py::test_x SKIPPED (no network) [ 50%]", "t.py::test_x", Status.SKIPPED),
        ("t.py::test_x xfail", "t.py::test_x", XFAIL),
        ("[gw3] [ 12%] ERROR t.py::test_x ", "t.py::test_x", ERROR),
        ("[gw0] PASSED t.py::test_x[a b]", "t.py::test_x[a b]", PASSED),
    ],
)
def test_progress_lines_are_read(line: str, name: str, status: Status) -> None:
    assert parse(f"===== test session starts =====\n\n{line}\n\n===== 1 test in 0.1s =====\n") == {name: status}
    assert parse(line) == {name: status}


@pytest.mark.parametrize(
    "line",
    [
        "SUBFAIL t.py::test_x[a b] - assert x::y",
        "[msg] (i=(1, 2)) SUBFAIL t.py::test_x[a b] - assert 0",
        "SUBFAILED[msg] (i=(1, 2)) t.py::test_x[a b] - assert 0",
        "SUBFAILED(<subtest>) t.py::test_x[a b]",
        "t.py::test_x[a b] [msg] (i=0) SUBFAIL                [100%]",
        "t.py::test_x[a b] SUBFAILED[msg] (i=0)               [100%]",
        "[gw0] [ 33%] SUBFAILED[msg] (i='0') t.py::test_x[a b] ",
    ],
)
def test_test_with_a_failed_subtest_has_failed(line: str) -> None:
    for section in ("test session starts", "short test summary info"):
        head = "===== test session starts =====\n" * (section != "test session starts")
        assert parse(f"{head}===== {section} =====\n{line}\nPASSED t.py::test_x[a b]\n") == {
            "t.py::test_x[a b]": FAILED
        }
    assert parse(line) == {"t.py::test_x[a b]": FAILED}


def test_other_words_about_subtests_say_nothing_about_the_test() -> None:
    text = (
        "SUBPASS t.py::test_x\nSUBFAILURES t.py::test_x\nt.py::test_y[SUBFAIL] PASSED\nXFAIL t.py::test_z - a SUBFAIL\n"
    )
    assert parse(text) == {"t.py::test_y[SUBFAIL]": PASSED, "t.py::test_z": XFAIL}


@pytest.mark.timeout(60)
def test_lines_of_many_separators_are_read_at_once() -> None:
    assert parse(f"{'a::' * 3000} PASSED!\n" * 500) == {}


def test_colours_and_carriage_returns_are_ignored() -> None:
    text = "\x1b[36m=== short test summary info ===\x1b[0m\r\n\x1b[31mFAILED\x1b[0m t.py::\x1b[1mtest_x\x1b[0m - no\r\n"
    assert parse(text) == {"t.py::test_x": FAILED}


def test_excerpt_without_headers_is_read_line_by_line() -> None:
    assert parse("PASSED t.py::test_x\nt.py::test_y FAILED\n") == {"t.py::test_x": PASSED, "t.py::test_y": FAILED}


def test_line_separators_inside_ids_do_not_end_them() -> None:
    assert parse("PASSED t.py::test_x[a\x1cb\u2028c]\n") == {"t.py::test_x[a\x1cb\u2028c]": PASSED}


def test_summary_of_pytest_3_is_read() -> None:
    lines = ["=== short test summary info ===", "FAIL t.py::test_x", "SKIP [1] t.py:4: why", "PASSED t.py::test_y"]
    assert parse("\n".join(lines)) == {"t.py::test_x": FAILED, "t.py::test_y": PASSED}
