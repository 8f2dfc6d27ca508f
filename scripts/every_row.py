"""Evaluates gold and null of every row of a data set, and keeps the outcomes in docs/evidence/verified.jsonl and .md.

    python scripts/every_row.py ~/mirrors --data verified.jsonl --minutes 120
    python scripts/every_row.py ~/mirrors --data verified.jsonl --sample 60 --seed 1
    python scripts/every_row.py --table

Rows come twenty at a time, in an order by hash, so that whatever was measured is a fair sample of all. The same command
again takes the rows that the ledger lacks; `--wrong` also takes rows that did not behave. Gold is evaluated with a
pair of counter-tests. `--disk` is the room for images; the least recently used go.
`--sample` evaluates again rows that the ledger has, in runs of their own, and exits with 4 if one comes out otherwise.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from real_rows import (
    PATCHES,
    ROOT,
    Row,
    evaluate,
    find_newest,
    is_right,
    read_ledger,
    read_outcomes,
    run_id,
    write_ledger,
)

from assay.harness.domain import Instance
from assay.harness.runs.store import RunStore
from assay.instances.dataset.load import load
from assay.instances.trees.sources import Sources, tree_ref

LEDGER = ROOT / "docs/evidence/verified.jsonl"
PORTION = 20
MEGABYTE = 1e6
UNSERVED = "its copy is incomplete"
"""Part of the reason where a mirror lacks a file of the tree."""

INTRODUCTION = """\
Gold, with a pair of counter-tests, and no patch at all, in images that Assay builds. `scripts/every_row.py` writes this
page from `verified.jsonl`, which keeps the outcomes of every commit. Rows come in an order by hash.

`build` is the median of the seconds that a row waited for its images, beside one other row on two cores, `tests` that
of its test command, `MB` that of what its image shares with no other. The mirrors here lack files of 4 MiB and more:
rows with such files are not served, and count nowhere else.
"""


def main() -> None:
    """Evaluate what is missing until the time is over; write ledger and page after each portion."""
    given = read_arguments()
    if not given.table:
        rows = order_rows(load(str(given.data), skip_bad_rows=True).instances, given.mirrors, given.seed)
        if given.sample:
            sys.exit(4 if sample(rows, given) else 0)
        measure(rows, given)
    write_page(given.ledger)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", nargs="*", type=Path, help="folders of local clones")
    parser.add_argument("--data", type=Path, help="file of rows")
    parser.add_argument("--work", type=Path, default=ROOT / "build/rows", help="folder of the runs")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--disk", default="40GB", help="room for images")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no portion after this time")
    parser.add_argument("--wrong", action="store_true", help="evaluate again the rows that did not behave")
    parser.add_argument("--sample", type=int, default=0, help="evaluate again so many rows of the ledger, and compare")
    parser.add_argument("--seed", default="", help="another order of the rows")
    parser.add_argument("--table", action="store_true", help="write the page from the ledger, and stop")
    given = parser.parse_args()
    if not given.table and not (given.data and given.mirrors):
        parser.error("give a folder of mirrors and --data FILE, or --table")
    return given


def order_rows(rows: Iterable[Instance], mirrors: Sequence[Path], seed: str) -> list[Instance]:
    """Return the rows whose base commit a mirror has, in an order that nobody chose."""
    sources = Sources(mirrors)
    ordered = sorted(rows, key=lambda row: hashlib.sha256(f"{seed}{row.id}".encode()).hexdigest())
    return [row for row in ordered if sources.exists(tree_ref(row))]


def measure(rows: Sequence[Instance], given: argparse.Namespace) -> None:
    """Evaluate both patches of the rows that the ledger lacks, a portion at a time."""
    began, known = time.monotonic(), find_newest(read_ledger(given.ledger))
    missing = [row for row in rows if not is_known(row.id, known, given.wrong)]
    for start in range(0, len(missing), PORTION):
        if time.monotonic() - began > given.minutes * 60:
            break
        portion = missing[start : start + PORTION]
        evaluate_both(given.data, portion, given)
        keep(given.data, portion, given)
        done = min(start + PORTION, len(missing))
        print(f"{done} of {len(missing)} rows after {(time.monotonic() - began) / 60:.0f} min", flush=True)


def is_known(name: str, known: Mapping[tuple[str, str], Row], wrong: bool) -> bool:
    """Return whether both patches of a row were measured, and need not be measured again."""
    found = [known[name, patch] for patch in PATCHES if (name, patch) in known]
    return len(found) == len(PATCHES) and not (wrong and not all(map(is_right, found)))


def evaluate_both(file: Path, rows: Sequence[Instance], given: argparse.Namespace, more: Sequence[str] = ()) -> None:
    """Evaluate both patches of rows, gold with counter-tests."""
    for patch in PATCHES:
        counters = ["--counter", "pair"] if patch == "gold" else []
        evaluate(file, rows, patch, given, ["--disk", given.disk, *counters, *more])


def keep(file: Path, rows: Sequence[Instance], given: argparse.Namespace) -> None:
    """Add the saved outcomes of rows to the ledger; a cause found by a person stays with the same outcome."""
    before = read_ledger(given.ledger)
    old, sizes = find_newest(before), read_sizes()
    after = []
    for patch in PATCHES:
        store = RunStore(given.work / run_id(file, patch))
        for row in read_outcomes(file, rows, patch, given.work):
            last = old.get((row.instance_id, patch))
            cause = last.cause if last and last.outcome == row.outcome else ""
            after.append(replace(complete(row, store, sizes), cause=cause))
    write_ledger(given.ledger, [*before, *after])
    write_page(given.ledger)


def complete(row: Row, store: RunStore, sizes: Mapping[str, int]) -> Row:
    """Return an outcome with what its image cost, and the counter-tests that it had."""
    evidence, saved = store.load_evidence(row.instance_id), store.load_verdict(row.instance_id)
    times = {each["event"]: float(each["time"]) for each in store.events() if each["instance"] == row.instance_id}
    whole = max(0.0, times.get("finished", 0.0) - times.get("started", 0.0))
    counter = saved.verdict.counter if saved else None
    counters = {str(form): number for form, number in counter.forms.items()} if counter else {}
    if counter and counter.without:
        counters["none"] = counter.without
    return replace(
        row,
        build=round(max(0.0, whole - (evidence.timings.total if evidence else 0.0)), 1),
        unique=sizes.get(evidence.image, 0) if evidence else 0,
        counters=counters,
    )


def read_sizes() -> dict[str, int]:
    """Return the bytes that each image shares with no other, by name."""
    command = [sys.executable, "-m", "assay", "images", "list", "--json"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {image["name"]: image["unique"] for image in listed["images"]}


def sample(rows: Sequence[Instance], given: argparse.Namespace) -> list[str]:
    """Evaluate rows of the ledger again, and describe each that has another outcome now."""
    known = find_newest(read_ledger(given.ledger))
    chosen = [row for row in rows if is_known(row.id, known, wrong=False)][: given.sample]
    given.work = given.work / f"sample{given.seed}"
    evaluate_both(given.data, chosen, given, ["--fresh"])
    now = find_newest(row for patch in PATCHES for row in read_outcomes(given.data, chosen, patch, given.work))
    others = [
        f"{row.instance_id} ({row.patch}): {old.outcome} by {old.commit}, now {row.outcome}: {row.reason}"
        for key, row in now.items()
        if row.outcome != (old := known[key]).outcome
    ]
    print("\n".join(others) or f"{len(chosen)} rows, gold and null, come out as the ledger says")
    return others


def write_page(ledger: Path) -> None:
    """Write the page beside the ledger."""
    ledger.with_suffix(".md").write_text(make_page(read_ledger(ledger)), encoding="utf-8")


def make_page(rows: Iterable[Row]) -> str:
    """Return the ledger's newest outcomes as a page: by repository, what did not behave, counter-tests."""
    newest = find_newest(rows)
    by_repo: dict[str, list[str]] = defaultdict(list)
    for name in sorted({name for name, _ in newest}):
        by_repo[name.rpartition("-")[0].replace("__", "/")].append(name)
    lines = [
        "# Every row of SWE-bench Verified",
        "",
        INTRODUCTION,
        "| repository | measured | not served | gold resolved | null unresolved | build | tests | MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(table_line(repo, names, newest) for repo, names in sorted(by_repo.items())),
        table_line("all", [name for names in by_repo.values() for name in names], newest),
        "",
        "## What does not behave",
        "",
        "| row | patch | outcome | reason | cause |",
        "| --- | --- | --- | --- | --- |",
        *(wrong_line(row) for _, row in sorted(newest.items()) if not is_right(row)),
        "",
        "## Counter-tests of the tests to be fixed",
        "",
        "| form | tests | share |",
        "| --- | --- | --- |",
        *counter_lines(row for row in newest.values() if row.patch == "gold"),
    ]
    return "\n".join(lines) + "\n"


