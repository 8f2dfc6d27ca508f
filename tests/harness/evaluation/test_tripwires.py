import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.evaluation.tripwires import make_canary
from assay.harness.reports import junit_xml


@given(st.text())
def test_one_function_and_one_method_pass_and_all_others_fail(nonce: str) -> None:
    canary = make_canary(nonce)
    for methods in (False, True):
        statuses = [status for name, status in canary.expected.items() if ("::" in name) is methods]
        assert statuses.count(Status.PASSED) == 1
        assert statuses.count(Status.FAILED) == len(statuses) - 1 >= 3
    compile(canary.text, canary.path, "exec")


def test_another_nonce_gives_other_names() -> None:
    one, two = make_canary("1"), make_canary("2")
    assert one.path != two.path
    assert not set(one.expected) & set(two.expected)


@pytest.mark.parametrize("nonce", ["a", "b", "c"])
def test_pytest_reports_the_expected_statuses(tmp_path: Path, nonce: str) -> None:
    canary = make_canary(nonce)
    (tmp_path / canary.path).write_text(canary.text)
    command = [sys.executable, "-m", "pytest", "--junitxml=r.xml", "-o", "junit_family=xunit1", canary.path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1
    assert junit_xml.parse((tmp_path / "r.xml").read_text()) == canary.by_id("node")
