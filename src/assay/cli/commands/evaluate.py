"""``assay evaluate``: the main job."""

from assay.choices import CounterChoice, EnvironmentChoice
from assay.cli import config, options
from assay.cli.loading import apply_labels, apply_quarantine, apply_rule, load_predictions, load_to_evaluate


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
    build_limits: options.BuildLimits = "",
    environment: options.Environment = EnvironmentChoice.AUTO,
    registry: options.Registry = "",
    push: options.Push = False,
    disk: options.Disk = "",
    executor: options.Executor = "local",
    address: options.Address = "auto",
    gpus: options.Gpus = None,
    gpu_kind: options.GpuKind = options.NVIDIA,
    cdi: options.Cdi = None,
    strict: options.Strict = False,
    fail_fast: options.FailFast = False,
    counter: options.Counter = CounterChoice.BESIDE,
    setup: options.Setup = False,
    skip_bad_rows: options.SkipBadRows = False,
    skip_others: options.SkipOthers = False,
    fresh: options.EvaluateAgain = False,
    rerun_failed: options.RerunFailed = 0,
    controls: options.Controls = False,
    stability: options.StabilityRecord = None,
    labels: options.LabelsFile = None,
    rule: options.RuleName = None,
    patchdiff: options.PatchDiff = False,
    generators: options.Generators = None,
    operators: options.Operators = None,
    budget: options.Budget = 300,
    seed: options.Seed = 0,
    confirmations: options.Confirmations = 20,
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    cassette: options.Cassette = None,
    cause: options.FindCauses = False,
    evaluations: options.CauseEvaluations = 60,
    hunks: options.WholeHunks = False,
    shard: options.Shard = None,
    durations: options.Durations = None,
    fail_under: options.FailUnder = None,
    commit: options.Commit = None,
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
      assay evaluate rows.jsonl -p predictions.jsonl --skip-others --run-id some
      assay evaluate lite -p preds.jsonl --environment published --strict
      assay evaluate lite -p preds.jsonl --counter pair
      assay evaluate lite -p preds.jsonl --rerun-failed 2 --controls
      assay evaluate rows.jsonl --gold --run-id stable --stability runs/rows.validate/stability.json
      assay evaluate rows.jsonl -p predictions.jsonl --labels corrected.jsonl
      assay evaluate rows.jsonl -p tests.jsonl --rule swt-bench
      assay evaluate lite -p preds.jsonl --patchdiff
      assay evaluate lite -p preds.jsonl --patchdiff -g suites --budget 60
      assay evaluate lite -p preds.jsonl --cause --hunks
      assay evaluate lite -p preds.jsonl --run-id mine --shard 1/4
      assay evaluate lite -p preds.jsonl --executor ray --address auto
    """
    asked = dict(locals())
    from assay.cli.commands.evaluate_view import end, refuse_clashes, show_finished
    from assay.harness.causes.search import CauseSettings
    from assay.harness.runs.manifest import LABELS, RULE, RunKind
    from assay.harness.runs.shards import read_shard
    from assay.instances.dataset.predictions import pair_predictions
    from assay.jobs.evaluate import EvaluationRun, control_pairs, hash_input, make_run_id
    from assay.jobs.repeated import EvaluationCommand

    refuse_clashes(asked)
    part, seconds = read_shard(shard, durations)
    given = load_predictions(predictions) if predictions else None
    place = config.workplace(
        engine,
        mirror,
        recipes,
        environment,
        jobs=jobs,
        timeout=timeout,
        strict=strict,
        fail_fast=fail_fast,
        counter=counter,
        setup=setup,
        registry=registry,
        push=push,
        disk=disk,
        executor=executor,
        address=address,
        build_limits=build_limits,
        gpus=gpus,
        gpu_kind=gpu_kind,
        cdi=tuple(cdi or ()),
    )
    command = EvaluationCommand(place, runs_dir, asked, given.predictions if given else ())
    show_finished(command, fail_under, as_json=json)
    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows, mirrors=mirror)
    instances = apply_rule(rule, apply_quarantine(apply_labels(found, labels), dataset, stability))
    pairs = (
        pair_predictions(instances, given.predictions, ids, skip_others=skip_others)
        if given
        else control_pairs(instances, "gold" if gold else "null")
    )
    name = run_id or make_run_id(dataset, pairs, labels, rule, counter.replace(CounterChoice.BESIDE, ""))
    run = EvaluationRun(
        part.folder(name) if part else name,
        runs_dir,
        place,
        fresh=fresh,
        rerun_failed=rerun_failed,
        controls=controls,
        patchdiff=config.make_patchdiff_settings(generators, operators, budget, seed, confirmations)
        if patchdiff
        else None,
        model=config.choose_model(model, base_url, cassette),
        cause=CauseSettings(evaluations, lines=not hunks) if cause else None,
        kind=RunKind.EVALUATE if predictions else RunKind.CONTROL,
        given={"--stability": hash_input(stability), LABELS: hash_input(labels), RULE: rule or ""},
        shard=part,
        durations=seconds,
    )
    if commit:
        from assay.cli.commands.report.bundle_view import print_commitment
        from assay.jobs.commit import commit_evaluation

        print_commitment(commit, commit_evaluation(commit, run, instances, pairs), as_json=json)
        return
    report, verdicts = run.evaluate(pairs, [instance.id for instance in instances], runs_empty=null)
    command.note_finished(run.store, report)
    end(run.store, report, verdicts, fail_under, as_json=json)
