"""``assay solve``: from issues to predictions."""

import typer

from assay.cli import options


def solve(
    dataset: options.Dataset,
    agent: options.AgentName,
    settings: options.AgentSettings = None,
    model: options.AgentModel = None,
    base_url: options.AgentBaseUrl = None,
    samples: options.Samples = 1,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = options.CORES,
    run_id: options.RunId = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    cost: options.CostLimit = None,
    tokens: options.TokenLimit = None,
    calls: options.CallLimit = None,
    steps: options.StepLimit = None,
    seconds: options.TimeLimit = None,
    command_seconds: options.CommandSeconds = 60.0,
    total_cost: options.TotalCostLimit = None,
    temperature: options.Temperature = None,
    max_tokens: options.MaxTokens = None,
    seed: options.AgentSeed = None,
    cassette: options.AgentCassette = None,
    prices: options.Prices = None,
    evaluate: options.EvaluateAfterwards = False,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    executor: options.ExecutorName = "threads",
    environment: options.Environment = options.EnvironmentChoice.AUTO,
    skip_bad_rows: options.SkipBadRows = False,
    fresh: options.SolveAgain = False,
    json: options.Json = False,
) -> None:
    """Let an agent work on instances, in containers without a network, and keep its patches and all it did.

    Running the same command again does only what is missing, and pays for no answer twice. The patches are in
    preds.jsonl of the run's folder, for `assay evaluate -p`.

    \b
    Examples:
      assay solve releases --agent gold --evaluate
      assay solve releases --agent bash_loop --model local -i pallets__flask-2.3.2 --calls 20
      assay solve lite --agent agentless --model MODEL --base-url http://host:8000/v1 -n 4 -j 4 --total-cost 20
      assay solve lite --agent bash_loop --model MODEL --set form=block --cost 0.5 --seconds 1800 --evaluate
      assay solve rows.jsonl --agent replay --set source=preds.jsonl
    """
    from assay.cli import solving
    from assay.cli.evaluate import load_instances

    chosen = solving.Choice(
        agent=agent,
        settings=tuple(settings or ()),
        model=model or "",
        base_url=base_url or "",
        cassette=cassette,
        prices=prices,
        samples=samples,
        budget=solving.budget(cost, tokens, calls, seconds, steps=steps, command_seconds=command_seconds),
        total_cost=total_cost,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
    )
    run = solving.SolveRun(
        choice=chosen,
        run_id=run_id or solving.run_id(dataset, chosen),
        runs_dir=runs_dir,
        jobs=jobs,
        engine=engine,
        executor=executor,
        environment=environment,
        mirrors=tuple(mirror or ()),
        recipes=tuple(recipes or ()),
        fresh=fresh,
    )
    instances = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    raise typer.Exit(run.solve_and_show(instances, evaluates=evaluate, as_json=json))
