"""SWE-Perf rows: classic columns without labels; the tests of ``efficiency_test`` have to pass, and to be faster."""

from typing import Any

from assay.harness.domain import DatasetRef, Instance, Rule
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC, COLUMNS, classic_fields, classic_row
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.log_parsers import find_python_parser

NAME = "swe-perf"
RULES: tuple[Rule, ...] = (Rule.SWE_PERF,)
TESTS = "efficiency_test"
STATEMENTS = ("problem_statement", "problem_statement_realistic", "problem_statement_oracle")
HELD = (CLASSIC | {TESTS}) - {"FAIL_TO_PASS", "PASS_TO_PASS", "problem_statement"}
PROGRAM = """\
import timeit
import pytest

TESTS = {tests!r}


class Outcomes:
    def __init__(self):
        self.found = {{}}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.found[report.nodeid] = report.outcome


def workload():
    outcomes = Outcomes()
    status = int(pytest.main(["-q", "-p", "no:cacheprovider", *TESTS], plugins=[outcomes]))
    return status, outcomes.found


timeit.repeat(workload, number=1, repeat=1)
"""
"""The workload: one run of all tests in a process, whose outcomes are its result."""

matches = columns.make_matcher("duration_changes", TESTS)
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its tests pass before the change and after it."""
    tests = columns.names(row, TESTS)
    if not tests:
        raise row_error(row, TESTS, "is empty: no test shows that a faster patch is right")
    statement = next((str(row[name]) for name in STATEMENTS if row.get(name)), "")
    parser = find_python_parser(columns.text(row, "repo"))
    given = {**row, "problem_statement": statement, "FAIL_TO_PASS": [], "PASS_TO_PASS": list(tests)}
    return columns.build(
        {**COLUMNS, "pass_to_pass": TESTS},
        **classic_fields({**given, "test_patch": row.get("test_patch") or ""}),
        workload=PROGRAM.format(tests=list(tests)),
        log_format=parser.log_format,
        test_id=parser.test_id,
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    kept = columns.read_origin(instance, NAME)
    left_out = {"FAIL_TO_PASS", "PASS_TO_PASS", *(("problem_statement",) if kept else ())}
    row = {name: value for name, value in classic_row(instance).items() if name not in left_out}
    return {**row, TESTS: list(instance.pass_to_pass), **kept}
