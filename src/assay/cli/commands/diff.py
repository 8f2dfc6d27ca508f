"""``assay diff``: resolved patches beside the gold patches."""

import typer

from assay.cli import config, options
from assay.cli.commands import evaluate
from assay.cli.loading import apply_quarantine, load_to_evaluate


def diff(
    dataset: options.Dataset,
    predictions: options.PredictionsToCompare,
    ids: options.Ids = None,
    generators: options.Generators = None,
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
      assay diff lite -p preds.jsonl --executor ray --address auto
    """
    from assay.jobs.evaluate import EvaluationRun

    part, seconds = evaluate.read_shard(shard, durations)
    given = evaluate.read_given(predictions)
    instances = apply_quarantine(load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows), dataset, None)
    pairs = evaluate.pair(instances, given.predictions, ids)
    run = EvaluationRun(
        evaluate.name_of(run_id or evaluate.run_id_of(dataset, pairs), part),
        runs_dir,
        config.workplace(engine, mirror, recipes, jobs=jobs, executor=executor, address=address),
        fresh=fresh,
        patchdiff=evaluate.patchdiff_settings(generators, budget, seed, confirmations),
        model=evaluate.model_choice(model, base_url, cassette),
        shard=part,
        durations=seconds,
    )
    report, verdicts = run.evaluate(pairs, [instance.id for instance in instances])
    evaluate.show(run, report, verdicts, as_json=json)
    raise typer.Exit(evaluate.exit_code(report, None))
