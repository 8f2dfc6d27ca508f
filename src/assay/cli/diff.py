"""``assay diff``: PatchDiff of plausible patches against gold."""

from assay.cli import evaluate, options
from assay.cli.exits import PATCHDIFF


def diff(
    dataset: options.Dataset,
    predictions: options.PredictionsToCompare,
    ids: options.Ids = None,
    generators: options.Generators = PATCHDIFF,
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
    skip_bad_rows: options.SkipBadRows = False,
    fresh: options.CompareAgain = False,
    json: options.Json = False,
) -> None:
    """Compare patches that resolve their issue with the gold patch, by behaviour.

    Passing the tests is not being right. Each patch is evaluated first (what has a verdict keeps it); those that are
    resolved are then run beside the gold patch: the whole suite, existing tests with other inputs, recorded calls.
    What differs every time is told, with a test file that shows it. A verdict never changes by it.

    \b
    Examples:
      assay diff releases -p preds.jsonl
      assay diff lite -p preds.jsonl -i sympy__sympy-18057 -g suites --budget 600 --mirror ~/mirrors
      assay diff rows.jsonl -p preds.jsonl -g suites,amplify,replay --seed 7 --json
    """
    evaluate.evaluate(
        dataset,
        predictions,
        ids=ids,
        split=split,
        jobs=jobs,
        run_id=run_id,
        runs_dir=runs_dir,
        mirror=mirror,
        recipes=recipes,
        engine=engine,
        skip_bad_rows=skip_bad_rows,
        fresh=fresh,
        patchdiff=generators,
        budget=budget,
        seed=seed,
        confirmations=confirmations,
        model=model,
        base_url=base_url,
        cassette=cassette,
        json=json,
    )
