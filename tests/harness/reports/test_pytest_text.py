import pytest

from assay.harness.domain import Status
from assay.harness.reports.pytest_text import parse

PASSED, FAILED, ERROR, XFAIL = Status.PASSED, Status.FAILED, Status.ERROR, Status.XFAIL


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
