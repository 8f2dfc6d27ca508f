"""Prints evaluations a second of runs of 1,000, 10,000 and 100,000 on the fake engine, with memory, files and resuming.

Arguments: other numbers of evaluations. Each figure is of a process of its own, from its start to its end: making the
inputs, planning, evaluating with two jobs, and bringing each result to the disk. A run of 100,000 takes minutes, and
gigabytes of the disk that the current folder is on.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
NUMBERS = (1_000, 10_000, 100_000)
COLUMNS = ("evaluations", "seconds", "a second", "MB", "files each", "kB each", "resume s", "MB", "show s", "MB")
MAKE = "import sys, pathlib, many_instances; many_instances.make(int(sys.argv[1]), pathlib.Path(sys.argv[2]))"


def main() -> None:
    """Make runs of growing size, each in a folder that is removed again, and print a row for each."""
    print("".join(f"{title:>12}" for title in COLUMNS))
    for number in [int(each) for each in sys.argv[1:]] or NUMBERS:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            make = [sys.executable, "-c", MAKE, str(number), folder]
            show = [sys.executable, "-m", "assay", "report", "show", f"{folder}/many.{number}"]
            made, resumed, shown = (timed(command) for command in (make, make, show))
            files, size = contents(Path(folder))
        cells = [
            f"{number}",
            f"{made[0]:.1f}",
            f"{number / made[0]:.0f}",
            f"{made[1]:.0f}",
            f"{files / number:.1f}",
            f"{size / number / 1000:.1f}",
            *(f"{figure:.1f}" for figure in (*resumed, *shown)),
        ]
        print("".join(f"{cell:>12}" for cell in cells), flush=True)


def timed(command: list[str]) -> tuple[float, float]:
    """Run a command; return its seconds and the most memory that it took, in MB."""
    began = time.monotonic()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.monotonic() - began, used.ru_maxrss / 1000


def contents(folder: Path) -> tuple[int, int]:
    """Return how many files are below a folder, and their bytes on the disk."""
    sizes = [path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)


main()
