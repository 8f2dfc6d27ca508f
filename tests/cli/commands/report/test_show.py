import json
import os
from collections.abc import Callable
from pathlib import Path


def test_a_run_is_shown_by_name_and_by_folder(assay: Callable, run: Path) -> None:
    for name in ("rows.gold", "runs/rows.gold"):
        done = assay("report", "show", name)
        assert done.code == 0
        assert "3 of 3 resolved" in done.out
    assert assay("report", "show", "rows.gold", "--json").json == json.loads((run / "report.json").read_text())


def test_a_run_of_somebody_else_can_neither_write_on_the_terminal_nor_hang_it(assay: Callable, run: Path) -> None:
    report = json.loads((run / "report.json").read_text())
    (run / "report.json").write_text(json.dumps({**report, "run_id": "a\x1b]0;x\x07\u202eb\x9b"}))
    shown = assay("report", "show", "rows.gold").out
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(shown)
    (run / "report.json").unlink()
    os.mkfifo(run / "report.json")
    done = assay("report", "show", "rows.gold")
    assert (done.code, "report.json: is a link or no regular file" in done.err) == (2, True)
