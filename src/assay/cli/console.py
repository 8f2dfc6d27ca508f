"""What a person sees: progress on stderr, tables on stdout."""

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from assay.harness.domain import INFRASTRUCTURE, Outcome, Verdict
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.runner import Progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

COLOURS = {Outcome.RESOLVED: "green", Outcome.UNRESOLVED: "red", **dict.fromkeys(INFRASTRUCTURE, "magenta")}
OTHER_COLOUR = "yellow"
SHOWN = 5
"""Flaky tests of an instance that are told one by one."""


def say(text: str) -> None:
    """Tell something beside the result."""
    sys.stderr.write(f"{text}\n")  # in one piece, since several threads speak
    sys.stderr.flush()


@contextmanager
def progress(total: int, what: str) -> Iterator[tuple[Progress, "Notes"]]:
    """Show how a run goes on: a live line on a terminal, one line for each finished instance elsewhere."""
    notes = Notes()
    with live_line(total, what) as line:
        if line is None:
            yield _plain_progress(total, what), notes
            return
        counts: Counter[str] = Counter()

        def finished(verdict: Verdict, _seconds: float, _reused: bool) -> None:
            counts[verdict.outcome] += 1
            line(", ".join(f"{n} {name}" for name, n in counts.most_common()), 1)

        notes.listener = line
        yield Progress(finished=finished), notes


class Line(Protocol):
    """A live line on a terminal."""

    def __call__(self, note: str, /, finished: int = 0) -> None:
        """Show a note, and that so many more are finished."""
        ...


@contextmanager
def live_line(total: int, what: str) -> Iterator[Line | None]:
    """Show a line that changes while work goes on; gives None where there is no terminal to show it on."""
    if not sys.stderr.isatty() or os.environ.get("CI"):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(what, total=total, note="")
        yield lambda note, finished=0: bar.update(line, advance=finished, note=note)


class Notes:
    """Where slow preparations say what they are at; prints plain lines until somebody listens."""

    def __init__(self) -> None:
        self.listener: Callable[[str], None] = say

    def __call__(self, text: str) -> None:
        """Tell what is being done now."""
        self.listener(text)


def _plain_progress(total: int, what: str) -> Progress:
    lock = threading.Lock()
    done = 0

    def finished(verdict: Verdict, seconds: float, reused: bool) -> None:
        nonlocal done
        with lock:
            done += 1
            note = "known already" if reused else f"{seconds:.1f} s"
            say(f"[{done}/{total}] {verdict.instance_id}: {verdict.outcome} ({note})")

    def started(task: Task) -> None:
        if not done:
            say(f"{what}: evaluating {task.instance.id}")

    return Progress(started=started, finished=finished)


def print_verdicts(verdicts: Sequence[Verdict], seconds: dict[str, float]) -> None:
    """Print one row for each verdict."""
    table = _table("instance", "verdict", "unfixed", "broken", "tests s", "reason")
    for verdict in verdicts:
        table.add_row(
            verdict.instance_id,
            coloured(verdict.outcome),
            _count(verdict, verdict.unfixed),
            _count(verdict, verdict.broken),
            f"{seconds.get(verdict.instance_id, 0.0):.1f}",
            _first_line(verdict.reason),
        )
    stdout().print(table)


def print_doubts(verdicts: Iterable[Verdict], unfit: Mapping[str, str]) -> None:
    """Print what speaks against relying on single verdicts: flaky tests, and instances that fail their controls."""
    for verdict in verdicts:
        for test in verdict.flaky[:SHOWN]:
            print(f"  {verdict.instance_id}: flaky, passes when run again: {test}")
        if len(verdict.flaky) > SHOWN:
            print(f"  {verdict.instance_id}: ... and {len(verdict.flaky) - SHOWN} more flaky tests")
    for instance_id, reason in unfit.items():
        print(f"  {instance_id}: unfit, {reason.strip().splitlines()[0]}")


def coloured(outcome: Outcome) -> str:
    """Return an outcome in its colour, as rich markup."""
    colour = COLOURS.get(outcome, OTHER_COLOUR)
    return f"[{colour}]{outcome}[/{colour}]"


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of plain text."""
    from rich.markup import escape

    table = _table(*columns)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    stdout().print(table)


def print_json(text: str) -> None:
    """Print the one JSON object of a ``--json`` run."""
    print(text, flush=True)


def stdout() -> "Console":
    """Return the console of results; wide enough for whole ids where there is no terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, soft_wrap=False)


def _table(*columns: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        number = column in {"unfixed", "broken", "tests s", "size MB"}
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    return table


def _count(verdict: Verdict, tests: tuple[str, ...]) -> str:
    graded = verdict.outcome in {Outcome.RESOLVED, Outcome.UNRESOLVED}
    return str(len(tests)) if graded else "-"


def _first_line(text: str) -> str:
    from rich.markup import escape

    return escape(text.strip().partition("\n")[0][:400])
