"""Evaluates gold and null of one real row a repository, and keeps the outcomes in docs/evidence/rows.jsonl and rows.md.

    python scripts/real_rows.py ~/mirrors --data ~/rows

The data folder holds rows of public benchmarks, one file a data set. Of each repository in each file, one row is taken:
the one in the middle by date of those whose base commit a mirror holds; a row that the ledger has stays the chosen one.
Of Multi-SWE-bench, only repositories with a recipe are taken. The same command again evaluates what is missing;
`--fresh` evaluates all again. A row whose gold patch resolved and does not now, or whose null patch was unresolved and
is not now, is a lost row: it is printed, and the exit code is 4.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from assay.harness.domain import Instance
from assay.harness.runs.store import RunStore
from assay.instances.dataset.load import load
from assay.instances.environments.recipes import has_recipe
from assay.instances.trees.sources import Sources, tree_ref

ROOT = Path(__file__).parent.parent
LEDGER = ROOT / "docs/evidence/rows.jsonl"
PATCHES = ("gold", "null")
RECIPES_ONLY = ("multi_swe_bench",)
"""Beginnings of the names of files whose repositories count only with a recipe."""
TEST_SECONDS = 900
REQUIRED = ("reason", "seconds")
"""Fields of a line that stand there even if they are empty."""


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome of one patch of one row."""

    instance_id: str
    dataset: str
    language: str
    patch: str
    outcome: str
    reason: str
    seconds: float
    """Duration of the test command; 0 if none ran."""
    commit: str
    """Commit of Assay, with + for a changed checkout."""
    date: str
    build: float = 0.0
    """Seconds from the row's turn to its verdict without those of its containers: mostly the building of images."""
    unique: int = 0
    """Bytes of the row's image that no other image had when its run ended."""
    counters: dict[str, int] = field(default_factory=dict)
    """Number of tests to be fixed by the form of their counter-test; `none` are those without."""
    cause: str = ""
    """Why a row does not behave, as a person found it; written into the ledger by hand."""


def main() -> None:
    """Choose rows, evaluate them, write the ledger and name what was lost."""
    given = read_arguments()
    before = read_ledger(given.ledger)
    if given.table:
        write_table(given.ledger, before)
        return
    chosen = choose_rows(given.data, given.mirrors, before)
    if given.instance:
        chosen = {file: [each for each in rows if each.id in given.instance] for file, rows in chosen.items()}
        unknown = {*given.instance} - {each.id for rows in chosen.values() for each in rows}
        if unknown:
            sys.exit(f"{' '.join(sorted(unknown))}: not among the chosen rows, which --choose prints")
    if given.choose:
        for file, rows in chosen.items():
            print(f"{file.stem}: {' '.join(each.id for each in rows)}")
        return
    after = measure(chosen, before, given)
    lost = find_lost(before, after)
    for line in lost:
        print(f"lost: {line}")
    sys.exit(4 if lost else 0)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", nargs="*", type=Path, help="folders of local clones")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="folder of .jsonl rows")
    parser.add_argument("--work", type=Path, default=ROOT / "build/rows", help="folder of the runs")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--instance", "-i", action="append", default=[], help="only this row; may be repeated")
    parser.add_argument("--fresh", action="store_true", help="evaluate again what has an outcome by this code")
    parser.add_argument("--choose", action="store_true", help="print the rows that would be evaluated, and stop")
    parser.add_argument("--table", action="store_true", help="write rows.md from the ledger, and stop")
    return parser.parse_args()


def measure(
    chosen: Mapping[Path, Sequence[Instance]], before: Sequence[Row], given: argparse.Namespace
) -> Sequence[Row]:
    """Evaluate both patches of all rows; the ledger is written after each file, and when Ctrl-C ends the run."""
    began, after = time.monotonic(), list(before)
    for patch in PATCHES:
        for file, rows in chosen.items():
            if not rows:
                continue
            try:
                evaluate(file, rows, patch, given, ["--fresh"] if given.fresh else [])
            finally:  # what an interrupted run has found is kept, too
                after += read_outcomes(file, rows, patch, given.work)
                write_ledger(given.ledger, after)
            print(f"{file.stem}, {patch}: done after {(time.monotonic() - began) / 60:.0f} min", flush=True)
    write_table(given.ledger, after)
    return after


def choose_rows(data: Path, mirrors: Sequence[Path], ledger: Iterable[Row]) -> dict[Path, list[Instance]]:
    """Return one row a repository of each file, by file."""
    sources, chosen = Sources(mirrors), dict[Path, list[Instance]]()
    known: dict[str, list[str]] = defaultdict(list)
    for row in ledger:
        known[row.dataset].append(row.instance_id)
    for file in sorted(data.glob("*.jsonl")):
        by_repo: dict[str, list[Instance]] = defaultdict(list)
        for each in load(str(file), skip_bad_rows=True).instances:
            by_repo[each.repo.lower()].append(each)
        found = (choose_row(rows, sources, known[file.stem]) for _, rows in sorted(by_repo.items()))
        everything = not file.name.startswith(RECIPES_ONLY)
        chosen[file] = [each for each in found if each and (everything or has_recipe(each))]
    return chosen


