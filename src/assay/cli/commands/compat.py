"""``assay swebench``, ``sb-cli`` and ``multi-swe-bench``: the command lines of other evaluators.

Assay's own options are the settings of ``assay evaluate``.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.choices import EnvironmentChoice
from assay.cli import config
from assay.cli.loading import find_run, load_predictions, load_to_evaluate
from assay.harness.errors import EngineUnavailable, UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance
    from assay.jobs.workplace import Workplace

WITH = {"infra_failure": "likely infrastructure failures", "ambiguous_failure": "ambiguous failures"}
WITH |= {"empty_patch": "empty patches", "error": "errors"}


class Switch(StrEnum):
    """Words for true and false that swebench takes."""

    YES = "yes"
    TRUE = "true"
    T = "t"
    Y = "y"
    ONE = "1"
    NO = "no"
    FALSE = "false"
    F = "f"
    N = "n"
    ZERO = "0"


@contextmanager
def _ending_as_python_does() -> Iterator[None]:
    """End with 1, as a program does that raises, where Assay's own commands end with 2."""
    try:
        yield
    except (UserError, EngineUnavailable) as error:
        from assay.cli import console

        console.say(f"assay: {error}")
        raise typer.Exit(1) from None


def _open_place(
    context: typer.Context, instances: "Sequence[Instance]", mirrors: Sequence[Path] = (), **own: Any
) -> "tuple[Workplace, Path]":
    """Return the place that the settings of `assay evaluate` describe, with ``own`` ones, and the folder of runs.

    Where no setting says otherwise, the images that rows name are used, as the other evaluators do.
    """
    from assay.harness.domain import PublishedImage
    from assay.jobs.workplace import WorkplaceSettings

    root: Any = context.find_root()
    read = root.command.commands["evaluate"].make_context("evaluate", ["rows"], parent=root)
    given, environment = read.params, read.params["environment"]
    named = any(isinstance(each.environment, PublishedImage) for each in instances)
    if named and read.get_parameter_source("environment").name == "DEFAULT":
        environment = EnvironmentChoice.PUBLISHED
    settings: Any = {name: given[name] for name in WorkplaceSettings.__annotations__ if name in given} | own
    folders = [*(given["mirror"] or ()), *mirrors]
    place = config.workplace(given["engine"], folders, given["recipes"], environment, **settings)
    return place, given["runs_dir"]


