from collections.abc import Callable

import pytest

from assay.harness.domain import Instance, Rule, Stages, Status
from assay.instances.audit.finding import AuditKind, Severity
from assay.instances.audit.patches import (
    find_unnamed_tests,
    function_names,
    gold_touches_tests,
    no_fail_to_pass,
    no_test_file,
)
from assay.instances.audit.subject import subject
from changes import change


def test_gold_patch_that_changes_tests_is_found(make_instance: Callable[..., Instance]) -> None:
    gold = change("calc.py", adds=["x"]) + change("tests/data.json", adds=["{}"])
    (found,) = gold_touches_tests(subject(make_instance(gold_patch=gold)))
    assert (found.severity, found.evidence) == (Severity.DOUBT, ("tests/data.json",))
    assert not list(gold_touches_tests(subject(make_instance())))


def test_test_patch_without_tests_is_found(make_instance: Callable[..., Instance]) -> None:
    (found,) = no_test_file(subject(make_instance(test_patch=change("calc.py", adds=["x"]))))
    assert (found.kind, found.severity, found.evidence) == (AuditKind.NO_TEST_FILE, Severity.DOUBT, ("calc.py",))
    (found,) = no_test_file(subject(make_instance(test_patch="")))
    assert found.severity is Severity.NOTE
    assert not list(no_test_file(subject(make_instance())))


def test_instance_without_fail_to_pass_tests_is_found(make_instance: Callable[..., Instance]) -> None:
    (found,) = no_fail_to_pass(subject(make_instance(fail_to_pass=())))
    assert (found.kind, found.severity) == (AuditKind.NO_FAIL_TO_PASS, Severity.FAULT)
    stages = Stages(fix={"test_add": Status.PASSED})
    assert not list(no_fail_to_pass(subject(make_instance(fail_to_pass=(), stages=stages, rule=Rule.R2E))))


@pytest.mark.parametrize(
    "test",
    [
        "tests/test_calc.py::test_add",
        "tests/test_calc.py::TestCalc::test_add[1-2]",
        "test_add (tests.test_calc.CalcTests)",
        "com.acme.CalcTest#test_add",
        "calc::tests::test_add",
        "Calc > Test add",
        "TestCalc/negative_numbers",
        "calculator adds two numbers",
        "tests/test_calc.py",
    ],
)
def test_ids_of_many_runners_are_found_in_the_test_patch(make_instance: Callable[..., Instance], test: str) -> None:
    lines = ["def test_add():", "func TestCalc(t *testing.T) {", "it('adds two numbers', () => {"]
    about = make_instance(test_patch=change("tests/test_calc.py", adds=lines), fail_to_pass=(test,))
    assert not list(find_unnamed_tests(subject(about)))


def test_title_with_a_placeholder_is_found(make_instance: Callable[..., Instance]) -> None:
    lines = ["describe(`${name} should add`, () => {"]
    about = make_instance(test_patch=change("a.test.js", adds=lines), fail_to_pass=("fast sum should add twice",))
    assert not list(find_unnamed_tests(subject(about)))


def test_unnamed_tests_are_found(make_instance: Callable[..., Instance]) -> None:
    both = ("tests/test_calc.py::test_add", "tests/test_other.py::test_else")
    (found,) = find_unnamed_tests(subject(make_instance(fail_to_pass=both)))
    assert (found.severity, found.evidence) == (Severity.NOTE, both[1:])
    assert found.summary == "the test patch names 1 of 2 fail-to-pass tests"
    (found,) = find_unnamed_tests(subject(make_instance(fail_to_pass=both[1:])))
    assert found.severity is Severity.DOUBT


def test_changed_test_data_may_fix_any_test(make_instance: Callable[..., Instance]) -> None:
    about = make_instance(
        test_patch=change("tests/cases.json", adds=["{}"]), fail_to_pass=("tests/test_calc.py::test_cases",)
    )
    assert [each.severity for each in find_unnamed_tests(subject(about))] == [Severity.NOTE]


@pytest.mark.parametrize(
    ("test", "severity"),
    [
        ("tests/test_calc.py::test_else", Severity.NOTE),
        ("tests/test_other.py::test_else", Severity.DOUBT),
        ("test_else (tests.test_calc.CalcTests)", Severity.NOTE),
        ("test_else (tests.test_other.CalcTests)", Severity.DOUBT),
        ("com.acme.OtherTest#shouldAdd", Severity.DOUBT),
        ("calc::tests::test_else", Severity.NOTE),
        ("TestElse", Severity.NOTE),
    ],
)
def test_only_tests_of_other_files_are_a_doubt(
    make_instance: Callable[..., Instance], test: str, severity: Severity
) -> None:
    (found,) = find_unnamed_tests(subject(make_instance(fail_to_pass=(test,))))
    assert found.severity is severity


def test_sentence_names_no_function() -> None:
    assert function_names("should add two numbers") == ()
