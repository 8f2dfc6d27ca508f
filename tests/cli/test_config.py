"""Settings: which source counts, and what is wrong in a file."""

from collections.abc import Callable
from pathlib import Path

import pytest


def test_settings_come_from_line_environment_and_file_in_this_order(assay: Callable, rows: Path) -> None:
    Path("assay.toml").write_text('runs_dir = "from-file"\n')
    assay("evaluate", "rows.jsonl", "--gold")
    assert Path("from-file/rows.gold/report.json").is_file()
    assay("evaluate", "rows.jsonl", "--gold", ASSAY_RUNS_DIR="from-env")
    assert Path("from-env/rows.gold/report.json").is_file()
    assay("evaluate", "rows.jsonl", "--gold", "--runs-dir", "from-line", ASSAY_RUNS_DIR="from-env")
    assert Path("from-line/rows.gold/report.json").is_file()


@pytest.mark.parametrize(
    ("text", "words"),
    [("jobs = 'many'", ["assay.toml", "jobs"]), ("speed = 9", ["assay.toml", "speed"]), ("jobs", ["assay.toml"])],
)
def test_a_wrong_settings_file_is_one_line(assay: Callable, rows: Path, text: str, words: list[str]) -> None:
    Path("assay.toml").write_text(text)
    done = assay("evaluate", "rows.jsonl", "--gold")
    assert done.code == 2
    assert all(word in done.err for word in words)
