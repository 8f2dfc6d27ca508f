from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.harness.domain import Status
from assay.harness.exports import junit
from assay.harness.exports.base import RunToExport
from exported import Made, graded, mixed
from submitted import check_spoiled, complaints, each_spoiled, exported
from toy import make_instance


@pytest.fixture
def run(make_run: Made) -> RunToExport:
    return make_run(*mixed(), missing=("a-7",), patches={"a-3": ""}, outputs={"a-2": "x" * 5000 + "<b>\x1b[1mend\x00"})


def test_every_instance_is_a_test_case(run: RunToExport, tmp_path: Path) -> None:
    files = exported(junit, run, tmp_path / "out")
    assert list(files) == ["junit.xml"]
    (suite,) = ElementTree.fromstring(files["junit.xml"])
    assert {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "nightly",
        "tests": "7",
        "failures": "3",
        "errors": "2",
        "skipped": "1",
    }
    found = {case.get("name"): [part.tag for part in case] for case in suite}
    assert found == {
        "a-1": [],
        "a-2": ["failure", "system-out"],
        "a-3": ["failure"],
        "a-4": ["failure"],
        "a-5": ["error"],
        "a-6": ["error"],
        "a-7": ["skipped"],
    }
    failure = suite.find("testcase[@name='a-2']/failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("unresolved", "1 of 1 unfixed, 0 of 1 broken")
    assert failure.text == "unfixed: tests/test_calc.py::test_add\nflag: read_from_log"
    assert complaints(junit, tmp_path / "out") == []


def test_output_is_cut_to_its_end_and_to_what_xml_can_hold(run: RunToExport, tmp_path: Path) -> None:
    root = ElementTree.fromstring(exported(junit, run, tmp_path / "out")["junit.xml"])
    text = root.findtext(".//system-out") or ""
    assert (len(text), text.endswith("x<b>\ufffd[1mend\ufffd")) == (4000, True)


def test_hostile_names_stay_text(make_run: Made, tmp_path: Path) -> None:
    hostile = graded(make_instance(fail_to_pass=("<!--]]>&'\"a\x08",), repo="a/<b>"), {"x": Status.PASSED})
    root = ElementTree.fromstring(exported(junit, make_run(hostile), tmp_path / "out")["junit.xml"])
    assert (root.findtext(".//failure") or "").startswith("unfixed: <!--]]>&'\"a\ufffd")


@each_spoiled("junit")
def test_what_a_server_would_count_wrong_is_a_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    check_spoiled(junit, run, tmp_path / "out", how)
