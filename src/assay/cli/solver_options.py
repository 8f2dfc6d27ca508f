"""Options of `assay solve` alone, with their help texts."""

from pathlib import Path
from typing import Annotated

import typer

from assay.agents.roles import list_roles
from assay.cli import completing

AgentName = Annotated[
    str,
    typer.Option(
        "--agent",
        metavar="NAME",
        autocompletion=completing.agents,
        help="bash_loop, agentless, agentless_mini, ast_search, retrieval, best_of, staged, tree_search, graph_search, "
        "gold, null, replay, the name of an external agent, or module:Class.",
    ),
]
AgentSettings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Setting of the agent; may be repeated.")
]
AgentModel = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="[ROLE=]NAME",
        help="Model that the agent asks; 'local' is a small one on this machine. With a role before it, the model of "
        f"that part alone; may be repeated. Roles are: {list_roles()}.",
    ),
]
AgentBaseUrl = Annotated[str | None, typer.Option("--base-url", help="OpenAI-compatible endpoint of the model.")]
AgentCassette = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File that records and replays the model's answers, in place of the run's llm.jsonl. Replaying an "
        "existing file needs no endpoint.",
    ),
]
Samples = Annotated[int, typer.Option("-n", "--samples", min=1, help="Independent solutions of each instance.")]
CostLimit = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="USD",
        help="Cost limit of one sample of one instance, in dollars; the model needs a price (--prices).",
    ),
]
TokenLimit = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Token limit of one sample: prompts and answers.")
]
CallLimit = Annotated[int | None, typer.Option(min=0, metavar="N", help="Limit of model calls of one sample.")]
StepLimit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Limit of the agent's steps in one sample.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, help="Time limit of one sample, in seconds; a pending answer of the model is given up."),
]
CommandSeconds = Annotated[float, typer.Option(min=1, help="Time limit of one command of the agent, in seconds.")]
TotalCostLimit = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="USD",
        help="Cost limit of the whole run, all shards together, in dollars paid; the model needs a price (--prices).",
    ),
]
TotalTokenLimit = Annotated[int | None, typer.Option(min=0, metavar="N", help="Token limit of the whole run.")]
TotalCallLimit = Annotated[int | None, typer.Option(min=0, metavar="N", help="Limit of paid calls of the whole run.")]
Temperature = Annotated[
    float | None, typer.Option(min=0, help="Sampling temperature of the model, unless the agent sets its own.")
]
AgentSeed = Annotated[
    int | None, typer.Option(min=0, help="Seed of the agent's random choices, and of the model if it takes one.")
]
EvaluateAfterwards = Annotated[
    bool, typer.Option("--evaluate", help="Evaluate each patch once it is there, as the run <run>.evaluated.")
]
EvaluateCandidates = Annotated[
    bool,
    typer.Option(
        "--evaluate-candidates",
        help="Evaluate every patch that the agent chose from, as the runs <run>.candidates-<n>: coverage beside score.",
    ),
]
SolveAgain = Annotated[bool, typer.Option("--fresh", help="Solve again even where a solution is saved.")]