def swebench_run_evaluation(
    context: typer.Context,
    predictions_path: Annotated[
        str,
        typer.Option("-p", "--predictions_path", metavar="FILE", help="Predictions; gold is the rows' own patches."),
    ],
    run_id: Annotated[str, typer.Option("-id", "--run_id", help="Name of the run.")],
    dataset_name: Annotated[
        str, typer.Option("-d", "--dataset_name", metavar="DATASET", help="Hub id, alias, file or folder.")
    ] = "SWE-bench/SWE-bench_Lite",
    split: Annotated[str, typer.Option("-s", "--split", help="Split of a hub data set or folder.")] = "test",
    instance_ids: Annotated[
        list[str] | None, typer.Option("-i", "--instance_ids", metavar="ID...", help="Only these instances.")
    ] = None,
    max_workers: Annotated[int, typer.Option("--max_workers", help="Containers at once.")] = 4,
    timeout: Annotated[int, typer.Option("-t", "--timeout", min=1, help="Limit of the tests in seconds.")] = 1800,
    report_dir: Annotated[Path, typer.Option("--report_dir", metavar="DIR", help="Folder of the report.")] = Path(),
    rewrite_reports: Annotated[
        Switch,
        typer.Option("--rewrite_reports", metavar="BOOL", case_sensitive=False, help="Grade saved evidence again."),
    ] = Switch.NO,
) -> None:
    """Evaluate as `python -m swebench.harness.run_evaluation` does, with its flags, files and exit status.

    Leaves logs/run_evaluation/RUN_ID/MODEL/ID/ and MODEL.RUN_ID.json; the evidence is in runs/MODEL.RUN_ID, a run like
    any other. Other flags of swebench 4 and 5 are ignored, or refused where they cannot be honoured. Exit status: 0
    once the report is written, 1 if it cannot be, 2 for a wrong flag. What else `assay evaluate` takes is set by
    ASSAY_MIRROR, ASSAY_ENGINE, ASSAY_ENVIRONMENT and so on.

    \b
    Examples:
      assay swebench run_evaluation --dataset_name rows.jsonl --predictions_path preds.jsonl --run_id first
      assay swebench run_evaluation -d rows.jsonl -p gold -id gold -i acme__calc-1 acme__calc-2 --max_workers 2
      assay swebench run_evaluation -d rows.jsonl -p preds.jsonl -id second --cache_level none --clean True
    """
    from assay.cli import console
    from assay.compat.swebench import NAMES, SwebenchRun
    from assay.instances.dataset.predictions import check_predictions
    from assay.jobs.evaluate import control_pairs

    with _ending_as_python_does():
        dataset = NAMES.get(re.sub("[-_]", "", dataset_name.lower()), dataset_name)
        file_split = None if Path(dataset).is_file() else split
        instances = load_to_evaluate(dataset, instance_ids, file_split, skip_bad_rows=False)
        if predictions_path == "gold":
            predictions = [prediction for _, prediction in control_pairs(instances, "gold")]
        else:
            predictions = [*load_predictions(Path(predictions_path)).predictions]
        if not instance_ids:
            check_predictions(predictions, {each.id.lower() for each in instances})
        place, runs_dir = _open_place(context, instances, jobs=max(1, max_workers), timeout=timeout)
        run = SwebenchRun(run_id, instances, predictions, runs_dir, place)
        report = run.evaluate(regrades=rewrite_reports in {Switch.YES, Switch.TRUE, Switch.T, Switch.Y, Switch.ONE})
        path = run.write_report(report, report_dir, dataset_name, split)
    print(f"Total instances: {report.total_instances}\nInstances submitted: {report.submitted_instances}")
    for group in ("completed", "incomplete", "resolved", "unresolved", *WITH):
        title = f"with {WITH[group]}" if group in WITH else group
        print(f"Instances {title}: {len(getattr(report, f'{group}_ids'))}")
    print(f"Report written to {path}")
    console.say(f"evidence: {run.run.store.root}")


Subset = Annotated[str, typer.Argument(metavar="SUBSET", help="swe-bench-m, swe-bench_lite or swe-bench_verified.")]
SplitName = Annotated[str, typer.Argument(metavar="SPLIT", help="dev or test.")]
Reports = Annotated[Path, typer.Option("-o", "--output_dir", metavar="DIR", help="Folder of the reports.")]
Overwrite = Annotated[int, typer.Option("--overwrite", help="1 replaces a report that is there.")]


