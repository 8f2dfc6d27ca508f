"""``assay dataset``: the instances themselves."""

import json as jsonlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import exits, options
from assay.cli.audit import audit
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance
    from assay.instances.dataset.load import Loaded

app = typer.Typer(help="Show, check, convert, validate and audit instances.", no_args_is_help=True)
app.command("audit")(audit)


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
    from assay.cli import console

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows)
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
    return (instance.id, instance.repo, _created(instance)[:10], *counts)


def _created(instance: "Instance") -> str:
    from assay.harness.domain import UNKNOWN_TIME

    return "unknown" if instance.created_at == UNKNOWN_TIME else instance.created_at.isoformat()


def _base(instance: "Instance") -> str:
    if instance.archive:
        return f"{instance.archive.name} {instance.archive.version}"
    return f"{instance.base.commit} with a patch on top" if instance.base else instance.base_commit


def _show_one(instance: "Instance") -> None:
    facts = {
        "instance": instance.id,
        "repository": instance.repo,
        "base": _base(instance),
        "created": _created(instance),
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

    What can be recomputed is: the label sets of Multi-SWE-bench rows must be those that their three results give.

    \b
    Examples:
      assay dataset check rows.jsonl
      assay dataset check polybench.csv --json
    """
    from assay.cli import console

    loaded = load_instances(dataset, None, split, skip_bad_rows=True, tell=False)
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


@app.command("convert")
def convert(
    dataset: options.Dataset,
    to: Annotated[str, typer.Option("--to", metavar="DIALECT", help="Dialect of the rows.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write .jsonl, .json or .csv here.", show_default="stdout"),
    ] = None,
    ids: options.Ids = None,
    split: options.Split = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what the rows cannot hold, saying what, and use their rule.")
    ] = False,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Write instances as rows of another dialect; each row is read again and must give the same instance.

    Dialects: native, swebench, multi-swe-bench, polybench, swebench-live, swe-rebench, swe-smith, r2e.
    Each has its own rule of what "resolved" means; another rule, or a field that rows cannot hold, is an error without
    --lossy.

    \b
    Examples:
      assay dataset convert rows.jsonl --to native -o mine.jsonl
      assay dataset convert multi.jsonl --to swebench --lossy -o plain.jsonl
      assay dataset convert polybench.csv --to polybench -i google__gson-1093
    """
    from assay.cli import console
    from assay.instances.dataset import convert as conversion

    dialect = conversion.find_format(to)
    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, published_images=True)
    found = conversion.convert_all(loaded.instances, dialect, lossy=lossy)
    losses = {instance.id: each.losses for instance, each in zip(loaded.instances, found, strict=True) if each.losses}
    rows = [each.row for each in found]
    if output:
        conversion.save(rows, output)
    if json:
        where: dict[str, object] = {"file": str(output)} if output else {"rows": rows}
        console.print_json(jsonlib.dumps({"dialect": dialect.NAME, "instances": len(rows), "losses": losses, **where}))
        return
    for loss, count in Counter(loss for each in found for loss in each.losses).items():
        console.say(f"left out of {count} instances: {loss}")
    if output:
        print(f"{len(rows)} instances as rows of {dialect.NAME}: {output}")
    else:
        print(conversion.json_lines(rows), end="")


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
    from assay.cli import console, validation
    from assay.cli.session import Session, run_name
    from assay.harness.grading.stability import StabilityFile

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    if write and not Path(dataset).is_dir():
        raise UserError("--write needs a data set in the native folder format")
    session = Session(
        run_id=run_name(dataset, "validate"),
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


def load_instances(
    dataset: str,
    ids: list[str] | None,
    split: str | None,
    *,
    skip_bad_rows: bool,
    published_images: bool = False,
    tell: bool = True,
) -> "Loaded":
    """Return the instances of a data set, and tell what was skipped unless ``tell`` is false."""
    from assay.cli.console import say
    from assay.cli.workbench import make_sources
    from assay.instances.dataset.load import load

    loaded = load(
        dataset,
        ids=ids or (),
        split=split,
        skip_bad_rows=skip_bad_rows,
        published_images=published_images,
        sources=make_sources(),
    )
    if tell:
        for problem in loaded.problems:
            say(f"skipped: {problem}")
    return loaded
