"""Documents that pytest wrote, of any version."""

import pytest

from assay.harness.domain import Status
from assay.harness.reports.junit_xml import parse
from tables import read_tables

TABLES = read_tables(__file__)


def suite(*cases: str) -> str:
    return f"<?xml version='1.0'?><testsuites><testsuite name='pytest'>{''.join(cases)}</testsuite></testsuites>"


def case(classname: str, name: str, inner: str = "", file: str = "") -> str:
    where = f' file="{file}" line="3"' if file else ""
    return f'<testcase classname="{classname}" name="{name}"{where} time="0.1">{inner}</testcase>'


@pytest.mark.parametrize(
    ("inner", "status"),
    [
        ("", Status.PASSED),
        ("<failure message='assert 0'>trace</failure>", Status.FAILED),
        ("<error message='failed on setup'>trace</error>", Status.ERROR),
        ("<skipped type='pytest.skip' message='no'/>", Status.SKIPPED),
        ("<skipped type='pytest.xfail' message=''/>", Status.XFAIL),
        ("<skipped message='expected test failure'>trace</skipped>", Status.XFAIL),
        ("<skipped message='xfail-marked test passes unexpectedly'/>", Status.PASSED),
        ("<failure/><error message='failed on teardown'/>", Status.ERROR),
        ("<system-out>FAILED</system-out>", Status.PASSED),
    ],
)
def test_status(inner: str, status: Status) -> None:
    assert parse(suite(case("tests.test_a", "test_x", inner, "tests/test_a.py"))) == {"tests/test_a.py::test_x": status}


@pytest.mark.parametrize(("classname", "name", "file", "node"), TABLES["node_id"])
def test_node_id(classname: str, name: str, file: str, node: str) -> None:
    assert list(parse(suite(case(classname, name, file=file)))) == [node]


def test_inherited_test_belongs_to_the_module_that_runs_it() -> None:
    tests = parse(
        suite(
            case("tests.test_a", "test_own", file="tests/test_a.py"),
            case("tests.test_a.checks", "test_inherited", file="tests/base.py"),
        )
    )
    assert list(tests) == ["tests/test_a.py::test_own", "tests/test_a.py::checks::test_inherited"]


def test_test_reported_twice_keeps_its_worst_status() -> None:
    cases = [case("t", "x"), case("t", "x", "<error/>"), case("t", "x", "<skipped/>")]
    assert parse(suite(*cases)) == {"t.py::x": Status.ERROR}
