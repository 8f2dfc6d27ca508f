"""``assay report regrade``: verdicts from saved evidence, or from logs made elsewhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run, load_instances, load_predictions
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.domain import Instance, Prediction
    from assay.harness.grading.logs import LogGrades
    from assay.harness.runs.report import RunReport
    from assay.harness.runs.store import RunStore


def regrade(
    target: Annotated[str, typer.Argument(help="A run, or a folder with test logs made elsewhere.")],
    dataset: Annotated[str | None, typer.Option("-d", "--dataset", help="The instances that the logs are of.")] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("-p", "--predictions", help="The patches that the logs are of, perhaps with published_resolved."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Leave a run in this folder, new or of the same logs."),
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

    With -o, the result is a run like any other, whose verdicts say that they are of logs alone: no tree was checked,
    and no tripwires ran.

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
    from assay.harness.runs.report import build_report
    from assay.instances.dataset.imports import find_published

    instances = load_instances(dataset, None, None, skip_bad_rows=skip_bad_rows, may_be_empty=False).instances
    predictions = load_predictions(source).predictions if source else ()
    grades = grade_logs(folder, instances, find_published(source) if source else None)
    for name in grades.strangers:
        console.say(f"{name}: no instance of {dataset} has this id")
    if output is not None:
        report = _write_run(output.expanduser(), folder, grades, instances, predictions)
    else:
        verdicts = grades.verdicts.values()
        report = build_report(verdicts, [each.id for each in instances], run_id=folder.name, dataset=dataset)
    if as_json:
        console.print_json(report)
    else:
        _print_log_grades(grades)
        if output is not None:
            print(f"{console.sum_line(report)} · {output}")


def _write_run(
    output: Path,
    folder: Path,
    grades: "LogGrades",
    instances: "Sequence[Instance]",
    predictions: "Sequence[Prediction]",
) -> "RunReport":
    from assay.cli.console import say
    from assay.harness.runs.log_run import pair_logs, write_log_run
    from assay.harness.runs.store import RunStore
    from assay.jobs.evaluate import format_revision

    if output.resolve().name.startswith("."):
        raise UserError(f"-o {output}: a run cannot have this name; name a folder such as runs/mine")
    ids = {each.id.lower(): each.id for each in instances}
    known = [each for each in predictions if each.instance_id.lower() in ids]
    if len(known) < len(predictions):
        say(f"{count(len(predictions) - len(known), 'prediction')} without a row left out")
    known = [each.model_copy(update={"instance_id": ids[each.instance_id.lower()]}) for each in known]
    pairs, others = pair_logs(grades, known)
    for name in others:
        say(f"{name}: the patch beside its log is another than the prediction's, and is the one that was tested")
    given = {"the data set": format_revision(instances[0].dataset), "the logs": str(folder.resolve())}
    return write_log_run(RunStore(output, alone=True), grades, pairs, instances, given)


def _print_log_grades(grades: "LogGrades") -> None:
    resolved = sum(verdict.resolved for verdict in grades.verdicts.values())
    print(f"{resolved} of {count(len(grades.verdicts), 'log')} resolved")
    for name in grades.disagreements:
        verdict = grades.verdicts[name]
        other = "unresolved" if verdict.resolved else "resolved"
        print(f"  {name}: ours {verdict.outcome}, published {other} ({verdict.reason})")
    if compared := len(grades.agreements) + len(grades.disagreements):
        print(f"{len(grades.agreements)} of {compared} agree with the published verdict ({grades.agreement:.2%})")
