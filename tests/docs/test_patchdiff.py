"""The tables in the docs are those that the measured results give."""

import subprocess
import sys

import pytest

from documented import ROOT

pytestmark = pytest.mark.slow

PRESETS = tuple(f"eleventh{preset}" for preset in ("", "-quick", "-thorough", "-compose"))
SETS = ("fifth", "sixth", "seventh", "eighth", "eighth-2", "ninth", "tenth", *PRESETS)
"""Sets of patches whose results are kept."""


@pytest.mark.parametrize(
    ("command", "heading"),
    [
        ("measure_patchdiff.py --table", ""),
        *(
            (f"bench_patchdiff.py docs/data/patchdiff_cases.jsonl --phase {set_} --table", f"\n{set_}\n")
            for set_ in SETS
        ),
    ],
)
def test_pages_show_the_tables_of_the_committed_results(command: str, heading: str) -> None:
    script, *arguments = command.split()
    run = [sys.executable, f"scripts/{script}", *arguments]
    table = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout.removeprefix(heading)
    assert table.count("\n") > 2
    assert table.strip() in (ROOT / "docs/evidence/patchdiff.md").read_text(encoding="utf-8")
