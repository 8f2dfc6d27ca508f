import json
from collections.abc import Callable
from pathlib import Path


def test_a_run_is_shown_by_name_and_by_folder(assay: Callable, run: Path) -> None:
    for name in ("rows.gold", "runs/rows.gold"):
        done = assay("report", "show", name)
        assert done.code == 0
        assert "3 of 3 resolved" in done.out
    assert assay("report", "show", "rows.gold", "--json").json == json.loads((run / "report.json").read_text())
