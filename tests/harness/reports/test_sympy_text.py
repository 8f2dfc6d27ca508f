import textwrap

from assay.harness.domain import Status
from assay.harness.reports.sympy_text import parse


def test_every_letter_of_the_runner_is_read() -> None:
    text = textwrap.dedent("""
        ============================= test process starts ==============================
        random seed:        1

        sympy/core/tests/test_one.py[11]
        test_good ok
        test_bad F
        test_broken E
        test_known f
        test_better X
        test_skipped numpy not installed. s
        test_slow Slow w
        test_prints 1 2 3
        and more
         ok
        test_last ok                                                             [FAIL]

        sympy/core/tests/test_two.py[2]
        test_good F
        test_end ok                                                                [OK]

        ________________________________________________________________________________
        __________________ sympy/core/tests/test_one.py:test_unheard ___________________
        Traceback (most recent call last):
          File "x.py", line 1, in test_bad
    """)
    assert parse(text) == {
        "test_good": Status.FAILED,  # passes in one file, fails in the other
        "test_bad": Status.FAILED,
        "test_broken": Status.ERROR,
        "test_known": Status.XFAIL,
        "test_better": Status.PASSED,
        "test_skipped": Status.SKIPPED,
        "test_slow": Status.SKIPPED,
        "test_prints": Status.PASSED,
        "test_last": Status.PASSED,
        "test_end": Status.PASSED,
        "test_unheard": Status.FAILED,
    }


def test_run_that_dies_has_no_result_of_its_last_test() -> None:
    assert parse("test_good ok\ntest_hangs \n") == {"test_good": Status.PASSED}
