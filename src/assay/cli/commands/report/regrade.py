"""``assay report regrade``: verdicts from saved evidence, or from logs made elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run, load_instances, load_predictions
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.grading.logs import LogGrades
    from assay.harness.runs.store import RunStore


def regrade(
    target: Annotated[str, typer.Argument(help="A run, or a folder with test logs made elsewhere.")],
    dataset: Annotated[str | None, typer.Option("-d", "--dataset", help="The instances that the logs are of.")] = None,
    predictions: Annotated[
        Path | None, typer.Option("-p", "--predictions", help="The logs' patches, perhaps with published_resolved.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="The run's folder, new or of the same logs.")
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Grade again: a run from its saved evidence, or a folder of logs made elsewhere.

    Logs are <instance id>[.anything].txt or .log, with SWE-bench's markers or bare, or part of a tree that SWE-bench,
    its leaderboard's submissions or Multi-SWE-bench leave: <instance id>/test_output.txt and
    <org>/<repo>/evals/pr-<number>/fix-patch-run.log. The patch and SWE-bench's report.json beside a log are read too.
    No container is started.

    With -o, the result is a run like any other. Its verdicts say that no tree was checked and no tripwires ran.

    \b
    Examples:
      assay report regrade releases.gold
      assay report regrade logs/ --dataset lite.jsonl -p preds.jsonl -o runs/published
    """
    if dataset is not None:
        _regrade_logs(Path(target), dataset, predictions, output, skip_bad_rows=skip_bad_rows, as_json=json)
    elif output or predictions:
        raise UserError("-p and -o are for a folder of logs; name their instances with --dataset")
    else:
        _regrade_run(find_run(target, runs_dir), as_json=json)


def _regrade_run(store: "RunStore", *, as_json: bool) -> None:
    """Grade a run's evidence again, with the labels that the run saved, and replace the verdicts that change."""
    from assay.cli import console
    from assay.harness.runs.regrade import regrade_run

    with store.lock():
        result = regrade_run(store)
    if as_json:
        console.print_json(result.report)
        return
    for before, after in result.changed:
        print(f"{after.instance_id}: {before.outcome} to {after.outcome} ({after.reason})")
    print(f"{count(len(result.changed), 'verdict')} changed; {console.sum_line(result.report)}")


def _regrade_logs(
    folder: Path, dataset: str, source: Path | None, output: Path | None, *, skip_bad_rows: bool, as_json: bool
) -> None:
    from assay.cli import console
    from assay.harness.grading.logs import grade_logs
    from assay.harness.runs.log_run import write_log_run
    from assay.harness.runs.report import build_report
    from assay.harness.runs.store import RunStore
    from assay.instances.dataset.predictions import read_published

    if output and output.resolve().name.startswith("."):
        raise UserError(f"-o {output}: a run cannot have this name; name a folder such as runs/mine")
    instances = load_instances(dataset, None, None, skip_bad_rows=skip_bad_rows, may_be_empty=False).instances
    imported = load_predictions(source) if source else None
    published = read_published(source) if source and imported and imported.are_rows else None
    grades = grade_logs(folder, instances, published)
    if output:
        store = RunStore(output.expanduser(), alone=True)
        report, others = write_log_run(store, folder, grades, instances, imported.predictions if imported else ())
        for name in others:
            console.say(f"{name}: the patch beside its log is not the prediction's; it is the one that was tested")
    else:
        verdicts = grades.verdicts.values()
        report = build_report(verdicts, [each.id for each in instances], run_id=folder.name, dataset=dataset)
    for name in grades.strangers:
        console.say(f"{name}: no instance of {dataset} has this id")
    if as_json:
        console.print_json(report)
        return
    _print_log_grades(grades)
    if output:
        print(f"{console.sum_line(report)} · {output}")


def _print_log_grades(grades: "LogGrades") -> None:
    resolved = sum(verdict.resolved for verdict in grades.verdicts.values())
    print(f"{resolved} of {count(len(grades.verdicts), 'log')} resolved")
    for name in grades.disagreements:
        verdict = grades.verdicts[name]
        other = "unresolved" if verdict.resolved else "resolved"
        print(f"  {name}: ours {verdict.outcome}, published {other} ({verdict.reason})")
    if compared := len(grades.agreements) + len(grades.disagreements):
        print(f"{len(grades.agreements)} of {compared} agree with the published verdict ({grades.agreement:.2%})")
