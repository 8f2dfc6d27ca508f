import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from assay.harness.domain import Status
from assay.harness.exports import hugging_face
from assay.harness.exports.base import RunToExport
from exported import graded
from other_tools import run_with
from submitted import ABOUT, check_spoiled, complaints, each_spoiled, exported
from toy import FIXED, KEPT, make_instance


@pytest.fixture
def run(make_run: Callable[..., RunToExport]) -> RunToExport:
    good = graded(make_instance(id="a-1"), {FIXED: Status.PASSED, KEPT: Status.PASSED})
    return make_run(good, graded(make_instance(id="a-2"), {}), missing=("a-3",), metadata=ABOUT)


def test_the_file_is_that_of_the_golden(run: RunToExport, tmp_path: Path) -> None:
    files = exported(hugging_face, run, tmp_path / "out")
    assert list(files) == [".eval_results/calc.yaml"]
    assert yaml.safe_load(files[".eval_results/calc.yaml"]) == [
        {
            "dataset": {"id": "acme/Calc", "task_id": "calc"},
            "value": 33.33,
            "date": "2026-11-23T01:02:03+00:00",
            "source": {"url": "https://example.org/report.pdf", "name": "Toy agent + M-1"},
            "notes": "1 of 3 resolved; Assay 1",
        }
    ]
    assert complaints(hugging_face, tmp_path / "out") == []


@each_spoiled("huggingface")
def test_what_the_hub_refuses_is_a_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    check_spoiled(hugging_face, run, tmp_path / "out", how)


def test_a_part_of_a_known_data_set_is_no_result_of_it(run: RunToExport, tmp_path: Path) -> None:
    about = run.metadata.model_copy(update={"benchmark": "SWE-bench/SWE-bench_Verified"})
    exported(hugging_face, replace(run, metadata=about), tmp_path / "out")
    (found,) = complaints(hugging_face, tmp_path / "out")
    assert "value: is of 3 instances, and the data set has 500; evaluate all of them" in found


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", ".eval_results/calc.yaml:1: is not YAML"),
        ("a: 1", ".eval_results/calc.yaml: is no list of results; begin each with '- dataset:'"),
        ("[]", ".eval_results/calc.yaml: is no list of results"),
    ],
)
def test_what_is_no_list_is_one_problem(tmp_path: Path, text: str, complaint: str) -> None:
    assert complaints(hugging_face, tmp_path) == [".eval_results: holds no result; add <benchmark>.yaml"]
    (tmp_path / ".eval_results").mkdir()
    (tmp_path / ".eval_results/calc.yaml").write_text(text)
    (found,) = complaints(hugging_face, tmp_path)
    assert found.startswith(complaint)


@pytest.mark.network
def test_the_hubs_own_client_reads_the_file(run: RunToExport, tmp_path: Path) -> None:
    exported(hugging_face, run, tmp_path / "out")
    program = (
        "import json, sys, yaml; from huggingface_hub import parse_eval_result_entries as read;"
        "one, = read(yaml.safe_load(open(sys.argv[1])));"
        "sys.stdout.write(json.dumps([one.dataset_id, one.task_id, one.value, one.source_url]))"
    )
    path = str(tmp_path / "out/.eval_results/calc.yaml")
    printed = run_with(["huggingface_hub>=1.4"], "python", "-c", program, path)
    assert json.loads(printed) == ["acme/Calc", "calc", 33.33, "https://example.org/report.pdf"]
