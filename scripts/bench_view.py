"""Prints how fast a run of 10,000 instances opens in Chromium, and what memory the viewer and the page take.

Arguments: the number of instances, 10,000 by default. The run is made with the fake engine, which takes a minute.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support")]
from browser import find_browser  # noqa: E402

SECONDS, MEGABYTES = 2.0, 200.0
"""Targets: from the command to the first rows of the table, and of server and page together."""
FILTER = """(words) => {
  const search = document.getElementById("search"), began = performance.now();
  search.value = words;
  search.dispatchEvent(new Event("input"));
  document.body.offsetHeight;
  return performance.now() - began;
}"""
SORT = """(title) => {
  const buttons = [...document.querySelectorAll("#rows thead button")], began = performance.now();
  buttons.find((button) => button.textContent === title).click();
  document.body.offsetHeight;
  return performance.now() - began;
}"""


def main() -> None:
    """Make a run, open it, and print the figures beside the targets."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        make = [sys.executable, str(ROOT / "tests/support/many_instances.py"), str(count), folder]
        subprocess.run(make, check=True)
        measure(f"many.{count}", Path(folder))


def measure(run: str, folder: Path) -> None:
    """Open a run as a person does, and print the seconds."""
    from playwright.sync_api import sync_playwright

    path = find_browser() or sys.exit("there is no chromium; run scripts/ensure-browser.sh")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.monotonic()
        command = [sys.executable, "-m", "assay", "view", run, "--runs-dir", str(folder), "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                found = (re.search(r"open (\S+)", line) for line in server.stderr or ())
                url = next(each[1] for each in found if each)
                listening = time.monotonic() - began
                opened = open_table(page, f"{url}{run}/instances.html", began)
                show(page, listening, opened, server.pid, f"{url}{run}")
            finally:
                server.terminate()
        browser.close()


def open_table(page: "Page", url: str, began: float) -> float:
    """Return the seconds until the first rows are there."""
    page.goto(url)
    page.wait_for_selector("#rows tbody tr[data-place]")
    return time.monotonic() - began


def show(page: "Page", listening: float, opened: float, server: int, url: str) -> None:
    """Print times and memory."""
    print(f"server listens     {listening:6.2f} s")
    print(f"table is there     {opened:6.2f} s (target {SECONDS:.1f})")
    print(f"server's work      {work(server):6.2f} s of a core until then, its start included")
    print(f"filter             {page.evaluate(FILTER, '7 unfixed') / 1000:6.3f} s")
    print(f"sort               {page.evaluate(SORT, 'Seconds') / 1000:6.3f} s")
    taken = memory(server, "VmHWM"), renderer()
    print(f"server at its peak {taken[0]:6.1f} MB, page {taken[1]:.1f} MB (target {MEGABYTES:.0f} together)")
    began = time.monotonic()
    page.goto(f"{url}/index.html")
    print(f"overview           {time.monotonic() - began:6.2f} s")


def memory(process: int, line: str) -> float:
    """Return a line of a process's status, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split(f"{line}:")[1].split()[0]) / 1000


def work(process: int) -> float:
    """Return the processor time of a process in seconds, which other work on the machine changes little."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def renderer() -> float:
    """Return the proportional memory of the largest page that runs as a descendant of this process, in MB."""
    sizes = [0.0]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"type=renderer" in (folder / "cmdline").read_bytes() and os.getpid() in ancestors(int(folder.name)):
                sizes.append(int((folder / "smaps_rollup").read_text().split("Pss:")[1].split()[0]) / 1000)
        except OSError:  # it has ended
            continue
    return max(sizes)


def ancestors(process: int) -> set[int]:
    """Return the processes above one."""
    found: set[int] = set()
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        found.add(process)
    return found


if __name__ == "__main__":
    main()
