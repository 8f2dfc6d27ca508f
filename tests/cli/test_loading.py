from collections.abc import Callable
from pathlib import Path


def test_an_unknown_run_names_those_that_there_are(assay: Callable, run: Path) -> None:
    done = assay("report", "show", "rows.golden")
    assert done.code == 2
    assert "rows.gold" in done.err
