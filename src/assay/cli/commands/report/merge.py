"""``assay report merge``: the shards of a run as one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import exits, options
from assay.cli.loading import find_any_run
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.agents.contract import Solution
    from assay.harness.runs.report import RunReport
    from assay.harness.runs.store import RunStore
    from assay.jobs.merge import RunMerge


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
    """Put the shards of a run (--shard) together, or runs of different instances that were made alike.

    The report is the one that a single process writes. Of a solver's shards, solutions, predictions, trajectories and
    costs become one run that resumes as any does, and the evaluations beside them another. The runs must agree in data
    set, settings and version of Assay. If a shard is missing or has not finished, nothing is written, each such thing
    is named, and the exit status is 4. An instance that several runs evaluated counts once; if its verdicts differ, or
    several runs solved it, nothing is merged. A merge that was interrupted, or that lacked shards, is made whole by
    running it again.

    \b
    Examples:
      assay report merge nightly.shard-1-of-2 nightly.shard-2-of-2 -o runs/nightly
      assay report merge mine.1 mine.2 -o runs/both --allow-missing --json
    """
    from assay.cli.commands.evaluate_view import exit_code
    from assay.cli.console import say, show_count
    from assay.harness.runs.store import RunStore
    from assay.jobs.merge import plan_run_merge, write_run_merge

    name = output.expanduser().resolve().name
    if not name or name.startswith("."):
        raise UserError(f"-o {output}: a run cannot have this name; name a folder such as runs/mine")
    planned = plan_run_merge([find_any_run(run, runs_dir) for run in runs], name)
    for each in planned.missing:
        say(f"missing: {each}")
    if planned.missing and not allow_missing:
        say("nothing was written; --allow-missing merges what there is")
        raise typer.Exit(exits.INVALID)
    if fail_under is not None and not planned.evaluated:
        raise UserError("--fail-under is about evaluations, and these shards were solved without --evaluate")
    store = RunStore(output.expanduser())
    with show_count(planned.total, "merged") as adopted:
        solutions, reports = write_run_merge(planned, store, adopted)
    if json:
        _print_json(planned, solutions, reports)
    else:
        _print(planned, solutions, reports, store)
    failed = any(each.status == "infra_error" for each in solutions)
    raise typer.Exit(
        max((exit_code(each, fail_under) for each in reports), default=0) or (failed and exits.INFRASTRUCTURE)
    )


def _print(
    planned: "RunMerge", solutions: "Sequence[Solution]", reports: "Sequence[RunReport]", store: "RunStore"
) -> None:
    from assay.cli import console
    from assay.cli.commands.solve_view import sum_solutions

    merged = f"{store.root}, merged from {count(len(planned.run.merged), 'run')}"
    if planned.solved:
        print(f"{sum_solutions(solutions)} · {merged}")
        if left := planned.solved.describe_remainder():
            print(f"{left}: the merged run may spend them")
    for (name, each), report in zip(planned.evaluated.items(), reports, strict=True):
        if each.twice:
            print(f"{count(len(each.twice), 'instance')} evaluated more than once, counted once")
        print(f"{console.sum_line(report)} · {store.root.with_name(name) if planned.solved else merged}")


def _print_json(planned: "RunMerge", solutions: "Sequence[Solution]", reports: "Sequence[RunReport]") -> None:
    from assay.cli import console

    about = {"runs": planned.run.merged, "missing": planned.missing}
    if planned.solved:
        solved = [each.model_dump(mode="json", exclude={"candidates"}) for each in solutions]
        console.print_json({**about, "solutions": solved, "evaluations": list(reports)})
        return
    [(_, merge)] = planned.evaluated.items()
    console.print_json({**about, "twice": merge.twice, "report": reports[0]})
