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
    from assay.harness.validate import Validation
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
    write: Annotated[
        bool, typer.Option("--write", help="Write the labels that were measured into a native data-set folder.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Run every instance with its gold patch and without any, and compare what the tests do with the labels.

    An instance is valid when its gold patch resolves it and no patch does not. Exit 4 if any is not valid.

    \b
    Examples:
      assay dataset validate releases
      assay dataset validate ./mine --write
    """
    from assay.harness.cli import console
    from assay.harness.cli.session import Session
    from assay.harness.domain import Prediction
    from assay.harness.validate import validation

    loaded = _load(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    if write and not Path(dataset).is_dir():
        raise UserError("--write needs a data set in the native folder format")
    evidence = {}
    for model in ("gold", "null"):
        session = Session(
            run_id=f"{Path(dataset).stem}.validate-{model}",
            runs_dir=runs_dir,
            engine=engine,
            jobs=jobs,
            mirrors=tuple(mirror or ()),
            recipes=tuple(recipes or ()),
        )
        pairs = [
            (each, Prediction(instance_id=each.id, model=model, patch=each.gold_patch if model == "gold" else ""))
            for each in loaded.instances
        ]
        session.run(pairs, [each.id for each in loaded.instances], runs_empty=model == "null")
        evidence[model] = {each.id: session.store.load_evidence(each.id) for each in loaded.instances}
    results = [validation(each, evidence["gold"][each.id], evidence["null"][each.id]) for each in loaded.instances]
    if write:
        _write(Path(dataset), results)
    if json:
        console.print_json(jsonlib.dumps({"instances": [result.model_dump(mode="json") for result in results]}))
    else:
        _print_validations(results)
    raise typer.Exit(0 if all(result.valid for result in results) or write else exits.INVALID)


def _write(folder: Path, results: "list[Validation]") -> None:
    from assay.instances.formats.native import write_labels

    for result in results:
        if result.fail_to_pass:
            write_labels(folder, result.instance_id, result.fail_to_pass, result.pass_to_pass)


def _print_validations(results: "list[Validation]") -> None:
    from assay.harness.cli import console

    columns = ("instance", "valid", "gold", "null", "fail to pass", "pass to pass", "labels that differ")
    rows = [
        (
            result.instance_id,
            "yes" if result.valid else "no",
            str(result.gold),
            str(result.null),
            str(len(result.fail_to_pass)),
            str(len(result.pass_to_pass)),
            str(len(result.label_differences)),
        )
        for result in results
    ]
    console.print_rows(columns, rows)
    for result in results:
        for line in result.label_differences[:20]:
            print(f"  {result.instance_id}: {line}")


def _load(dataset: str, ids: list[str] | None, split: str | None, *, skip_bad_rows: bool) -> "Loaded":
    from assay.harness.cli.console import say
    from assay.instances.load import load

    loaded = load(dataset, ids=ids or (), split=split, skip_bad_rows=skip_bad_rows)
    if ids is not None or not skip_bad_rows:
        for problem in loaded.problems:
            say(f"skipped: {problem}")
    return loaded
