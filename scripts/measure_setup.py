"""Measures `assay dataset setup` on a list of repositories, one search after the other, for docs/evidence/setup.md.

First `--toolchains`, which builds the toolchain images of the languages, so that no search waits for one. Then
`--mirrors DIR`, a folder of local clones: each repository of the list that has no result yet is searched once, with
the command's defaults, and gets a line in the file of results. `--table` prints the tables of those lines.
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from assay.harness.domain import Recipe
from assay.harness.engines import open_engine
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import default_cache
from assay.instances.setup.search import SECONDS
from assay.instances.setup.setup_record import SetupRecord, load_record
from assay.instances.toolchains.ensure import ensure
from assay.instances.toolchains.images import find_toolchain
from assay.instances.toolchains.make import make_toolchain
from assay.instances.toolchains.versions import load_versions

THIRTY = ("Go", "Rust", "Python")
DATA = Path(__file__).parent.parent / "docs/data"
STOPPED = 720.0
"""Seconds after which a search is stopped: it has failed at ten minutes, and a build is not cut short."""
FREE = 15e9
"""Bytes of the disk below which the images of the searches are removed."""
SAMPLED = 10.0
"""Seconds between two looks at the machine's load."""


@dataclass(frozen=True, slots=True)
class Project:
    """One repository of the list."""

    list: str
    repository: str
    commit: str
    date: str


@dataclass(frozen=True, slots=True)
class Result:
    """What one search came to."""

    list: str
    repository: str
    commit: str
    date: str
    accepted: bool
    rounds: int
    seconds: float
    """Duration of the whole command."""
    passed: int
    collected: int
    """Tests of the best round that passed or failed."""
    share: float
    reason: str
    """The reason that the search gave."""
    rule: str
    """The last one that changed the recipe."""
    load: float
    """Mean of the machine's, while the search ran."""
    measured: str
    cause: str = ""
    """Why it was not accepted, as a person found it; written into the file by hand."""

    @property
    def state(self) -> str:
        """Whether it was set up: ``yes``, ``late`` (after the ten minutes) or ``no``."""
        if not self.accepted:
            return "no"
        return "yes" if self.seconds <= SECONDS else "late"


def main() -> None:
    """Build toolchains, measure, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="*", help="only these; measured again if they have a result")
    parser.add_argument("--toolchains", action="store_true", help="build the toolchain images, and nothing else")
    parser.add_argument("--table", action="store_true", help="print the tables, and nothing else")
    parser.add_argument("--mirrors", type=Path, help="folder of local clones")
    parser.add_argument("--work", type=Path, default=Path("build/setup"), help="folder of records and logs")
    parser.add_argument("--list", type=Path, default=DATA / "setup_list.csv")
    parser.add_argument("--results", type=Path, default=DATA / "setup_results.jsonl")
    given = parser.parse_args()
    projects, results = read_list(given.list), read_results(given.results)
    if given.toolchains:
        build_toolchains()
    elif given.table:
        print(tables(projects, results), end="")
    else:
        for project in wanted(projects, results, given.repositories):
            make_room(given.work)
            result = measure(project, given.mirrors, given.work)
            with given.results.open("a") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            print(row(project, result), flush=True)


def read_list(path: Path) -> list[Project]:
    """Read the repositories, in the order of the table."""
    with path.open(newline="") as file:
        return [Project(**line) for line in csv.DictReader(file)]


def read_results(path: Path) -> dict[str, Result]:
    """Read the results by repository; the last of several counts."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = (Result(**json.loads(line)) for line in lines)
    return {result.repository: result for result in found}


def wanted(projects: Sequence[Project], results: dict[str, Result], named: Sequence[str]) -> list[Project]:
    """Return the named projects, else all without a result."""
    if named:
        return [project for project in projects if project.repository in named]
    return [project for project in projects if project.repository not in results]


def build_toolchains() -> None:
    """Build the toolchain image of every version of the languages, two at a time."""
    engine = open_engine("docker")

    def build(language: str, version: str) -> None:
        try:
            image = find_toolchain(Recipe(language=language, toolchain=version), {}, engine)
        except EnvironmentFailure as error:
            print(error)
        else:
            make = partial(make_toolchain, image, engine)
            ensure(image.name, engine, default_cache(), make, partial(print, flush=True))

    names = ("python", "go", "rust", "javascript", "java", "c", "php", "ruby")
    versions = [(name, version) for name in names for version in load_versions(name).versions]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda each: build(*each), versions))


