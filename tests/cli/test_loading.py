"""Runs by name: what is asked for, or the names that there are."""

from collections.abc import Callable
from pathlib import Path


def test_an_unknown_run_is_refused_with_the_known_ones(assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--gold")
    assay("report", "show", "rows.golden").refuses("rows.gold")
