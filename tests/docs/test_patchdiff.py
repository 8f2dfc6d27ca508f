"""The table of real rows in the docs is the one that the measured results give."""

import subprocess
import sys

from documented import ROOT


def test_page_shows_the_table_of_the_committed_results() -> None:
    script = ROOT / "scripts/measure_patchdiff.py"
    table = subprocess.run([sys.executable, script, "--table"], check=True, capture_output=True, text=True).stdout
    assert table.count("\n") > 2
    assert table.strip() in (ROOT / "docs/patchdiff.md").read_text(encoding="utf-8")
