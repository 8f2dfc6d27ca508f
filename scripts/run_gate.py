"""Runs the gate, here and in every CI: checks, then the tests; `make gate` calls it.

Tests that fail run once more, one at a time. One that fails again fails the gate. One that then passes is flaky: it is
named at the end and in build/flaky.txt, and more than two fail the gate, too. So do tests that ended early.

Tests fail in many ways on a full disk: where room is short, what was built before is removed first.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FLAKY = Path("build/flaky.txt")
TESTED = Path("build/tested.txt")
"""Holds pytest's own exit code; that of make is the same for all failures."""
CACHE = Path(".pytest_cache/v/cache/lastfailed")
ALLOWED = 2
FAILED = 1
"""pytest's exit code where tests failed; any other but 0 means that they did not run to their end."""

ROOM = 12 * 10**9
"""Bytes that the tests write at most, images of all languages included."""
CACHES = (["docker", "builder", "prune", "--all", "--force"], [".venv/bin/assay", "images", "prune", "--all"])
"""Remove what the next build makes again."""


def main() -> None:
    FLAKY.unlink(missing_ok=True)
    CACHE.unlink(missing_ok=True)
    TESTED.unlink(missing_ok=True)
    run(["make", "-j2", "check", "machine"])  # one computes, the other waits for packages
    make_room()
    code = subprocess.run(["make", "test"], check=False).returncode
    if not code:
        return
    failed = read_failed()
    if not failed or not TESTED.is_file() or int(TESTED.read_text()) != FAILED:
        sys.exit(code)
    print("\nEvery test that failed runs once more, alone.", flush=True)
    run([sys.executable, "-m", "pytest", *failed])
    report_flaky(failed)
    sys.exit(FAILED if len(failed) > ALLOWED else 0)


def make_room() -> None:
    """Remove what was built before, as far as the tests need its room; leave if that is not enough."""
    for command in CACHES:
        if shutil.disk_usage(".").free < ROOM:
            print(f"The disk is nearly full: {' '.join(command)}", flush=True)
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    free = shutil.disk_usage(".").free
    if free < ROOM:
        sys.exit(f"{free / 1e9:.0f} GB are free, the tests need {ROOM / 1e9:.0f}: free some room")


def run(command: Sequence[str]) -> None:
    """Run a command; leave with its exit code if it fails."""
    code = subprocess.run(command, check=False).returncode
    if code:
        sys.exit(code)


def read_failed() -> list[str]:
    """Read the ids of the tests that failed last, without the name that a worker adds to those of a group."""
    failed = json.loads(CACHE.read_text(encoding="utf-8")) if CACHE.is_file() else {}
    return sorted(re.sub(r"@[\w-]+$", "", test) for test in failed)


def report_flaky(tests: Sequence[str]) -> None:
    """Name flaky tests on the screen and in a file."""
    FLAKY.parent.mkdir(exist_ok=True)
    FLAKY.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
    print(f"\nflaky ({len(tests)}, at most {ALLOWED} are let through; kept in {FLAKY}):")
    for test in tests:
        print(f"  {test}")


if __name__ == "__main__":
    main()
