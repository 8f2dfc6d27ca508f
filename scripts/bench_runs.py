"""Prints evaluations a second of runs of 1,000, 10,000 and 100,000 on the fake engine, with memory, files and resuming.

Arguments: other numbers of evaluations. Each figure is of a command as a person types it, from its start to its end:
reading rows and predictions, planning, evaluating with two jobs, bringing each result to the disk, and the report.
Resuming is the median of three. A run of 100,000 takes many minutes, and gigabytes of the disk that the current folder
is on.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))

import many_instances  # noqa: E402

NUMBERS = (1_000, 10_000, 100_000)
COLUMNS = ("number", "seconds", "a second", "MB", "files each", "kB each", "resume s", "CPU s", "MB", "show s", "MB")
COMMAND = [sys.executable, "-m", "assay"]


def main() -> None:
    """Make runs of growing size, each in a folder that is removed again, and print a row for each."""
    print("".join(f"{title:>12}" for title in COLUMNS))
    for number in [int(each) for each in sys.argv[1:]] or NUMBERS:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            runs = Path(folder) / "runs"
            options = ["--engine", "fake", "-j", "2", "--run-id", "many", "--runs-dir", str(runs), "--json"]
            make = [*COMMAND, "evaluate", *many_instances.write(number, Path(folder)), *options]
            show = [*COMMAND, "report", "show", str(runs / "many")]
            made, shown = timed(make), timed(show)
            resumed = [statistics.median(figures) for figures in zip(*(timed(make) for _ in range(3)), strict=True)]
            files, size = contents(runs)
        cells = [
            f"{number}",
            f"{made[0]:.1f}",
            f"{number / made[0]:.0f}",
            f"{made[1]:.0f}",
            f"{files / number:.1f}",
            f"{size / number / 1000:.1f}",
            *(f"{figure:.1f}" for figure in (resumed[0], resumed[2], resumed[1], *shown[:2])),
        ]
        print("".join(f"{cell:>12}" for cell in cells), flush=True)


def timed(command: list[str]) -> tuple[float, float, float]:
    """Run a command; return its seconds, the most memory that it took, in MB, and its seconds of CPU."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.monotonic() - began, used.ru_maxrss / 1000, used.ru_utime + used.ru_stime


def contents(folder: Path) -> tuple[int, int]:
    """Return how many files are below a folder, and their bytes on the disk."""
    sizes = [path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)


main()