def measure(project: Project, mirrors: Path, work: Path) -> Result:
    """Search for the recipe of one repository, in a process of its own."""
    folder = work / project.repository.replace("/", "__")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "assay", "dataset", "setup", project.repository, "--at", project.commit]
    began, day = time.monotonic(), time.strftime("%Y-%m-%d", time.gmtime())
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--mirror", str(mirrors), "-o", str(folder)], stdout=log, stderr=log, start_new_session=True
        )
        load = wait(process)
    seconds = time.monotonic() - began
    record = next(filter(None, map(load_record, folder.glob("*/*.attempts.json"))), None)
    return summed_up(project, record, seconds, load, day)


def wait(process: subprocess.Popen[bytes]) -> float:
    """Wait for a search, and stop it if it takes too long; return the mean load of the machine."""
    loads, end = [os.getloadavg()[0]], time.monotonic() + STOPPED
    while process.poll() is None:
        if time.monotonic() > end:
            process.send_signal(signal.SIGTERM)
            end = time.monotonic() + 60
        try:
            process.wait(SAMPLED)
        except subprocess.TimeoutExpired:
            loads.append(os.getloadavg()[0])
    return sum(loads) / len(loads)


def summed_up(project: Project, record: SetupRecord | None, seconds: float, load: float, day: str) -> Result:
    """Return the result that a search's record shows; without a record, no round has ended."""
    rounds = record.attempts if record else ()
    best = max(rounds, key=lambda each: each.share, default=None)
    changes = [change.rule for each in rounds for change in each.changes]
    reason = record.reason if record and record.ended else f"stopped after {seconds:.0f} s"
    return Result(
        **asdict(project),
        accepted=bool(record and record.accepted),
        rounds=len(rounds),
        seconds=round(seconds, 1),
        passed=best.passed if best else 0,
        collected=best.passed + best.failed if best else 0,
        share=round(record.share, 4) if record else 0.0,
        reason=reason,
        rule=changes[-1] if changes else "",
        load=round(load, 1),
        measured=day,
    )


def make_room(work: Path) -> None:
    """Remove the images that the searches built, and the builder's cache, when the disk is nearly full."""
    if shutil.disk_usage("/").free >= FREE:
        return
    logs = "".join(log.read_text() for log in work.glob("*/log"))
    names = sorted(set(re.findall(r"built (assay/(?!toolchain)\S+) in", logs)))
    subprocess.run(["docker", "image", "rm", *names], check=False, capture_output=True)
    subprocess.run(["docker", "builder", "prune", "--force"], check=False, capture_output=True)


def tables(projects: Sequence[Project], results: dict[str, Result]) -> str:
    """Return the count by list, and every repository with its result, as Markdown."""
    names = dict.fromkeys(project.list for project in projects)
    counts = [count_row(name, projects, results) for name in names]
    thirty = [project for project in projects if project.list in THIRTY]
    counts.insert(3, count_row("the 30", [replace(each, list="the 30") for each in thirty], results))
    heads = ("list", "repositories", "within 10 min", "later", "not set up", "not measured")
    columns = ("list", "repository", "commit", "of", "set up", "rounds", "minutes", "load", "tests, or reason")
    rows = [row(project, results.get(project.repository)) for project in projects]
    return "\n".join([line(heads), rule(heads), *counts, "", line(columns), rule(columns), *rows]) + "\n"


def count_row(name: str, projects: Sequence[Project], results: dict[str, Result]) -> str:
    """Return how many repositories of a list have which result."""
    chosen = [project for project in projects if project.list == name]
    states = [results[each.repository].state if each.repository in results else "" for each in chosen]
    return line((name, str(len(chosen)), *(str(states.count(each)) for each in ("yes", "late", "no", ""))))


def row(project: Project, result: Result | None) -> str:
    """Return the row of one repository."""
    head = (project.list, project.repository, project.commit, project.date)
    if result is None:
        return line((*head, "not measured", "", "", "", ""))
    tests = f"{result.share:.1%} of {result.collected} {'test' if result.collected == 1 else 'tests'}"
    shown = tests if result.accepted else (result.cause or result.reason)
    return line((*head, result.state, str(result.rounds), f"{result.seconds / 60:.1f}", f"{result.load:.0f}", shown))


def line(cells: Iterable[str]) -> str:
    """Return cells as a line of a table."""
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def rule(heads: Sequence[str]) -> str:
    """Return the line below a table's heads."""
    return f"| {' | '.join('---' for _ in heads)} |"


if __name__ == "__main__":
    main()
