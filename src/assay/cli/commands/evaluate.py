"""``assay evaluate``: the main job."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.choices import EnvironmentChoice, ModelChoice
from assay.cli import config, exits, options
from assay.cli.loading import apply_labels, apply_quarantine, apply_rule, load_to_evaluate
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance, Prediction, Verdict
    from assay.harness.patchdiff.contract import Settings
    from assay.harness.runs.report import RunReport
    from assay.harness.runs.shards import Shard
    from assay.instances.dataset.imports import Imported
    from assay.jobs.evaluate import EvaluationRun
    from assay.jobs.workplace import Pair


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
    environment: options.Environment = EnvironmentChoice.AUTO,
    registry: options.Registry = "",
    push: options.Push = False,
    disk: options.Disk = "",
    executor: options.Executor = "local",
    address: options.Address = "auto",
    strict: options.Strict = False,
    fail_fast: options.FailFast = False,
    setup: options.Setup = False,
    skip_bad_rows: options.SkipBadRows = False,
    fresh: options.EvaluateAgain = False,
    rerun_failed: options.RerunFailed = 0,
    controls: options.Controls = False,
    stability: options.StabilityRecord = None,
    labels: options.LabelsFile = None,
    rule: options.RuleName = None,
    patchdiff: options.PatchDiff = False,
    generators: options.Generators = None,
    budget: options.Budget = 300,
    seed: options.Seed = 0,
    confirmations: options.Confirmations = 20,
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    cassette: options.Cassette = None,
    shard: options.Shard = None,
    durations: options.Durations = None,
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
      assay evaluate lite -p jobs/2026-11-20__10-00-00
      assay evaluate lite -p preds.jsonl --environment published --strict
      assay evaluate lite -p preds.jsonl --rerun-failed 2 --controls
      assay evaluate rows.jsonl --gold --run-id stable --stability runs/rows.validate/stability.json
      assay evaluate rows.jsonl -p predictions.jsonl --labels corrected.jsonl
      assay evaluate rows.jsonl -p tests.jsonl --rule swt-bench
      assay evaluate lite -p preds.jsonl --patchdiff
      assay evaluate lite -p preds.jsonl --patchdiff -g suites --budget 60
      assay evaluate lite -p preds.jsonl --run-id mine --shard 1/4
      assay evaluate lite -p preds.jsonl --executor ray --address auto
    """
    from assay.harness.runs.manifest import LABELS, RULE, RunKind
    from assay.jobs.evaluate import EvaluationRun, control_pairs

    if sum((predictions is not None, gold, null)) != 1:
        raise UserError("give exactly one of --predictions FILE, --gold and --null")
    if generators and not patchdiff:
        raise UserError("--generators names generators of PatchDiff; add --patchdiff")
    if rule and (fail_fast or patchdiff):
        raise UserError(f"--rule {rule} judges tests, not fixes; leave out --fail-fast and --patchdiff")
    part, seconds = read_shard(shard, durations)
    given = read_given(predictions) if predictions else None
    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    instances = apply_rule(rule, apply_quarantine(apply_labels(found, labels), dataset, stability))
    pairs = pair(instances, given.predictions, ids) if given else control_pairs(instances, "gold" if gold else "null")
    run = EvaluationRun(
        name_of(run_id or run_id_of(dataset, pairs, labels, rule), part),
        runs_dir,
        config.workplace(
            engine,
            mirror,
            recipes,
            environment,
            jobs=jobs,
            timeout=timeout,
            strict=strict,
            fail_fast=fail_fast,
            setup=setup,
            registry=registry,
            push=push,
            disk=disk,
            executor=executor,
            address=address,
        ),
        fresh=fresh,
        rerun_failed=rerun_failed,
        controls=controls,
        patchdiff=patchdiff_settings(generators, budget, seed, confirmations) if patchdiff else None,
        model=model_choice(model, base_url, cassette),
        kind=RunKind.EVALUATE if predictions else RunKind.CONTROL,
        given={"--stability": hash_of(stability), LABELS: hash_of(labels), RULE: rule or ""},
        shard=part,
        durations=seconds,
    )
    report, verdicts = run.evaluate(pairs, [instance.id for instance in instances], runs_empty=null)
    show(run, report, verdicts, as_json=json)
    raise typer.Exit(exit_code(report, fail_under))


def patchdiff_settings(generators: str | None, budget: float, seed: int, confirmations: int) -> "Settings":
    """Return PatchDiff's settings; raises UserError (PluginError) for an unknown generator."""
    from assay.harness.patchdiff.contract import Settings
    from assay.harness.patchdiff.generators import USUAL, find_generators

    wanted = generators.split(",") if generators else USUAL
    names = tuple(find_generators(name.strip() for name in wanted if name.strip()))
    return Settings(names, seed=seed, budget=budget, confirmations=confirmations)


