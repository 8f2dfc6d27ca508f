"""``assay solve``: from issues to predictions."""

from pathlib import Path
from typing import Annotated

import typer

from assay.harness.cli import options

DOLLARS, HOW_MANY = "USD", "N"


def solve(
    dataset: options.Dataset,
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="bash_loop, agentless, ast_search, retrieval, best_of, tree_search, graph_search, gold, null, replay, "
            "the name of an external agent, or module:Class.",
            show_default=False,
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Setting of the agent; may be repeated.", show_default=False),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            envvar="ASSAY_MODEL",
            help="Model that the agent asks; 'local' is a small one on this machine.",
            show_default=False,
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url", envvar="OPENAI_BASE_URL", help="OpenAI-compatible endpoint of the model.", show_default=False
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("-n", "--samples", min=1, help="How often each instance is solved, independently.")
    ] = 1,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = options.CORES,
    run_id: Annotated[
        str | None, typer.Option("--run-id", help="Name of the run's folder.", show_default=False)
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    cost: Annotated[
        float | None,
        typer.Option(min=0, metavar=DOLLARS, help="Limit of one sample of one instance.", show_default=False),
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=0, metavar=HOW_MANY, help="The same, in tokens.", show_default=False)
    ] = None,
    calls: Annotated[
        int | None, typer.Option(min=0, metavar=HOW_MANY, help="The same, in questions.", show_default=False)
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, metavar=HOW_MANY, help="The same, in the agent's steps.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="The same, in seconds of the whole.", show_default=False)
    ] = None,
    command_seconds: Annotated[float, typer.Option(min=1, help="Limit of one command of the agent.")] = 60.0,
    total_cost: Annotated[
        float | None,
        typer.Option(min=0, metavar=DOLLARS, help="Limit of the whole run, for what is paid.", show_default=False),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0, help="Of the model, where the agent does not say otherwise.", show_default=False),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, metavar=HOW_MANY, help="Of an answer.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Of the agent's draws, and of the model if it takes one.", show_default=False),
    ] = None,
    cassette: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where answers are kept and taken from, instead of the run's own llm.jsonl. One that is there needs "
            "no endpoint.",
            show_default=False,
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Prices of models of your own, as YAML.", show_default=False),
    ] = None,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Evaluate the patches afterwards, as the run <run>.evaluated.")
    ] = False,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    executor: options.ExecutorName = "threads",
    environment: options.Environment = options.EnvironmentChoice.AUTO,
    skip_bad_rows: options.SkipBadRows = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Solve again what is finished.")] = False,
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
    from assay.harness.cli import solving
    from assay.harness.cli.evaluate import load_instances

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