def table_line(title: str, names: Sequence[str], newest: Mapping[tuple[str, str], Row]) -> str:
    """Return the line of one repository."""
    gold, null = ([newest[name, patch] for name in names if (name, patch) in newest] for patch in PATCHES)
    served = [row for row in gold if UNSERVED not in row.reason]
    absent = {row.instance_id for row in gold} - {row.instance_id for row in served}
    cells = [
        title,
        len(gold),
        len(absent),
        f"{sum(map(is_right, served))} of {len(served)}",
        f"{sum(map(is_right, null))} of {sum(row.instance_id not in absent for row in null)}",
        *(f"{median(values):.0f}" if values else "" for values in read_costs(served)),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def read_costs(rows: Sequence[Row]) -> tuple[list[float], list[float], list[float]]:
    """Return seconds of building, seconds of testing and megabytes, of the rows that were tested."""
    ran = [row for row in rows if row.seconds]
    return [row.build for row in ran], [row.seconds for row in ran], [row.unique / MEGABYTE for row in ran]


def wrong_line(row: Row) -> str:
    """Return the line of a row that does not behave."""
    reason = row.reason.replace("|", "\\|").replace("<", "&lt;")
    return f"| {row.instance_id} | {row.patch} | {row.outcome} | {reason} | {row.cause} |"


def counter_lines(rows: Iterable[Row]) -> list[str]:
    """Return a line for each form of counter-test, the most frequent first."""
    forms = Counter[str]()
    for row in rows:
        forms.update(row.counters)
    return [f"| {form} | {number} | {number / forms.total():.0%} |" for form, number in forms.most_common()]


if __name__ == "__main__":
    main()
