"""``assay report``: what runs came to, and grading again."""

import json as jsonlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import measures, options
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.grading.logs import LogGrades
    from assay.harness.runs.report import Graded, RunReport
    from assay.harness.runs.store import RunStore

app = typer.Typer(help="Show runs, grade them again and export them.", no_args_is_help=True)

RunName = Annotated[str, typer.Argument(metavar="RUN", help="Name of a run, or its folder.", show_default=False)]


@app.command("show")
def show(run: RunName, runs_dir: options.RunsDir = options.RUNS_DIR, json: options.Json = False) -> None:
    """Show the verdicts of a run.

    \b
    Example:
      assay report show releases.gold
    """
    from assay.cli import console
    from assay.cli.session import sum_line
    from assay.harness.runs.report import build_report
    from assay.harness.runs.store import SavedVerdict

    store = find_run(run, runs_dir)
    about = store.load_run()
    found = (store.load_verdict(each.instance_id) for each in store.load_predictions())
    saved: list[SavedVerdict] = [entry for entry in found if entry is not None]
    verdicts = [entry.verdict for entry in saved]
    report = store.load_report() or build_report(
        verdicts, [], run_id=about.id, dataset=about.dataset.name, model=about.model, assay_version=about.assay_version
    )
    if json:
        console.print_json(jsonlib.dumps(report.model_dump(mode="json")))
        return
    console.print_verdicts(verdicts, {entry.verdict.instance_id: entry.seconds for entry in saved})
    print(sum_line(report), f"· {about.dataset.name} {about.dataset.revision[:12]} · {about.model} · {about.started}")


