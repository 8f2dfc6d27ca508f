import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.exhaustive  # tests/test_wheel.py runs the same command as it is installed
def test_the_demo_is_as_it_should_be(in_folder: Path) -> None:
    command = [sys.executable, "-m", "assay", "demo", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=in_folder, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["as_hoped"]
    assert [(row["patch"], row["outcome"]) for row in shown["verdicts"]] == [
        *[("gold", "resolved")] * 4,
        *[("null", "unresolved")] * 4,
        ("partial", "unresolved"),
    ]
    partial = shown["verdicts"][-1]
    assert 0 < len(partial["unfixed"]) < 10  # wrong, though it mends most