def sb_cli_submit(
    context: typer.Context,
    subset: Subset,
    split: SplitName,
    predictions_path: Annotated[Path, typer.Option("--predictions_path", metavar="FILE", help="Predictions.")],
    run_id: Annotated[str, typer.Option("--run_id", help="Or PARENT or STEM of the predictions' path.")] = "PARENT",
    instance_ids: Annotated[str, typer.Option("--instance_ids", help="Only these, separated by commas.")] = "",
    output_dir: Reports = Path("sb-cli-reports"),
    overwrite: Overwrite = 0,
    gen_report: Annotated[int, typer.Option("--gen_report", help="0 writes no report.")] = 1,
    rows: Annotated[str, typer.Option("--rows", metavar="DATASET", help="Rows in place of the subset's.")] = "",
) -> None:
    """Evaluate as `sb-cli submit` does, but on this machine, and leave the same report.

    It is sb-cli-reports/SUBSET__SPLIT__RUN_ID.json; the evidence is in runs/SUBSET__SPLIT__RUN_ID, a run like any
    other. A key is not needed. What else `assay evaluate` takes is set by ASSAY_MIRROR, ASSAY_JOBS and so on.

    \b
    Examples:
      assay sb-cli submit swe-bench_lite test --predictions_path preds.json --run_id first
      assay sb-cli submit swe-bench_lite test --predictions_path preds.json --rows rows.jsonl --run_id second
    """
    from assay.compat.sb_cli import SUBSETS
    from assay.instances.dataset.predictions import pair_predictions
    from assay.jobs.evaluate import EvaluationRun

    if subset not in SUBSETS:
        raise UserError(f"{subset} is no subset of sb-cli; write {', '.join(SUBSETS)}")
    run_id = {"PARENT": predictions_path.absolute().parent.name, "STEM": predictions_path.stem}.get(run_id, run_id)
    with _ending_as_python_does():
        instances = load_to_evaluate(rows or SUBSETS[subset], None, None if rows else split, skip_bad_rows=False)
        given, wanted = load_predictions(predictions_path).predictions, [*filter(None, instance_ids.split(","))]
        pairs = pair_predictions(instances, [each for each in given if not wanted or each.instance_id in wanted], None)
        if len({each.model for _, each in pairs}) > 1:
            raise UserError(f"{predictions_path} is of several models; submit each by itself")
        place, runs_dir = _open_place(context, instances)
        run = EvaluationRun(f"{subset}__{split}__{run_id}", runs_dir, place)
        run.evaluate(pairs, [each.id for each in instances])
        if gen_report:
            _report(run.run_id, runs_dir, output_dir, replaces=overwrite)


def sb_cli_get_report(
    context: typer.Context,
    subset: Subset,
    split: SplitName,
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="Name of the submission.")],
    output_dir: Reports = Path("sb-cli-reports"),
    overwrite: Overwrite = 0,
) -> None:
    """Write the report of what `assay sb-cli submit` evaluated, as `sb-cli get-report` does.

    \b
    Example:
      assay sb-cli get-report swe-bench_lite test first --overwrite 1
    """
    with _ending_as_python_does():
        _report(f"{subset}__{split}__{run_id}", _open_place(context, ())[1], output_dir, replaces=overwrite)


def _report(name: str, runs_dir: Path, folder: Path, *, replaces: int) -> None:
    from assay.compat.sb_cli import describe, write_report

    report = find_run(name, runs_dir).report()
    print(f"{describe(report)}\nSaved full report to {write_report(report, folder, replaces=replaces == 1)}!")


def multi_swe_bench_run_evaluation(
    context: typer.Context,
    config_file: Annotated[Path, typer.Option("--config", metavar="FILE", help="A .json, .toml or .yaml file.")],
) -> None:
    """Evaluate as `python -m multi_swe_bench.harness.run_evaluation --config FILE` does; leave final_report.json.

    Clones are looked for in the configuration's repo_dir. Exit status: 1 if something cannot be evaluated and
    stop_on_error is true, else 0. What else `assay evaluate` takes is set by ASSAY_MIRROR, ASSAY_ENGINE and so on.

    \b
    Example:
      assay multi-swe-bench run_evaluation --config config.json
    """
    from assay.cli import console
    from assay.compat.multi_swe_bench import evaluate, find_pairs, read_config

    with _ending_as_python_does():
        given, ignored = read_config(config_file)
        if ignored:
            console.say(f"assay: ignored, since they mean nothing here: {', '.join(ignored)}")
        pairs, folders = find_pairs(given), [given.repo_dir] if given.repo_dir else []
        place, runs_dir = _open_place(context, (), folders, jobs=given.max_workers_run_instance)
        report = evaluate(given, pairs, runs_dir, place)
    print("\n".join(f"{name}: {value}" for name, value in report.items() if name.endswith("_instances")))
    raise typer.Exit(1 if report["error_ids"] and given.stop_on_error else 0)
