"""SWE-fficiency rows: classic columns, and a workload whose speed counts; the tests guard that nothing breaks."""

from typing import Any

from assay.harness.benchmarks.swe_fficiency.workload import MalformedWorkloadError, read_workload
from assay.harness.domain import DatasetRef, Instance, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC, COLUMNS, classic_fields, classic_row
from assay.instances.dataset.formats.columns import Row, row_id
from assay.instances.dataset.formats.log_parsers import find_python_parser

NAME = "swe-fficiency"
RULES: tuple[Rule, ...] = (Rule.SWE_FFICIENCY,)
WORKLOAD = "workload"
HELD = CLASSIC | {WORKLOAD}


def matches(row: Row) -> bool:
    """Return whether a row has a workload, or tests that cover the change."""
    return any(row.get(name) not in (None, "", [], {}) for name in (WORKLOAD, "covering_tests", "single_thread_tests"))


find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its tests pass before the change and after it."""
    workload, name = columns.text(row, WORKLOAD), row_id(row)
    try:
        read_workload(workload)
    except MalformedWorkloadError as error:
        raise DataError(str(error), instance=name, field=WORKLOAD) from None
    if not columns.names(row, "PASS_TO_PASS"):
        raise DataError("is empty: no test shows that a faster patch is right", instance=name, field="PASS_TO_PASS")
    parser = find_python_parser(columns.text(row, "repo"))
    often_empty = {"FAIL_TO_PASS": row.get("FAIL_TO_PASS") or [], "test_patch": row.get("test_patch") or ""}
    fields = classic_fields({**row, **often_empty})
    return columns.build(
        COLUMNS,
        **fields,
        workload=workload,
        log_format=parser.log_format,
        test_id=parser.test_id,
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    return {**classic_row(instance), **columns.read_origin(instance, NAME), WORKLOAD: instance.workload}
