"""``assay dataset audit``: problems with the instances of a data set."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import config, exits, options
from assay.cli.loading import find_run, load_instances

if TYPE_CHECKING:
    from assay.jobs.audit import Audit


def audit(
    dataset: options.Dataset,
    ids: options.Ids = None,
    split: options.Split = None,
    cutoff: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"], metavar="DATE", help="Training cut-off of a model: report what is older and newer."
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="Only findings of this kind; may be repeated.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 4 if there is any fault.")] = False,
    stability: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `assay dataset validate` recorded: both controls.")
    ] = None,
    null_run: Annotated[
        str | None, typer.Option(metavar="RUN", help="A run of `assay evaluate --null`: name or folder.")
    ] = None,
    mutants: Annotated[
        int, typer.Option(min=0, metavar="N", help="Evaluate N mutants of each gold patch, in containers.")
    ] = 0,
    counter_tests: Annotated[
        bool,
        typer.Option("--counter-tests", help="Make counter-tests, and report labels that pass whatever they expect."),
    ] = False,
    timeout: Annotated[
        int | None, typer.Option(min=1, help="Limit of the test command in seconds; a mutant may run forever.")
    ] = None,
    jobs: options.Jobs = options.CORES,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    build_limits: options.BuildLimits = "",
    skip_bad_rows: options.SkipBadRows = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write the JSON of --json to a file.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Look for problems with instances: leaked solutions, weak or narrow tests, thin statements, old issues.

    Each finding has a severity. A fault: the issue or its comments hold most of the gold patch's lines, no patch at all
    is resolved, half of at least four mutants are, the gold patch fails, tests ask for a name, message, constant or
    parameter that is in neither issue nor base tree, there are no words or only links or pictures, nothing has to be
    fixed, a patch cannot be read. A doubt is for a person to look at; a note only counts. Trees are searched in
    --mirror and the cache; without one, only a name that tests import is such a fault. No container is started without
    --mutants or --counter-tests; with --mutants, both controls and then the mutants are runs of their own. The same
    command does only what is missing.

    \b
    Examples:
      assay dataset audit lite --cutoff 2023-09-30
      assay dataset audit rows.jsonl --kind solution_in_issue --json
      assay dataset audit rows.jsonl --mirror ~/mirrors --kind undetermined --kind determined
      assay dataset audit releases --mutants 6 --timeout 120 -o audit.json
      assay dataset audit releases -i pallets__flask-2.3.2 --counter-tests
    """
    from assay.cli import console
    from assay.cli.commands.dataset.audit_view import print_findings
    from assay.harness.runs.manifest import RunKind
    from assay.jobs.audit import Audit
    from assay.jobs.evaluate import EvaluationRun, run_name

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, may_be_empty=False)
    found = Audit(loaded.instances, kinds or ())
    found.find_by_rules(cutoff.date() if cutoff else None, config.sources(mirror))
    for line in found.not_searched:
        console.say(f"the tree was not searched: {line}")
    if stability:
        found.find_by_record(stability)
    if null_run:
        found.find_by_run(find_run(null_run, runs_dir))
    place = config.workplace(engine, mirror, recipes, jobs=jobs, timeout=timeout, build_limits=build_limits)
    if mutants:
        found.find_by_mutants(EvaluationRun(run_name(dataset, "audit"), runs_dir, place, kind=RunKind.AUDIT), mutants)
    if counter_tests:
        found.find_by_counters(place)
    saved = found.save(loaded.ref)
    if output is not None:
        output.write_text(console.format_json(saved) + "\n", encoding="utf-8")
    if json:
        console.print_json(saved)
    else:
        print_findings(found, loaded.ref, all_of_it=bool(ids or kinds))
    raise typer.Exit(exit_code(found, strict=strict))


def exit_code(audit: "Audit", *, strict: bool) -> int:
    """Return 4 for a fault if the audit is strict, 3 if something could not be run, else 0."""
    if strict and any(each.severity == "fault" for each in audit.findings):
        return exits.INVALID
    return exits.INFRASTRUCTURE if audit.is_broken else 0
