"""Reading whole runs, the last of them by a real pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.harness.domain import Channel, Status, TestPlan, TestReport
from assay.harness.errors import UserError
from assay.harness.reports import FORMATS, label_names, read, read_log
from tables import read_tables

TEXTS = read_tables(__file__)

PLAN = TestPlan(command="pytest")
XML = b"""<testsuite><testcase classname="t" name="test_x"/>
<testcase classname="t.TestC" name="test_x[1]"><failure/></testcase></testsuite>"""
LOG = "PASSED t.py::test_x\nFAILED t.py::TestC::test_x[1] - no\n"


def report_of(plan: TestPlan, files: dict[str, bytes], output: str) -> TestReport:
    return read(plan, files, output)[0]


def test_report_file_wins_over_the_log() -> None:
    report = report_of(PLAN, {"report.xml": XML}, LOG)
    assert report == TestReport(
        channel=Channel.REPORT,
        format="junit_xml",
        tests={"t.py::test_x": Status.PASSED, "t.py::TestC::test_x[1]": Status.FAILED},
        suite_ran=True,
    )


def test_disagreements_name_the_tests_with_another_result_in_the_log() -> None:
    log = "FAILED t.py::test_x - no\nERROR t.py::TestC::test_x[1]\nPASSED t.py::other\n"
    assert report_of(PLAN, {"report.xml": XML}, log).disagreements == ("t.py::test_x",)


@pytest.mark.parametrize("files", [{}, {"report.xml": b""}, {"report.xml": b"<testsuite>\xff"}])
def test_log_is_used_if_the_files_have_no_test(files: dict[str, bytes]) -> None:
    report = report_of(PLAN, files, LOG)
    assert (report.channel, report.format) == (Channel.LOG, "pytest_text")
    assert report.tests["t.py::TestC::test_x[1]"] is Status.FAILED


def test_run_without_results_has_an_empty_report() -> None:
    assert report_of(PLAN, {}, "Segmentation fault") == TestReport()


def test_several_files_make_one_report_of_worst_statuses() -> None:
    other = b'<testsuite><testcase classname="t" name="test_x"><error/></testcase></testsuite>'
    for files in ({"a.xml": XML, "b.xml": other}, {"a.xml": other, "b.xml": XML}):
        assert report_of(PLAN, files, "").tests["t.py::test_x"] is Status.ERROR


def test_style_function_names_tests_by_function() -> None:
    plan = TestPlan(command="pytest", test_id="function")
    report = report_of(plan, {"report.xml": XML}, LOG)
    assert report.tests == {"test_x": Status.FAILED}
    assert report.disagreements == ()


def test_markers_in_the_output_of_a_run_hide_nothing() -> None:
    fenced = (
        "PASSED t.py::a\n+ : '>>>>> Start Test Output'\nPASSED t.py::b\n+ : '>>>>> End Test Output'\nFAILED t.py::b\n"
    )
    assert report_of(PLAN, {}, fenced).tests == {"t.py::a": Status.PASSED, "t.py::b": Status.FAILED}


def test_empty_fenced_part_falls_back_to_the_whole_output() -> None:
    fenced = ">>>>> Start Test Output\n>>>>> End Test Output\nPASSED t.py::c\n"
    assert list(report_of(PLAN, {}, fenced).tests) == ["t.py::c"]


@pytest.mark.parametrize(
    ("log", "ran", "tests"),
    [
        ("Chrome 94.0 (Linux x86_64): Executed 4 of 4 SUCCESS (0.1 secs / 0.1 secs)\n", True, {}),
        ("Chrome 94.0 (Linux x86_64): Executed 3 of 4 SUCCESS (0.1 secs / 0.1 secs)\n", False, {}),
        ("Chrome 94.0 (Linux x86_64) cart adds FAILED\n", False, {"cart adds": Status.FAILED}),
        ("", False, {}),
    ],
)
def test_log_of_failures_only_can_show_that_the_suite_ran(log: str, ran: bool, tests: dict[str, Status]) -> None:
    plan = TestPlan(command="karma", report_format="", log_format="karma_text", test_id="spaced")
    report = report_of(plan, {}, log)
    assert (report.suite_ran, report.tests) == (ran, tests)
    assert report.channel is (Channel.LOG if ran or tests else Channel.NONE)


def test_tests_show_that_the_suite_ran_in_other_formats() -> None:
    assert report_of(PLAN, {}, LOG).suite_ran
    assert not report_of(PLAN, {}, "").suite_ran


def test_unknown_style_or_format_is_refused() -> None:
    with pytest.raises(UserError, match="unknown test id style 'x'"):
        report_of(TestPlan(command="pytest", test_id="x"), {}, "")
    with pytest.raises(UserError, match="unknown report format 'x'"):
        report_of(TestPlan(command="pytest", report_format="x"), {}, "")


PROJECT = TEXTS["project"]
EXPECTED = {
    "test_a.py::TestA::test_inherited": Status.PASSED,
    "test_a.py::TestA::test_bad": Status.FAILED,
    "test_a.py::test_p[a b]": Status.PASSED,
    "test_a.py::test_p[a - b]": Status.FAILED,
    "test_a.py::test_p[p.q::r]": Status.PASSED,
    "test_a.py::test_p[[z]": Status.PASSED,
    "test_a.py::test_p[two\\nlines]": Status.PASSED,
    "test_a.py::test_p[/tmp/x/y.py]": Status.PASSED,
    "test_a.py::test_p[<&>]": Status.PASSED,
    "test_a.py::test_xfail": Status.XFAIL,
    "test_a.py::test_xpass": Status.PASSED,
    "test_a.py::test_teardown": Status.ERROR,
    "test_a.py::test_skip": Status.SKIPPED,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "base.py").write_text("class Shared:\n    def test_inherited(self):\n        pass\n")
    (folder / "test_a.py").write_text(PROJECT)
    return folder


@pytest.mark.parametrize("options", [["-rA", "-v"], ["-rA", "--color=yes"], ["-v", "-o", "junit_family=xunit2"]])
def test_report_and_log_of_a_real_run_agree(project: Path, options: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml=out.xml", *options]
    if "junit_family=xunit2" not in options:
        command += ["-o", "junit_family=xunit1"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    report = report_of(PLAN, {"out.xml": (project / "out.xml").read_bytes()}, run.stdout)
    assert report.tests == EXPECTED
    assert report.disagreements == ()
    logged = FORMATS["pytest_text"].parse(run.stdout)
    untold = set() if "-v" in options else {"test_a.py::test_skip"}  # the summary names skips by line only
    assert logged == {name: status for name, status in EXPECTED.items() if name not in untold}


TRIPPING = {"good_cursor": Status.PASSED, "bad_label": Status.FAILED}


def test_tripwires_are_parted_from_the_projects_tests_in_both_channels() -> None:
    plan = TestPlan(command="", report_path="r", test_id="function")
    report = b"""<testsuite><testcase classname="t" name="test_x"/><testcase classname="z.C" name="bad_label"><failure/>
    </testcase><testcase classname="z" name="good_cursor"/></testsuite>"""
    output = "PASSED t.py::test_x\nFAILED z.py::C::bad_label - no\n"
    found, tripwires = read(plan, {"r": report}, output, TRIPPING, {Status.PASSED, Status.FAILED})
    assert found.tests == {"test_x": Status.PASSED}
    good, bad = tripwires["good_cursor"], tripwires["bad_label"]
    assert (good.reported, good.printed) == (Status.PASSED, Status.MISSING)
    assert (bad.reported, bad.printed) == (Status.FAILED, Status.FAILED)


def test_runner_that_prints_failures_alone_is_no_witness_of_what_passed() -> None:
    plan = TestPlan(command="", report_path="r")
    found, tripwires = read(plan, {"r": XML}, "", TRIPPING, {Status.FAILED})
    assert (tripwires["good_cursor"].printed, tripwires["bad_label"].printed) == (None, Status.MISSING)
    assert found.unprinted == ()


@pytest.mark.parametrize(
    ("output", "unprinted"),
    [
        ("PASSED t.py::test_x\nFAILED t.py::TestC::test_x[1]", ()),
        ("test_xy and a_test_x", ("t.py::test_x", "t.py::TestC::test_x[1]")),
        ("", ("t.py::test_x", "t.py::TestC::test_x[1]")),
    ],
)
def test_tests_that_a_talkative_runner_does_not_name_are_unprinted(output: str, unprinted: tuple[str, ...]) -> None:
    found, _ = read(TestPlan(command="", report_path="r"), {"r": XML}, output, {}, {Status.PASSED})
    assert found.unprinted == unprinted


def test_a_skipped_test_need_not_be_printed() -> None:
    xml = b"""<testsuite><testcase classname="t" file="t.py" name="test_s"><skipped/></testcase></testsuite>"""
    plan = TestPlan(command="", report_path="r")
    found, _ = read(plan, {"r": xml}, "SKIPPED [1] t.py:3: not today", {}, {Status.PASSED})
    assert list(found.tests.values()) == [Status.SKIPPED]
    assert found.unprinted == ()


def test_output_beside_a_report_has_no_fences() -> None:
    plan = TestPlan(command="", report_path="r")
    log = ">>>>> Start Test Output\nFAILED t.py::test_x\n>>>>> End Test Output\n=== test session starts ===\n"
    found, _ = read(plan, {"r": XML}, log + "=== short test summary info ===\nPASSED t.py::test_x\n")
    assert found.disagreements == ()


def test_label_has_the_first_of_the_names_of_a_test() -> None:
    xml = b"""<testsuite name="com.x.FooTest"><testcase classname="com.x.FooTest" name="adds"/></testsuite>"""
    plan = TestPlan(command="mvn test", report_format="junit_xml", log_format="maven_text", test_id="method")
    files = {"TEST-com.x.FooTest.xml": xml}
    names = {"com.x.FooTest#adds", "FooTest#adds", "com.x.FooTest", "FooTest"}
    assert set(read(plan, files, "")[0].tests) == names
    assert label_names(plan, files, "") == {"com.x.FooTest#adds"}


def test_labels_are_named_after_the_log_of_a_plan_without_a_report() -> None:
    plan = TestPlan(command="pytest -rA", log_format="pytest_text", test_id="node")
    assert label_names(plan, {}, "PASSED a.py::b\nFAILED a.py::c - no\n") == {"a.py::b", "a.py::c"}


PYTEST_LOG = (
    "PASSED t.py::a\nXPASS t.py::b was broken\nXPASS t.py::d[1 2] in [3]\nXPASS t.py::c\nFAILED t.py::c - tear-down\n"
)
PYTEST_XML = b"""<testsuite><testcase classname="t" name="a"/><testcase classname="t" name="b"/></testsuite>"""
CARGO_LOG = """\
running 5 tests
test sums::adds ... ok
test sums::divides - should panic ... ok
test sums::both ... ok
test sums::both - should panic ... ok
test src/lib.rs - sums (line 3) ... ok

