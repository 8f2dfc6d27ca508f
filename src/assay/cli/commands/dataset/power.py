"""``assay dataset power``: the smallest difference of two systems that a data set can show."""

from typing import Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run, load_instances
from assay.harness.errors import UserError


def power(
    dataset: options.Dataset,
    runs: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="One of two runs of it, in place of --differ and --correlation."),
    ] = None,
    differ: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the rows that only one system resolves.")
    ] = 0.16,
    correlation: Annotated[
        float, typer.Option(min=0, max=1, help="Correlation of results within a repository.")
    ] = 0.04,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Level of the test.")] = 0.05,
    chance: Annotated[float, typer.Option(min=0.5, max=0.999, help="Chance that the difference is found.")] = 0.8,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    ids: options.Ids = None,
    split: options.Split = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Say how small a difference of two systems a data set can show, and what each repository adds.

    Both systems are thought to be evaluated on all rows. Rows of one repository have similar results and count for
    less; near duplicates (80 % of the changed lines of gold, in one repository) count once. With two runs, the share of
    rows that only one resolves and the correlation are those of the runs; the defaults are of two published systems.

    \b
    Examples:
      assay dataset power rows.jsonl
      assay dataset power rows.jsonl --run mine.1 --run mine.2 --json
    """
    from assay.cli import console
    from assay.harness.metrics.comparison import load_results, pair_differences
    from assay.harness.metrics.power import correlate, estimate_power
    from assay.instances.collect.duplicates import find_duplicates

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, may_lack_labels=True, may_be_empty=False)
    repos = {each.id: each.repo for each in loaded.instances}
    if runs:
        if len(runs) != 2:
            raise UserError(f"--run names one of two runs, not of {len(runs)}; give it twice")
        found = pair_differences([load_results(find_run(run, runs_dir), run) for run in runs])
        odd = next((name for name in found if name not in repos), "")
        if odd:
            raise UserError(f"{dataset} has no {odd}, which the runs have; name the runs' own data set")
        differ, correlation = sum(map(bool, found.values())) / len(found), correlate(found, repos)
    duplicates = find_duplicates(loaded.instances)
    kept = [repo for name, repo in repos.items() if name not in duplicates]
    result = estimate_power(kept, differ, correlation, alpha=alpha, chance=chance)
    if json:
        assumed = {"differ": differ, "correlation": correlation}
        console.print_json({**assumed, **result.model_dump(), "duplicates": duplicates})
        return
    rows = [(name, str(number), f"{result.adds[name]:+.1f}") for name, number in result.rows.items()]
    console.print_rows(("repository", "rows", "adds"), rows)
    for name, other in duplicates.items():
        print(f"near duplicate: {name} of {other}")
    print(f"{len(kept)} rows show as much as {result.effective_rows:.0f} independent ones")
    print(f"smallest difference: {result.difference:.1%}; if all were independent, {result.unclustered_difference:.1%}")
    print(f"assumed: one system alone resolves {differ:.1%} of the rows; correlation in a repository {correlation:.2f}")
