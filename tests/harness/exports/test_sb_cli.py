import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.exports import sb_cli
from assay.harness.exports.base import RunToExport
from assay.instances.dataset.predictions import read_predictions
from exported import graded
from other_tools import run_with
from submitted import check_spoiled, complaints, each_spoiled, exported
from toy import make_instance


@pytest.fixture
def run(make_run: Callable[..., RunToExport]) -> RunToExport:
    return make_run(*(graded(make_instance(id=name), {}) for name in ("a-1", "a-2")), patches={"a-2": "é\ud800\n"})


def test_predictions_are_an_object_by_id(run: RunToExport, tmp_path: Path) -> None:
    files = exported(sb_cli, run, tmp_path / "out")
    assert list(files) == ["preds.json"]
    row = {"instance_id": "a-2", "model_name_or_path": "acme/model-1", "model_patch": "é\ud800\n"}
    assert json.loads(files["preds.json"])["a-2"] == row
    assert read_predictions(tmp_path / "out/preds.json") == run.predictions
    assert complaints(sb_cli, tmp_path / "out") == []


@each_spoiled("sb-cli")
def test_what_the_service_refuses_is_a_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    check_spoiled(sb_cli, run, tmp_path / "out", how)


@pytest.mark.network
def test_sb_cli_itself_takes_the_file(run: RunToExport, tmp_path: Path) -> None:
    exported(sb_cli, run, tmp_path / "out")
    program = (
        "import json, sys; from sb_cli.submit import process_predictions as read;"
        "sys.stdout.write(json.dumps([each['instance_id'] for each in read(sys.argv[1], [])]))"
    )
    printed = run_with(["sb-cli==0.1.5"], "python", "-c", program, str(tmp_path / "out/preds.json"))
    assert json.loads(printed) == ["a-1", "a-2"]