test result: ok. 5 passed; 0 failed; 0 ignored
"""


@pytest.mark.parametrize(
    ("log_format", "log", "all_tests", "seen"),
    [
        ("pytest_text", PYTEST_LOG, "t.py::a, t.py::b, t.py::c, t.py::d[1 2]", "t.py::a, t.py::c"),
        (
            "cargo_text",
            CARGO_LOG,
            "src/lib.rs - sums (line 3), sums::adds, sums::both, sums::divides",
            "sums::adds, sums::both",
        ),
        ("mocha_text", "  suite\n    \u2713 adds all\n\n  1 passing\n", "suite::adds all", "suite::adds all"),
    ],
)
def test_what_the_parsers_of_a_strict_benchmark_overlook_is_left_out(
    log_format: str, log: str, all_tests: str, seen: str
) -> None:
    def is_label(_: str) -> bool:
        return False

    def names(found: dict[str, Status]) -> str:
        return ", ".join(sorted(found))

    for plan, files in (
        (TestPlan(command="", report_format="", log_format=log_format), {}),
        (TestPlan(command="", report_path="r", report_format=log_format, log_format=log_format), {"r": log.encode()}),
    ):
        assert names(read(plan, files, log)[0].tests) == all_tests
        assert names(read(plan, files, log, is_label=is_label)[0].tests) == seen
    reader = FORMATS[log_format]
    assert (names(read_log(reader, log)), names(read_log(reader, log, is_label=is_label))) == (all_tests, seen)


def test_what_is_overlooked_in_a_log_is_left_out_of_the_report_beside_it() -> None:
    plan = TestPlan(command="", report_path="r", report_format="junit_xml", log_format="pytest_text")
    assert set(read(plan, {"r": PYTEST_XML}, PYTEST_LOG)[0].tests) == {"t.py::a", "t.py::b"}
    assert set(read(plan, {"r": PYTEST_XML}, PYTEST_LOG, is_label=lambda _: False)[0].tests) == {"t.py::a"}
