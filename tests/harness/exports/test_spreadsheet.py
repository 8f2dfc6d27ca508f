import csv
import io
from pathlib import Path

import pytest

from assay.harness.domain import FailedPart
from assay.harness.exports import spreadsheet
from assay.harness.exports.base import RunToExport
from exported import Made, graded, mixed
from submitted import check_spoiled, complaints, each_spoiled, exported
from toy import make_instance


@pytest.fixture
def run(make_run: Made) -> RunToExport:
    return make_run(*mixed(), missing=("a-7",), patches={"a-3": ""})


def test_every_instance_is_a_row(run: RunToExport, tmp_path: Path) -> None:
    files = exported(spreadsheet, run, tmp_path / "out")
    rows = list(csv.DictReader(io.StringIO(files["verdicts.csv"].decode())))
    assert [(row["instance_id"], row["outcome"], row["resolved"]) for row in rows] == [
        ("a-1", "resolved", "true"),
        ("a-2", "unresolved", "false"),
        ("a-3", "empty_patch", "false"),
        ("a-4", "timed_out", "false"),
        ("a-5", "infra_error", "false"),
        ("a-6", "env_error", "false"),
        ("a-7", "no_prediction", "false"),
    ]
    assert (rows[1]["unfixed"], rows[1]["expected"], rows[1]["flags"]) == ("1", "2", "read_from_log")
    assert (rows[0]["environment"], rows[0]["model"], rows[0]["repo"]) == ("recipe", "acme/model-1", "acme/calc")
    assert rows[4]["reason"] == "the engine\nis gone"
    assert complaints(spreadsheet, tmp_path / "out") == []


def test_no_cell_is_a_formula(make_run: Made, tmp_path: Path) -> None:
    hostile = graded(make_instance(), {}, failed_part=FailedPart.ENVIRONMENT, error='=HYPERLINK("http://x","y")')
    text = exported(spreadsheet, make_run(hostile), tmp_path / "out")["verdicts.csv"].decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["reason"] == '\'=HYPERLINK("http://x","y")'


@each_spoiled("csv")
def test_a_spoiled_table_has_its_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    check_spoiled(spreadsheet, run, tmp_path / "out", how)
