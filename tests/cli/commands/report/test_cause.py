import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.commands.cause_view import print_causes
from assay.harness.domain import Cause, CauseFlag
from toy import GOLD

FOLDER = Path("runs/gold/instances/acme__calc-1/cause")


def test_the_cause_of_each_resolved_patch_is_found_and_counted(assay: Callable, runs: None) -> None:
    done = assay("report", "cause", "gold", "--json")
    assert done.code == 0, done.err
    assert done.json["figures"] == {
        "found": 3,
        "not_found": 0,
        "finished": 3,
        "needed_share": 1.0,
        "needed_shares": dict.fromkeys(("acme__calc-1", "acme__calc-2", "acme__calc-3"), 1.0),
        "median_hunk_evaluations": 0,
        "flagged_ids": [],
    }
    (first, *_) = done.json["causes"]
    assert (first["patch"], first["lines"], first["hunks_are_needed"], first["lines_are_needed"]) == (
        GOLD,
        2,
        True,
        True,
    )
    assert json.loads((FOLDER / "cause.json").read_text())["cause"] == first
    report = json.loads(Path("runs/gold/report.json").read_text())
    assert report["causes"]["found"] == 3
    shown = assay("report", "cause", "gold", "-i", "acme__calc-1")
    assert shown.out.startswith("acme__calc-1: 2 lines of 1 hunk resolve it (of 2 lines and 1 hunk; 2 evaluations)\n")
    assert "  +    return a + b" in shown.out
    assert "(known already)" in shown.err
    metrics = assay("report", "metrics", "gold", "--json").json
    assert (metrics["means"]["needed_share"], metrics["means"]["needed_share_scored"]) == (1.0, 3)
    assert assay("report", "regrade", "gold", "--json").json["causes"]["found"] == 3


def test_evaluate_finds_causes_too(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": GOLD, "acme__calc-2": ""})
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--cause", "--run-id", "mine")
    assert done.code == 0, done.err
    assert "causes: 1 of 1 resolved patch; 100% of a patch's lines needed in the mean" in done.out
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--cause", "--json").json["causes"]["found"] == 1
    assert "nothing is resolved" in assay("evaluate", "rows.jsonl", "--null", "--cause").out


def test_what_has_no_cause_is_named_with_the_reason(assay: Callable, runs: None) -> None:
    assay("report", "cause", "mine", "-i", "acme__calc-2").refuses(
        "acme__calc-2 is empty_patch in runs/mine; only a patch that is resolved has a cause"
    )
    assay("report", "cause", "mine", "-i", "acme__calc-7").refuses("has no patch for 'acme__calc-7'; did you mean")
    assay("report", "cause", "mine", "--evaluations", "0").refuses("--evaluations takes")
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--rule", "swt-bench", "--cause").refuses(
        "judges tests, not fixes"
    )


def test_an_engine_that_fails_ends_with_its_exit_status(assay: Callable, runs: None, in_folder: Path) -> None:
    (in_folder / "broken.py").write_text(
        "from assay.harness.engines.fake import FakeEngine\n"
        "from assay.harness.errors import EngineError\n"
        "def fail(call, image):\n"
        "    if call == 'exec': raise EngineError('no space left')\n"
        "def make(): return FakeEngine({}, fault=fail)\n"
    )
    done = assay("report", "cause", "gold", "-i", "acme__calc-1", "--engine", "broken:make")
    assert done.code == 3
    assert "no cause, an evaluation failed: no space left" in done.out


def test_long_causes_are_cut_and_flags_and_limits_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    body = "".join(f"+line {number}\n" for number in range(20))
    patch = f"diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n@@ -0,0 +1,20 @@\n{body}"
    flag = CauseFlag(path="f.py", text="sys.argv\x1b[2J", word="sys.argv")
    print_causes([Cause(instance_id="a__b-1", patch=patch, lines=20, hunks=1, of_lines=20, of_hunks=1, flags=(flag,))])
    shown = capsys.readouterr().out
    assert "perhaps fewer do: the same command resumes" in shown
    assert "... and 9 more" in shown
    assert "flagged, looks at sys.argv: f.py: sys.argv\\x1b[2J" in shown
    assert shown.endswith("causes: 1 of 1 resolved patch; 100% of a patch's lines needed in the mean; 1 flagged\n")
