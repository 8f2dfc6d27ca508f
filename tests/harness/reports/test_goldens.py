"""Every format against texts in the style of its tool, written by hand.

A folder per format; beside each text lies what must be read from it: the tests under the names of one style, and for
formats that may name failures only whether the suite ran. ``cut`` texts end in the middle, in ``forged`` ones a test
prints what its report looks like.
"""

import json
from pathlib import Path

import pytest

from assay.harness.domain import Status
from assay.harness.reports import FORMATS, read_log, suite_ran
from assay.harness.reports.base import FailuresOnly, ReportFormat
from assay.harness.reports.ids import rename
from tables import read_tables

TABLES = read_tables(__file__)

FOLDER = Path(__file__).parent / "goldens"
TEXTS = sorted(path for path in FOLDER.glob("*/*") if not path.name.endswith(".expected.json"))
LOGS = [path for path in TEXTS if path.parent.name.endswith("_text") or path.parent.name == "tap"]


def label(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def parse(reader: ReportFormat, text: str, test_id: str = "node") -> dict[str, Status]:
    return rename(reader.parse(text), test_id)


@pytest.mark.parametrize("path", TEXTS, ids=label)
def test_golden(path: Path) -> None:
    text = path.read_text("utf-8")
    expected = json.loads(path.with_suffix(".expected.json").read_text("utf-8"))
    tests = parse(FORMATS[path.parent.name], text, expected["test_id"])
    assert {name: status.value for name, status in tests.items()} == expected["tests"]
    if isinstance(FORMATS[path.parent.name], FailuresOnly):
        assert suite_ran(path.parent.name, text, tests) == expected["suite_ran"]


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"status_json"}))  # Assay's own, and its tests are their own
def test_every_format_has_goldens(name: str) -> None:
    expected = [json.loads(path.read_text("utf-8"))["tests"] for path in (FOLDER / name).glob("*.expected.json")]
    statuses = {status for tests in expected for status in tests.values()}
    assert {"failed"} < statuses
    assert {"cut", "forged"} <= {path.stem for path in TEXTS if path.parent.name == name}


@pytest.mark.parametrize("path", LOGS, ids=label)
def test_log_with_markers_colours_or_other_line_ends_is_read_the_same(path: Path) -> None:
    reader, text = FORMATS[path.parent.name], path.read_text("utf-8")
    plain = parse(reader, text)
    assert read_log(reader, f"+ : '>>>>> Start Test Output'\n{text}\n+ : '>>>>> End Test Output'\n") == plain
    assert parse(reader, text.replace("\n", "\r\n")) == plain
    assert parse(reader, text.replace("\n", "\x1b[0m\n\x1b[32m")) == plain


@pytest.mark.parametrize(("one", "other", "test_id"), TABLES["label_is_found_in_log_and_report_of_a_runner"])
def test_label_is_found_in_log_and_report_of_a_runner(one: str, other: str, test_id: str) -> None:
    read = [
        parse(FORMATS[name.partition("/")[0]], (FOLDER / name).read_text("utf-8"), test_id) for name in (one, other)
    ]
    shared = read[0].keys() & read[1].keys()
    assert len(shared) > 1, read
    bad = {Status.FAILED, Status.ERROR}
    for name in shared:
        assert read[0][name] == read[1][name] or {read[0][name], read[1][name]} <= bad, name
