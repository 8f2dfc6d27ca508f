"""The table of set-up in the docs is the one that the measured results give."""

import subprocess
import sys

from documented import ROOT


def test_page_shows_the_tables_of_the_committed_results() -> None:
    script = ROOT / "scripts/measure_setup.py"
    tables = subprocess.run([sys.executable, script, "--table"], check=True, capture_output=True, text=True).stdout
    page = (ROOT / "docs/evidence/setup.md").read_text(encoding="utf-8")
    for table in tables.split("\n\n"):
        assert table.strip() in page
