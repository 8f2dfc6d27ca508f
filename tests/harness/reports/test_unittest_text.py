from textwrap import dedent

from assay.harness.domain import Status
from assay.harness.reports.unittest_text import parse

PASSED, FAILED, ERROR = Status.PASSED, Status.FAILED, Status.ERROR


def test_results_by_id_and_by_docstring() -> None:
    text = dedent("""
        Testing against Django installed in '/src' with 1 processes
        test_good (app.tests.GoodTests) ... ok
        test_bad (app.tests.GoodTests) ... FAIL
        test_worse (app.tests.GoodTests) ... ERROR
        test_skip (app.tests.GoodTests) ... skipped "it's not here"
        test_bare_skip (app.tests.GoodTests) ... skipped
        test_known (app.tests.GoodTests) ... expected failure
        test_better (app.tests.GoodTests) ... unexpected success
        test_new (app.tests.GoodTests.test_new) ... ok
        test_doc (app.tests.GoodTests)
        #12 - Dots ... inside (even.here) are fine. ... ok
    """)
    assert parse(text) == {
        "test_good (app.tests.GoodTests)": PASSED,
        "test_bad (app.tests.GoodTests)": FAILED,
        "test_worse (app.tests.GoodTests)": ERROR,
        "test_skip (app.tests.GoodTests)": Status.SKIPPED,
        "test_bare_skip (app.tests.GoodTests)": Status.SKIPPED,
        "test_known (app.tests.GoodTests)": Status.XFAIL,
        "test_better (app.tests.GoodTests)": FAILED,
        "test_new (app.tests.GoodTests.test_new)": PASSED,
        "test_doc (app.tests.GoodTests)": PASSED,
        "#12 - Dots ... inside (even.here) are fine.": PASSED,
    }


def test_result_after_the_output_of_the_test() -> None:
    text = dedent("""
        test_noisy (app.tests.T) ... System check identified no issues (0 silenced).
        Applying sites.0001_initial...
        ok
        test_noisy_doc (app.tests.T)
        Says things ... Creating tables
        FAIL
    """)
    assert parse(text) == {
        "test_noisy (app.tests.T)": PASSED,
        "test_noisy_doc (app.tests.T)": FAILED,
        "Says things": FAILED,
    }


def test_silent_subtest_failure_hides_neither_its_test_nor_the_next() -> None:
    text = dedent("""
        test_subs (app.tests.T) ... test_next (app.tests.T) ... ok
        test_doc_subs (app.tests.T)
        With words ... test_last (app.tests.T)
        The last ... ok

        ======================================================================
        FAIL: test_subs (app.tests.T) (value=<object (x.Y)>)
        ----------------------------------------------------------------------
        ======================================================================
        ERROR: test_doc_subs (app.tests.T) [named]
        With words
        ----------------------------------------------------------------------
    """)
    assert parse(text) == {
        "test_subs (app.tests.T)": FAILED,
        "test_next (app.tests.T)": PASSED,
        "test_doc_subs (app.tests.T)": ERROR,
        "With words": ERROR,
        "test_last (app.tests.T)": PASSED,
        "The last": PASSED,
    }


def test_subtests_on_separate_lines_are_read() -> None:
    text = dedent("""
        test_subs (app.tests.T.test_subs) ...
          test_subs (app.tests.T.test_subs) (i=1) ... FAIL
        test_next (app.tests.T.test_next) ... ok
        FAIL: test_subs (app.tests.T.test_subs) (i=1)
    """)
    assert parse(text) == {"test_subs (app.tests.T.test_subs)": FAILED, "test_next (app.tests.T.test_next)": PASSED}


def test_tests_with_one_docstring_share_the_worse_result() -> None:
    text = "test_a (a.B)\nSame words ... FAIL\ntest_b (a.B)\nSame words ... ok\n"
    assert parse(text)["Same words"] is FAILED


def test_run_that_dies_has_no_result_of_its_last_test() -> None:
    assert parse("test_a (a.B) ... ok\ntest_b (a.B) ... Segmentation fault\n") == {"test_a (a.B)": PASSED}


def test_failed_import_is_an_error() -> None:
    text = "app.tests (unittest.loader._FailedTest) ... ERROR\nERROR: tests (unittest.loader._FailedTest)\n"
    assert parse(text)["tests (unittest.loader._FailedTest)"] is ERROR
