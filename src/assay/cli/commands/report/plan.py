"""``assay report plan``: how many more runs it takes to distinguish systems."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import completing, options
from assay.cli.loading import find_run
from assay.harness.errors import DataError, UserError
from assay.harness.names import count


def plan(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Names of runs, or their folders.", autocompletion=completing.runs),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="CSV of scores: a column a system, a line a run; may be repeated."),
    ] = None,
    group: Annotated[int, typer.Option(min=2, help="Runs of each system between two looks.")] = 5,
    looks: Annotated[int, typer.Option(min=1, help="Looks at most.")] = 5,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Chance of any wrong decision.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of the permutations.")] = 0,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Say which systems some runs distinguish, and how many more runs the others need.

    AdaStop's test: after each group of runs of every system, permutations decide which pairs differ; the chance of any
    wrong decision over all pairs and looks is at most --alpha. Choose --group and --looks before the first run. Runs of
    one model are one system's, in the order given; the score of a run is its rate over the instances that all runs
    evaluated. A system whose pairs are all decided needs no more runs.

    \b
    Examples:
      assay report plan mine.1 mine.2 yours.1 yours.2 --group 2
    """
    from assay.cli import console
    from assay.harness.metrics.comparison import collect_rates, load_results
    from assay.harness.metrics.sequential import plan_runs

    if bool(runs) == bool(scores):
        raise UserError("give either the names of runs or --scores FILE")
    loaded = (load_results(find_run(run, runs_dir), run) for run in runs or ())
    given = _read_scores(scores) if scores else collect_rates([*loaded])
    found = plan_runs(given, group=group, looks=looks, alpha=alpha, seed=seed)
    if json:
        console.print_json(found)
        return
    rows = [
        (
            f"{each.first} - {each.second}",
            f"{each.difference:+.4g}",
            f"{each.decision} (look {each.look})" if each.look else each.decision,
            "-" if each.runs_needed is None else str(each.runs_needed),
        )
        for each in found.pairs
    ]
    console.print_rows(("pair", "difference", "decision", "runs of each, estimated"), rows)
    print(f"look {found.looked} of {looks}: {', '.join(f'{name} {number}' for name, number in found.runs.items())}")
    for name, number in found.next_runs.items():
        most = found.most_runs[name]
        print(f"{name}: {count(number, 'more run')} for the next look, {most} at most")


def _read_scores(files: Iterable[Path]) -> dict[str, list[float]]:
    """Read scores in the order of the files; a column without a name numbers the runs. Raises DataError."""
    from assay.harness.files import read_text

    found: dict[str, list[float]] = {}
    for file in files:
        for row in csv.DictReader(read_text(file).splitlines()):
            for name, text in ((name, text) for name, text in row.items() if name and text):
                try:
                    found.setdefault(name, []).append(float(text))
                except ValueError:
                    problem = f"{text!r} is no score; write a number, or nothing"
                    raise DataError(problem, file=str(file), field=name) from None
    return found