def choose_row(rows: Sequence[Instance], sources: Sources, known: Sequence[str]) -> Instance | None:
    """Return the first row of the ledger, else the middle one by date that a mirror has; None if it has none."""
    held = [each for each in sorted(rows, key=lambda row: (row.created_at, row.id)) if sources.exists(tree_ref(each))]
    before = [each for each in held if each.id in known]
    if before:
        return min(before, key=lambda row: known.index(row.id))
    return held[len(held) // 2] if held else None


def evaluate(
    file: Path, rows: Sequence[Instance], patch: str, given: argparse.Namespace, more: Sequence[str] = ()
) -> None:
    """Evaluate one patch of rows with the command line, as a person would."""
    command = [sys.executable, "-m", "assay", "evaluate", str(file), f"--{patch}", "--jobs", str(given.jobs)]
    command += ["--run-id", run_id(file, patch), "--runs-dir", str(given.work), "--timeout", str(TEST_SECONDS)]
    command += ["--skip-bad-rows", *more]
    command += [word for mirror in given.mirrors for word in ("--mirror", str(mirror))]
    command += [word for each in rows for word in ("-i", each.id)]
    with subprocess.Popen(command) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:  # which the command has got, too: it ends its containers first
            process.wait()
            raise
    if code not in {0, 3}:
        sys.exit(code)


def read_outcomes(file: Path, rows: Sequence[Instance], patch: str, work: Path) -> list[Row]:
    """Read what a run has saved of rows, whether it came to its end or not."""
    commit = git("rev-parse", "--short=8", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    store = RunStore(work / run_id(file, patch))
    found = ((row, store.load_verdict(row.id)) for row in rows)
    return [
        Row(
            row.id,
            file.stem,
            row.language,
            patch,
            saved.verdict.outcome,
            " ".join(saved.verdict.reason.split())[:300],
            read_seconds(store, row.id),
            commit,
            datetime.now(UTC).date().isoformat(),
        )
        for row, saved in found
        if saved
    ]


def read_seconds(store: RunStore, instance_id: str) -> float:
    """Read how long the tests ran; 0 where none did."""
    evidence = store.load_evidence(instance_id)
    return round(evidence.timings.test, 1) if evidence else 0.0


def find_lost(before: Iterable[Row], after: Iterable[Row]) -> list[str]:
    """Return the rows that were as they should be and are not now."""
    old, new = find_newest(before), find_newest(after)
    return [
        f"{name} ({patch}): {old[name, patch].outcome} by {old[name, patch].commit}, now {row.outcome}: {row.reason}"
        for (name, patch), row in new.items()
        if (name, patch) in old and is_right(old[name, patch]) and not is_right(row)
    ]


def is_right(row: Row) -> bool:
    """Return whether gold resolves, or null does not and was tested."""
    return row.outcome == ("resolved" if row.patch == "gold" else "unresolved")


def find_newest(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    """Return the last line of each row and patch."""
    return {(row.instance_id, row.patch): row for row in rows}


def read_ledger(path: Path) -> list[Row]:
    """Read every outcome that was kept, the oldest first."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [Row(**json.loads(line)) for line in lines]


def write_ledger(path: Path, rows: Iterable[Row]) -> None:
    """Write outcomes, one line each; of one row, patch and commit the last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unique = {(row.instance_id, row.patch, row.commit): row for row in rows}
    path.write_text("".join(json.dumps(as_line(row)) + "\n" for row in unique.values()), encoding="utf-8")


def as_line(row: Row) -> dict[str, object]:
    """Return the fields of a row that say something."""
    return {name: value for name, value in asdict(row).items() if value or name in REQUIRED}


def write_table(ledger: Path, rows: Iterable[Row]) -> None:
    """Write the page beside the ledger."""
    ledger.with_suffix(".md").write_text(make_page(rows), encoding="utf-8")


def make_page(rows: Iterable[Row]) -> str:
    """Return the ledger's newest outcomes as a page."""
    latest = find_newest(rows)
    names = sorted({name for name, _ in latest}, key=lambda name: (find_outcome(latest, name).dataset, name))
    gold = [latest[name, "gold"] for name in names if (name, "gold") in latest]
    lines = [
        "# Real rows",
        "",
        "One row a repository of public benchmarks, with its gold patch and without any, in images that Assay builds.",
        "`scripts/real_rows.py MIRRORS` writes this page from `rows.jsonl`, which keeps the outcomes of every commit.",
        "",
        f"Gold resolves {sum(map(is_right, gold))} of {len(gold)} rows.",
        "",
        "| row | data set | language | gold | null | seconds | measured | why gold does not resolve |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [table_line(name, latest) for name in names]
    return "\n".join(lines) + "\n"


def find_outcome(latest: Mapping[tuple[str, str], Row], name: str) -> Row:
    """Return the outcome with gold, else without a patch."""
    return next(latest[name, patch] for patch in PATCHES if (name, patch) in latest)


def table_line(name: str, latest: Mapping[tuple[str, str], Row]) -> str:
    """Return one row of the table."""
    row = find_outcome(latest, name)
    outcomes = [latest[name, patch].outcome if (name, patch) in latest else "" for patch in PATCHES]
    why = "" if is_right(row) else row.reason.replace("|", "\\|").replace("<", "&lt;")
    cells = [name, row.dataset, row.language, *outcomes, f"{row.seconds:g}", f"{row.date}, {row.commit}", why]
    return f"| {' | '.join(cells)} |"


def run_id(file: Path, patch: str) -> str:
    """Return the name of the run of one patch of a file's rows."""
    return f"{file.stem}.{patch}"


def git(*words: str) -> str:
    """Ask git about this checkout."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
