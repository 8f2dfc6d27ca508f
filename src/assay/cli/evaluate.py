"""``assay evaluate``: the main job."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli import exits, options
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance, Prediction
    from assay.harness.runs.report import RunReport


def evaluate(
    dataset: options.Dataset,
    predictions: options.Predictions = None,
    gold: options.Gold = False,
    null: options.Null = False,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = options.CORES,
    run_id: options.RunId = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    timeout: options.Timeout = None,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    executor: options.ExecutorName = "threads",
    environment: options.Environment = options.EnvironmentChoice.AUTO,
    skip_bad_rows: options.SkipBadRows = False,
    fresh: options.EvaluateAgain = False,
    rerun_failed: options.RerunFailed = 0,
    controls: options.Controls = False,
    stability: options.StabilityRecord = None,
    patchdiff: options.PatchDiff = None,
    budget: options.Budget = 300,
    seed: options.Seed = 0,
    confirmations: options.Confirmations = 20,
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    cassette: options.Cassette = None,
    fail_under: options.FailUnder = None,
    json: options.Json = False,
) -> None:
    """Test patches in containers and say which resolve their issue.

    Running the same command again does only what is missing.

    \b
    Examples:
      assay evaluate releases --gold
      assay evaluate lite -p preds.jsonl -i pallets__flask-5063 --mirror ~/mirrors -j 4
      assay evaluate rows.jsonl -p preds.json --run-id first --fail-under 30 --json
      assay evaluate lite -p preds.jsonl --rerun-failed 2 --controls
      assay evaluate rows.jsonl --gold --stability runs/rows.validate/stability.json
      assay evaluate lite -p preds.jsonl --patchdiff
      assay evaluate lite -p preds.jsonl --patchdiff=suites --budget 60
    """
    from assay.cli.comparing import choice, settings
    from assay.cli.session import Session

    if sum((predictions is not None, gold, null)) != 1:
        raise UserError("give exactly one of --predictions FILE, --gold and --null")
    instances = _quarantined(load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows), dataset, stability)
    pairs = _pairs(instances, predictions, gold=gold, only=bool(ids))
    session = Session(
        run_id=run_id or _run_id(dataset, [prediction for _, prediction in pairs]),
        runs_dir=runs_dir,
        engine=engine,
        executor=executor,
        jobs=jobs,
        timeout=timeout,
        mirrors=tuple(mirror or ()),
        recipes=tuple(recipes or ()),
        environment=environment,
        fresh=fresh,
        rerun_failed=rerun_failed,
        controls=controls,
        patchdiff=settings(patchdiff, budget=budget, seed=seed, confirmations=confirmations) if patchdiff else None,
        model=choice(model, base_url, cassette),
        oracle=_oracle(predictions),
    )
    report, verdicts = session.run(pairs, [instance.id for instance in instances], runs_empty=null)
    session.show(report, verdicts, as_json=json)
    raise typer.Exit(exit_code(report, fail_under))


def exit_code(report: "RunReport", fail_under: float | None) -> int:
    """Return the exit code that a finished run deserves."""
    if report.infra_failure_instances:
        return exits.INFRASTRUCTURE
    rate = 100 * report.resolved_instances / max(report.submitted_instances, 1)
    if fail_under is not None and rate < fail_under:
        return exits.BELOW_THRESHOLD
    return 0


def load_instances(
    dataset: str, ids: list[str] | None, split: str | None, *, skip_bad_rows: bool
) -> "tuple[Instance, ...]":
    """Load a data set's instances, telling of rows that are skipped; raises UserError if there is none."""
    from assay.cli.console import say
    from assay.cli.workbench import make_sources
    from assay.instances.dataset.load import load

    loaded = load(
        dataset, ids=ids or (), split=split, published_images=True, skip_bad_rows=skip_bad_rows, sources=make_sources()
    )
    for problem in loaded.problems:
        say(f"skipped: {problem}")
    if not loaded.instances:
        raise UserError(f"{dataset} has no instance to evaluate")
    return loaded.instances


def _quarantined(instances: "tuple[Instance, ...]", dataset: str, stability: Path | None) -> "tuple[Instance, ...]":
    """Leave the unstable tests out of the labels, as a file says or else the data set itself."""
    from assay.cli.console import say
    from assay.harness.grading.stability import quarantine, read_stability
    from assay.instances.dataset.formats.native import read_stability as read_own
    from assay.instances.dataset.rows import BUNDLED

    if stability is not None:
        records = list(read_stability(stability).instances)
    else:
        records = read_own(BUNDLED.get(dataset, Path(dataset).expanduser()), [each.id for each in instances])
    names = {each.instance_id: each.quarantined for each in records}
    reduced = tuple(quarantine(each, names.get(each.id, ())) for each in instances)
    found = [each for each in reduced if each.quarantined]
    if found:
        say(f"{sum(len(each.quarantined) for each in found)} tests of {len(found)} instances are quarantined")
    return reduced


def _pairs(
    instances: "Sequence[Instance]", predictions: Path | None, *, gold: bool, only: bool
) -> "list[tuple[Instance, Prediction]]":
    from assay.cli.session import control_pairs

    if predictions is None:
        return control_pairs(instances, "gold" if gold else "null")
    from assay.instances.dataset.predictions import check_predictions, read_predictions

    found = read_predictions(predictions)
    by_id = {each.id.lower(): each for each in instances}
    if only:
        found = tuple(each for each in found if each.instance_id.lower() in by_id)
    check_predictions(found, instances)
    if not found:
        raise UserError(f"{predictions} has no prediction for the chosen instances")
    return [(by_id[each.instance_id.lower()], each) for each in found]


def _oracle(predictions: Path | None) -> str:
    """Return what the solver that made these predictions was told of the answer, if they lie in its run's folder."""
    from assay.harness.files import read_model
    from assay.harness.runs.store import Run

    made_by = read_model(predictions.parent / "run.json", Run) if predictions else None
    return made_by.settings.get("oracle", "") if made_by else ""


def _run_id(dataset: str, predictions: "Sequence[Prediction]") -> str:
    """Return the name of a run after its data set and model."""
    from assay.cli.session import run_name

    models = {prediction.model for prediction in predictions}
    model = models.pop() if len(models) == 1 else "predictions"
    return run_name(dataset, model or "model")
