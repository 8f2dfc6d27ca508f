"""``assay report merge``: the shards of a run as one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import exits, options
from assay.cli.loading import find_run
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.runs.merge import Merge
    from assay.harness.runs.report import RunReport
    from assay.harness.runs.store import RunStore


def merge(
    runs: options.RunNames,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The run's folder, new or of a merge.")],
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Merge what there is, though something is missing.")
    ] = False,
    fail_under: options.FailUnder = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Put the shards of a run (evaluate --shard) together, or runs of different instances that were made alike.

    The report is the one that a single process writes. The runs must agree in data set, settings and version of Assay.
    If a shard is missing or has not finished, nothing is written, each such thing is named, and the exit status is 4.
    An instance that several runs evaluated counts once; if its verdicts differ, nothing is merged. A merge that was
    interrupted, or that lacked shards, is made whole by running it again.

    \b
    Examples:
      assay report merge nightly.shard-1-of-2 nightly.shard-2-of-2 -o runs/nightly
      assay report merge mine.1 mine.2 -o runs/both --allow-missing --json
    """
    from assay.cli.commands.evaluate_view import exit_code
    from assay.cli.console import say, show_count
    from assay.harness.runs.merge import plan_merge, write_merge
    from assay.harness.runs.store import RunStore

    name = output.expanduser().resolve().name
    if not name or name.startswith("."):
        raise UserError(f"-o {output}: a run cannot have this name; name a folder such as runs/mine")
    planned = plan_merge([find_run(run, runs_dir) for run in runs], name)
    for each in planned.missing:
        say(f"missing: {each}")
    if planned.missing and not allow_missing:
        say("nothing was written; --allow-missing merges what there is")
        raise typer.Exit(exits.INVALID)
    total = len(planned.verdicts) + sum(len(each.verdicts) for each in planned.controls.values())
    store = RunStore(output.expanduser())
    with show_count(total, "merged") as adopted:
        report = write_merge(planned, store, adopted)
    if json:
        _print_json(planned, report)
    else:
        _print(planned, report, store)
    raise typer.Exit(exit_code(report, fail_under))


def _print(planned: "Merge", report: "RunReport", store: "RunStore") -> None:
    from assay.cli import console

    if planned.twice:
        print(f"{count(len(planned.twice), 'instance')} evaluated more than once, counted once")
    print(f"{console.sum_line(report)} · {store.root}, merged from {count(len(planned.sources), 'run')}")


def _print_json(planned: "Merge", report: "RunReport") -> None:
    from assay.cli import console

    about = {"runs": planned.run.merged, "missing": planned.missing, "twice": planned.twice}
    console.print_json({**about, "report": report})
