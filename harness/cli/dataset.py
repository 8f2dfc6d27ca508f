"""``assay dataset``: the instances themselves."""

import json as jsonlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.harness.cli import exits, options
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance
    from assay.instances.load import Loaded

app = typer.Typer(help="Show, check and validate instances.", no_args_is_help=True)


@app.command("show")
def show(
    dataset: options.Dataset,
    ids: options.Ids = None,
    split: options.Split = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Show what a data set holds; with -i, single instances in full.

    \b
    Examples:
      assay dataset show releases
      assay dataset show releases -i pallets__flask-2.3.2
    """
    from assay.harness.cli import console

    loaded = _load(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    if json:
        rows = [instance.model_dump(mode="json") for instance in loaded.instances]
        about = {"dataset": loaded.ref.name, "revision": loaded.ref.revision}
        console.print_json(jsonlib.dumps({**about, "instances": rows}))
    elif ids:
        for instance in loaded.instances:
            _show_one(instance)
    else:
        columns = ("instance", "repository", "created", "fail to pass", "pass to pass")
        console.print_rows(columns, [_row(instance) for instance in loaded.instances])
        print(f"{len(loaded.instances)} instances of {loaded.ref.name} at {loaded.ref.revision[:12]}")


def _row(instance: "Instance") -> tuple[str, ...]:
    counts = (str(len(instance.fail_to_pass)), str(len(instance.pass_to_pass)))
    return (instance.id, instance.repo, f"{instance.created_at:%Y-%m-%d}", *counts)


def _show_one(instance: "Instance") -> None:
    facts = {
        "instance": instance.id,
        "repository": instance.repo,
        "base": instance.base_commit or (instance.archive and f"{instance.archive.name} {instance.archive.version}"),
        "created": instance.created_at.isoformat(),
        "version": instance.version,
        "rule": instance.rule,
        "tests": f"{len(instance.fail_to_pass)} fail to pass, {len(instance.pass_to_pass)} pass to pass",
    }
    for name, value in facts.items():
        print(f"{name:<12} {value}")
    for title, text in (
        ("problem", instance.problem_statement),
        ("gold patch", instance.gold_patch),
        ("test patch", instance.test_patch),
        ("fail to pass", "\n".join(instance.fail_to_pass)),
    ):
        print(f"\n--- {title}\n{text.rstrip()}")


@app.command("check")
def check(dataset: options.Dataset, split: options.Split = None, json: options.Json = False) -> None:
    """Read every row and report each that is wrong; exit 2 if any is.

    \b
    Example:
      assay dataset check rows.jsonl
    """
    from assay.harness.cli import console

    loaded = _load(dataset, None, split, skip_bad_rows=True)
    problems = [str(problem) for problem in loaded.problems]
    if json:
        console.print_json(jsonlib.dumps({"instances": len(loaded.instances), "problems": problems}))
    else:
        for problem in problems:
            print(problem)
        languages = Counter(instance.language for instance in loaded.instances)
        about = ", ".join(f"{count} {language}" for language, count in languages.most_common())
        print(f"{len(loaded.instances)} good instances ({about or 'none'}), {len(problems)} wrong rows")
    raise typer.Exit(exits.USAGE if problems else 0)


@app.command("validate")
def validate(
    dataset: options.Dataset,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = options.CORES,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    skip_bad_rows: options.SkipBadRows = False,
    times: Annotated[int, typer.Option("-k", "--times", min=1, help="Runs of each control.")] = 3,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write the labels that all runs agree on, and the quarantine, into the folder."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Run every instance with its gold patch and without any, several times, and compare what its tests do.

    An instance is valid when its gold patch resolves it in every run and no patch in none. Expected tests on which the
    runs do not agree are quarantined: `assay evaluate --stability FILE` leaves them out, and so does a native data set
    that was validated with --write. Exit 4 if any instance is not valid.

    Running the same command again, or with a larger -k, does only what is missing.

    \b
    Examples:
      assay dataset validate releases
      assay dataset validate rows.jsonl -i pallets__flask-5063 -k 10 --mirror ~/mirrors
      assay dataset validate ./mine --write
    """
    from assay.harness.cli import console, validation
    from assay.harness.cli.session import Session
    from assay.harness.stability import StabilityFile

    loaded = _load(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    if write and not Path(dataset).is_dir():
        raise UserError("--write needs a data set in the native folder format")
    session = Session(
        run_id=f"{Path(dataset).stem}.validate",
        runs_dir=runs_dir,
        engine=engine,
        jobs=jobs,
        mirrors=tuple(mirror or ()),
        recipes=tuple(recipes or ()),
        alone=True,
    )
    results, records = validation.run(session, loaded.instances, times)
    path = session.store.save_stability(StabilityFile(dataset=loaded.ref.name, instances=records))
    if write:
        validation.write(Path(dataset), results, records)
    if json:
        found = [{**result.model_dump(mode="json"), "valid": result.valid} for result in results]
        console.print_json(jsonlib.dumps({"instances": found, "stability": str(path)}))
    else:
        validation.show(results)
        print(f"What each test did in each run: {path}")
    raise typer.Exit(0 if all(result.valid for result in results) or write else exits.INVALID)


def _load(dataset: str, ids: list[str] | None, split: str | None, *, skip_bad_rows: bool) -> "Loaded":
    from assay.harness.cli.console import say
    from assay.instances.load import load

    loaded = load(dataset, ids=ids or (), split=split, skip_bad_rows=skip_bad_rows)
    if ids is not None or not skip_bad_rows:
        for problem in loaded.problems:
            say(f"skipped: {problem}")
    return loaded
