"""``assay dataset counter``: expected tests with another expected value."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import config, exits, options
from assay.cli.loading import load_instances


def counter(
    dataset: options.Dataset,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = options.CORES,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    build_limits: options.BuildLimits = "",
    skip_bad_rows: options.SkipBadRows = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the counter-tests, one line an instance."),
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print what is changed in the tests.")] = False,
    json: options.Json = False,
) -> None:
    """Make the counter-tests of instances: each test to be fixed with another expected value, which must fail.

    They are made by syntax, and kept if they fail with the gold patch in each of three runs. `assay evaluate` runs the
    ones in the cache beside the tests, and with `--counter pair` makes them if need be. Where a test compares with a
    constant, it is sealed as well: its answer is taken out, for `--counter sealed`.

    Exit 3 if the environment of an instance failed.

    \b
    Examples:
      assay dataset counter releases -i pallets__flask-2.3.2 --diff
      assay dataset counter lite -i pallets__flask-5063 --mirror ~/mirrors -o counters.jsonl
    """
    from assay.cli import console
    from assay.cli.commands.dataset.counter_view import describe, show_counters
    from assay.jobs.counter import make_counter_tests

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    made = make_counter_tests(
        config.workplace(engine, mirror, recipes, jobs=jobs, build_limits=build_limits), loaded.instances
    )
    if output:
        lines = [each.counters.model_dump_json() for each in made if each.counters]
        output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if json:
        console.print_json({"instances": [describe(each) for each in made]})
    else:
        show_counters(made, diff=diff)
    raise typer.Exit(exits.INFRASTRUCTURE if any(each.error for each in made) else 0)
