"""What older versions of Assay wrote is still read: a run, a bundle and a report of each commit in data/versions."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

VERSIONS = sorted((Path(__file__).parents[1] / "data/versions").iterdir())


@pytest.fixture(params=VERSIONS, ids=lambda folder: folder.name)
def old(request: pytest.FixtureRequest, in_folder: Path) -> Path:
    """The files of one version, and two copies of its run."""
    for name in ("old", "same"):
        shutil.copytree(request.param / "run", in_folder / "runs" / name)
    return Path(request.param)


def test_an_older_run_is_shown_compared_and_regraded(assay: Callable, old: Path) -> None:
    shown = assay("report", "show", "old", "--json").json
    assert json.loads((old / "show.json").read_text()).items() <= shown.items()
    for command in (("compare", "old", "same"), ("html", "old", "-o", "pages")):
        assert assay("report", *command).code == 0
    assert "0 verdicts changed" in (done := assay("report", "regrade", "old")).out + done.err


def test_an_older_bundle_is_verified(assay: Callable, old: Path) -> None:
    done = assay("report", "verify", str(old / "old.bundle"))
    assert (done.code, "The bundle holds" in done.out) == (0, True)


def test_an_older_runs_verdicts_are_not_reused_and_a_line_says_why(assay: Callable, old: Path) -> None:
    done = assay("evaluate", str(old / "rows.jsonl"), "-p", str(old / "preds.jsonl"), "--run-id", "old")
    assert "2 saved verdicts were made by other code or options: tests run again" in done.err