def model_choice(name: str | None, base_url: str | None, cassette: Path | None) -> ModelChoice | None:
    return ModelChoice(name, base_url or "", cassette) if name else None


def read_given(predictions: Path) -> "Imported":
    """Read the predictions of a file or folder, or of standard input (-); name what has none. Raises UserError."""
    from assay.cli.console import say
    from assay.instances.dataset.imports import import_predictions

    imported = import_predictions(predictions)
    for note in imported.notes:
        say(f"no prediction for {note}")
    return imported


def pair(
    instances: "Sequence[Instance]", predictions: "Sequence[Prediction]", ids: Sequence[str] | None
) -> "Sequence[Pair]":
    """Pair predictions with their instances.

    Args:
        instances: of the data set.
        predictions: for these instances; for others too if single ones are asked for.
        ids: the single instances that are asked for.

    Raises:
        UserError: there is a prediction for no instance, or none for the chosen ones.
    """
    from assay.harness.sequences import mapped
    from assay.instances.dataset.predictions import check_predictions

    places = {each.id.lower(): place for place, each in enumerate(instances)}
    found = [each for each in predictions if not ids or each.instance_id.lower() in places]
    check_predictions(found, places)
    if not found:
        raise UserError(f"there is no prediction for {', '.join(ids or ()) or 'any instance'}")
    return mapped(found, lambda each: (instances[places[each.instance_id.lower()]], each))


def run_id_of(dataset: str, pairs: "Sequence[Pair]", labels: Path | None = None, rule: str | None = None) -> str:
    """Return the name of a run after its data set, its model, the file of other labels and another rule."""
    from assay.jobs.evaluate import run_name

    models = {prediction.model for _, prediction in pairs}
    model = models.pop() if len(models) == 1 else "predictions"
    return run_name(dataset, model or "model", *([labels.stem] if labels else []), *([rule] if rule else []))


def read_shard(shard: str | None, durations: Path | None) -> "tuple[Shard | None, dict[str, float]]":
    """Return the part of the run that the options name, and how long instances took; raises UserError (DataError)."""
    from assay.harness.runs.shards import Shard, read_durations

    if durations and not shard:
        raise UserError("--durations balances shards; add --shard I/N")
    return (Shard.parse(shard) if shard else None, read_durations(durations) if durations else {})


def name_of(run_id: str, shard: "Shard | None") -> str:
    return shard.folder(run_id) if shard else run_id


def share_of(
    instances: "Sequence[Instance]", shard: "Shard | None", seconds: "Mapping[str, float]"
) -> "Sequence[Instance]":
    """Return the instances that are in a part of a run, which may be none."""
    from assay.harness.runs.shards import expected_seconds

    if shard is None:
        return instances
    _, mine = shard.taken_from(expected_seconds((each.id for each in instances), (), seconds))
    return [each for each in instances if each.id in mine]


def hash_of(file: Path | None) -> str:
    """Return the beginning of a file's hash, "" without a file; raises OSError."""
    from hashlib import sha256

    return sha256(file.read_bytes()).hexdigest()[:12] if file else ""


def show(run: "EvaluationRun", report: "RunReport", verdicts: "Sequence[Verdict]", *, as_json: bool) -> None:
    """Print the table of verdicts and the sum, or the report as JSON."""
    from assay.cli import console
    from assay.cli.commands.diff_view import print_comparisons

    if as_json:
        console.print_json(report)
        return
    saved = (run.store.load_verdict(verdict.instance_id) for verdict in verdicts)
    console.print_verdicts(verdicts, {each.verdict.instance_id: each.seconds for each in saved if each is not None})
    console.print_doubts(verdicts, report.unfit_reasons or {})
    if report.patchdiff is not None:
        print_comparisons(run.store, report.patchdiff)
    print(console.sum_line(report), f"· {run.store.root}")
    whole = run.store.report()
    if whole.total_instances > report.total_instances:
        print(f"with what {run.store.root} held before: {console.sum_line(whole)}")


def exit_code(report: "RunReport", fail_under: float | None) -> int:
    if report.infra_failure_instances:
        return exits.INFRASTRUCTURE
    if not report.submitted_instances:
        return 0  # an empty shard
    rate = 100 * report.resolved_instances / report.submitted_instances
    if fail_under is not None and rate < fail_under:
        return exits.BELOW_THRESHOLD
    return 0
