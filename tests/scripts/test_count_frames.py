"""The walks of ARCHITECTURE.md are the stacks of running programs, and stay short."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_the_documented_walks_are_those_of_the_script() -> None:
    command = [sys.executable, str(ROOT / "scripts/count_frames.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    walks = [line for line in done.stdout.splitlines() if " of at most " in line]
    page = " ".join((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split())
    assert [walk for walk in walks if walk not in page] == []
    counts = [tuple(map(int, re.findall(r"\d+", walk)[:2])) for walk in walks]
    assert len(counts) == 4
    assert [(count, most) for count, most in counts if count > most] == []