@app.command("regrade")
def regrade(
    target: Annotated[str, typer.Argument(help="A run, or a folder of test logs made elsewhere.", show_default=False)],
    dataset: Annotated[
        str | None, typer.Option("-d", "--dataset", help="The instances that the logs are of.", show_default=False)
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("-p", "--predictions", help="File with a published_resolved for each id.", show_default=False),
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


class Layout(StrEnum):
    """Whose files an export writes."""

    SWE_BENCH = "swebench"
    MULTI_SWE_BENCH = "multi-swe-bench"


@app.command("export")
def export(
    run: RunName,
    layout: Annotated[Layout, typer.Option("--format", help="Whose files to write.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder to write into.", show_default="RUN.FORMAT"),
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Write the reports of a run as another benchmark's own tools do: one of each instance, and one of all.

    swebench: <model>.<run>.json, and report.json in logs/run_evaluation/<run>/<model>/<id>/ of each instance that has
    test results. multi-swe-bench: final_report.json, and <org>/<repo>/evals/pr-<n>/report.json with the three stages;
    for instances that are graded by its rule. Either names the rules that decided what "resolved" means.

    \b
    Examples:
      assay report export rows.gold --format swebench
      assay report export multi.gold --format multi-swe-bench -o reports
    """
    from assay.cli import console
    from assay.harness.exports import multi_swe_bench, swebench

    store = find_run(run, runs_dir)
    refuse_oracle(store)
    writers = {Layout.SWE_BENCH: swebench.files, Layout.MULTI_SWE_BENCH: multi_swe_bench.files}
    report, graded = _graded(store)
    files = list(writers[layout](report, graded))
    folder = output or Path(f"{store.root.resolve().name}.{layout}")
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(jsonlib.dumps(content, indent=2) + "\n", encoding="utf-8")
    if json:
        written = [str(folder / name) for name, _ in files]
        console.print_json(jsonlib.dumps({"format": layout, "rules": report.rules, "files": written}))
    else:
        print(f"{len(files)} files in {folder}; resolved by the rule of {', '.join(report.rules) or 'no instance'}")


@app.command("trajectory")
def trajectory(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What an agent of others wrote.", show_default=False)],
    form: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FORM",
            help="sweagent (.traj), mini (.traj.json), claude_stream, codex_json.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write it.", show_default="standard output"),
    ] = None,
) -> None:
    """Read a trajectory of an agent of others and write it in ATIF 1.8, as Assay's own are.

    \b
    Example:
      assay report trajectory marshmallow-1867.traj --from sweagent -o trajectory.json
    """
    from assay.agents.external.importers import import_file

    found = import_file(form, file)
    text = jsonlib.dumps(found.model_dump(mode="json", exclude_none=True), indent=2) + "\n"
    if output is None:
        print(text, end="")
        return
    output.write_text(text, encoding="utf-8")
    actions = sum(len(step.tool_calls or ()) for step in found.steps)
    print(f"{len(found.steps)} steps with {actions} actions of {found.agent.name} {found.agent.version} in {output}")


app.command("compare")(measures.compare)
app.command("metrics")(measures.metrics)


def refuse_oracle(store: "RunStore") -> None:
    """Raise UserError for a run whose solver was told of the answer: it belongs on no leaderboard."""
    oracle = store.load_run().settings.get("oracle", "")
    if oracle:
        raise UserError(
            f"{store.root} is exported to no leaderboard: its solver was told the {oracle} of each instance"
        )


def _graded(store: "RunStore") -> "tuple[RunReport, list[Graded]]":
    """Return a run's report and evaluations; raises UserError when evidence is missing."""
    from assay.harness.runs.report import Graded, build_report

    graded = []
    for prediction in store.load_predictions():
        saved = store.load_verdict(prediction.instance_id)
        if saved is None:
            continue
        instance, evidence = store.load_instance(prediction.instance_id), store.load_evidence(prediction.instance_id)
        if instance is None or evidence is None:
            raise UserError(f"{store.root}: the evidence of {prediction.instance_id} is missing; evaluate it again")
        graded.append(Graded(instance, evidence, saved.verdict))
    about = store.load_run()
    report = store.load_report() or build_report(
        [each.verdict for each in graded],
        [prediction.instance_id for prediction in store.load_predictions()],
        run_id=about.id,
        dataset=about.dataset.name,
        model=about.model,
    )
    return report, graded


def find_run(run: str, runs_dir: Path) -> "RunStore":
    """Return a run by its name or its folder; raises UserError, naming those that there are, for no run."""
    from assay.harness.runs.store import RunStore

    for folder in (runs_dir / run, Path(run)):
        if (folder / "run.json").is_file():
            return _with_verdicts(RunStore(folder))
    if Path(run).is_dir():
        raise UserError(f"{run} is no run of Assay; for a folder of logs name their instances with --dataset")
    known = ", ".join(sorted(path.parent.name for path in runs_dir.glob("*/run.json"))) or "none"
    raise UserError(f"there is no run {run!r} in {runs_dir}; known are: {known}")


def _with_verdicts(store: "RunStore") -> "RunStore":
    """Return a run that evaluated something; raises UserError for one that made patches."""
    if store.load_run().settings.get("kind") == "solve":
        name = store.root.name
        raise UserError(
            f"{store.root} is the run of a solver and has no verdicts; those of `solve --evaluate` are in "
            f"{name}.evaluated, others come from assay evaluate DATASET -p {store.root / 'preds.jsonl'}"
        )
    return store


def _regrade_run(store: "RunStore", *, as_json: bool) -> None:
    """Grade a run's evidence again, with the labels that the run saved, and replace the verdicts that change."""
    from assay.cli import console
    from assay.cli.session import sum_line
    from assay.harness.runs.regrade import regrade_run

    with store.locked():
        result = regrade_run(store)
    if as_json:
        console.print_json(jsonlib.dumps(result.report.model_dump(mode="json")))
        return
    for before, after in result.changed:
        print(f"{after.instance_id}: {before.outcome} to {after.outcome} ({after.reason})")
    print(f"{len(result.changed)} verdicts changed; {sum_line(result.report)}")


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
        console.print_json(jsonlib.dumps(report.model_dump(mode="json")))
    else:
        _print_log_grades(grades, published=predictions is not None)


def _print_log_grades(grades: "LogGrades", *, published: bool) -> None:
    resolved = sum(verdict.resolved for verdict in grades.verdicts.values())
    print(f"{resolved} of {len(grades.verdicts)} logs resolved")
    for name in grades.disagreements:
        verdict = grades.verdicts[name]
        other = "unresolved" if verdict.resolved else "resolved"
        print(f"  {name}: ours {verdict.outcome}, published {other} ({verdict.reason})")
    if published:
        compared = len(grades.agreements) + len(grades.disagreements)
        print(f"{len(grades.agreements)} of {compared} agree with the published verdict ({grades.agreement:.2%})")
