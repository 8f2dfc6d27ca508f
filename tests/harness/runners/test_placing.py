import subprocess
import sys
from pathlib import Path

from assay.harness.runners import base

IGNORED = "SC2015,SC2046,SC2154"
"""``a && b || continue``; words that have to be split; variables of the script that goes before."""


def test_shells_find_nothing_wrong_with_what_places_tripwires() -> None:
    scripts = sorted(map(str, Path(base.__file__).parent.glob("placing/*.sh")))
    command = [str(Path(sys.executable).with_name("shellcheck")), "--shell=sh", f"--exclude={IGNORED}", *scripts]
    assert scripts
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == ""
