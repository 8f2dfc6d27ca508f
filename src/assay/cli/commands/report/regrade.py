"""``assay report regrade``: verdicts from saved evidence, or from logs made elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.grading.logs import LogGrades
    from assay.harness.runs.store import RunStore


def regrade(
    target: Annotated[str, typer.Argument(help="A run, or a folder of test logs made elsewhere.")],
    dataset: Annotated[str | None, typer.Option("-d", "--dataset", help="The instances that the logs are of.")] = None,
    predictions: Annotated[
        Path | None, typer.Option("-p", "--predictions", help="File with a published_resolved for each id.")
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Grade again: a run from its saved evidence, or a folder of logs made elsewhere.

    Logs are named <instance id>[.anything].txt or .log, with SWE-bench's markers or bare. No container is started.

    \b
    Examples:
      assay report regrade releases.gold
      assay report regrade logs/ --dataset lite.jsonl -p preds.jsonl
    """
    if dataset is None:
        _regrade_run(find_run(target, runs_dir), as_json=json)
    else:
        _regrade_logs(Path(target), dataset, predictions, skip_bad_rows=skip_bad_rows, as_json=json)


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


def _regrade_logs(folder: Path, dataset: str, predictions: Path | None, *, skip_bad_rows: bool, as_json: bool) -> None:
    from assay.cli import console
    from assay.harness.grading.logs import grade_logs
    from assay.harness.runs.report import build_report
    from assay.instances.dataset.load import load
    from assay.instances.dataset.predictions import read_published

    loaded = load(dataset, skip_bad_rows=skip_bad_rows)
    for problem in loaded.problems:
        console.say(f"skipped: {problem}")
    grades = grade_logs(folder, loaded.instances, read_published(predictions) if predictions else None)
    for name in grades.strangers:
        console.say(f"{name}: no instance of {dataset} has this id")
    verdicts = list(grades.verdicts.values())
    report = build_report(verdicts, [each.id for each in loaded.instances], run_id=folder.name, dataset=dataset)
    if as_json:
        console.print_json(report)
    else:
        _print_log_grades(grades, published=predictions is not None)


def _print_log_grades(grades: "LogGrades", *, published: bool) -> None:
    resolved = sum(verdict.resolved for verdict in grades.verdicts.values())
    print(f"{resolved} of {count(len(grades.verdicts), 'log')} resolved")
    for name in grades.disagreements:
        verdict = grades.verdicts[name]
        other = "unresolved" if verdict.resolved else "resolved"
        print(f"  {name}: ours {verdict.outcome}, published {other} ({verdict.reason})")
    if published:
        compared = len(grades.agreements) + len(grades.disagreements)
        print(f"{len(grades.agreements)} of {compared} agree with the published verdict ({grades.agreement:.2%})")
