"""``assay diff``: resolved patches beside the gold patches."""

import typer

from assay.cli import config, options
from assay.cli.loading import apply_quarantine, load_predictions, load_to_evaluate


def diff(
    dataset: options.Dataset,
    predictions: options.PredictionsToCompare,
    ids: options.Ids = None,
    generators: options.Generators = None,
    operators: options.Operators = None,
    budget: options.Budget = 300,
    seed: options.Seed = 0,
    confirmations: options.Confirmations = 20,
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    cassette: options.Cassette = None,
    split: options.Split = None,
    jobs: options.PatchesAtOnce = 1,
    run_id: options.RunId = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    build_limits: options.BuildLimits = "",
    executor: options.Executor = "local",
    address: options.Address = "auto",
    skip_bad_rows: options.SkipBadRows = False,
    fresh: options.CompareAgain = False,
    shard: options.Shard = None,
    durations: options.Durations = None,
    json: options.Json = False,
) -> None:
    """Compare patches that resolve their issue with the gold patch, by behaviour.

    A patch that passes the tests may still be wrong. Each patch is evaluated first, unless it has a verdict. Resolved
    ones are then run beside the gold patch: the whole suite, existing tests with other inputs, recorded calls.
    Differences that show every time are reported, with a test file that reproduces each. The verdict does not change.
    `assay view RUN` shows every difference with its test.

    \b
    Examples:
      assay diff releases -p preds.jsonl
      assay diff lite -p preds.jsonl -i sympy__sympy-18057 -g suites --budget 600 --mirror ~/mirrors
      assay diff rows.jsonl -p preds.jsonl -g amplify,replay --seed 7 --json
      assay diff lite -p preds.jsonl -g compose --operators gold_branch,dunder
      assay diff lite -p preds.jsonl --executor ray --address auto
    """
    from assay.cli.commands.evaluate_view import exit_code, show
    from assay.harness.runs.shards import read_shard
    from assay.instances.dataset.predictions import pair_predictions
    from assay.jobs.evaluate import EvaluationRun, make_run_id

    part, seconds = read_shard(shard, durations)
    given = load_predictions(predictions)
    instances = apply_quarantine(
        load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows, mirrors=mirror), dataset, None
    )
    pairs = pair_predictions(instances, given.predictions, ids)
    name = run_id or make_run_id(dataset, pairs)
    run = EvaluationRun(
        part.folder(name) if part else name,
        runs_dir,
        config.workplace(
            engine, mirror, recipes, jobs=jobs, executor=executor, address=address, build_limits=build_limits
        ),
        fresh=fresh,
        patchdiff=config.make_patchdiff_settings(generators, operators, budget, seed, confirmations),
        model=config.choose_model(model, base_url, cassette),
        shard=part,
        durations=seconds,
    )
    report, verdicts = run.evaluate(pairs, [instance.id for instance in instances])
    show(run.store, report, verdicts, as_json=json)
    raise typer.Exit(exit_code(report, None))
