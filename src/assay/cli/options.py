"""Options of the commands, with their help texts: first those that several share, then those of each."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class EnvironmentChoice(StrEnum):
    """Where an instance's environment comes from."""

    AUTO = "auto"
    RECIPE = "recipe"
    PUBLISHED = "published"


Dataset = Annotated[
    str, typer.Argument(help="Alias (releases, lite, verified, ...), hub id, file or folder.", show_default=False)
]
Ids = Annotated[
    list[str] | None,
    typer.Option("-i", "--instance", metavar="ID", help="Only this instance; may be repeated.", show_default=False),
]
Split = Annotated[str | None, typer.Option(help="Split of a hub data set or folder.", show_default=False)]
Mirrors = Annotated[
    list[Path] | None,
    typer.Option(
        "--mirror",
        metavar="DIR",
        envvar="ASSAY_MIRROR",
        help="Folder with local clones (<owner>/<name>, <owner>__<name>, <owner>+<name>); may be repeated.",
        show_default=False,
    ),
]
RunId = Annotated[str | None, typer.Option("--run-id", help="Name of the run's folder.", show_default=False)]
RunsDir = Annotated[Path, typer.Option("--runs-dir", envvar="ASSAY_RUNS_DIR", help="Folder of all runs.")]
Jobs = Annotated[
    int, typer.Option("-j", "--jobs", min=1, envvar="ASSAY_JOBS", help="Containers at once (default: cores).")
]
EngineName = Annotated[str, typer.Option("--engine", envvar="ASSAY_ENGINE", help="Container engine.")]
ExecutorName = Annotated[str, typer.Option("--executor", envvar="ASSAY_EXECUTOR", help="Where work is dispatched.")]
Recipes = Annotated[
    list[Path] | None,
    typer.Option(
        "--recipes",
        metavar="DIR",
        envvar="ASSAY_RECIPES",
        help="Folder with recipes of your own (<language>/<owner>__<name>.yaml); may be repeated.",
        show_default=False,
    ),
]
SkipBadRows = Annotated[bool, typer.Option("--skip-bad-rows", help="Report wrong rows and go on without them.")]
Environment = Annotated[
    EnvironmentChoice,
    typer.Option(
        "--environment",
        envvar="ASSAY_ENVIRONMENT",
        help="published: the image and eval_script of the row, pulled if need be; recipe: an image of ours; "
        "auto: the row's image if it is here already, else ours.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, everything else on stderr.")]

PatchDiff = Annotated[
    str | None,
    typer.Option(
        "--patchdiff",
        metavar="[=NAMES]",
        help="Compare what is resolved with the gold patch: suites, amplify, replay, llm; the first three "
        "unless named.",
        show_default=False,
    ),
]
Generators = Annotated[str, typer.Option("-g", "--generators", metavar="NAMES", help="suites, amplify, replay, llm.")]
Budget = Annotated[
    float, typer.Option(min=1, metavar="SECONDS", envvar="ASSAY_BUDGET", help="Of comparing one patch with gold.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of the inputs that PatchDiff makes; the same seed makes the same.")]
Confirmations = Annotated[
    int, typer.Option(min=3, metavar="N", help="Times that a difference must show, on both sides.")
]
ModelName = Annotated[
    str | None, typer.Option("--model", envvar="ASSAY_MODEL", help="Model of the llm generator.", show_default=False)
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", envvar="OPENAI_BASE_URL", help="OpenAI-compatible endpoint of that model.", show_default=False
    ),
]
Cassette = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Keep that model's answers, and take them from there if they are.", show_default=False
    ),
]

# evaluate
Predictions = Annotated[
    Path | None,
    typer.Option("-p", "--predictions", metavar="FILE", help="Predictions: .jsonl or .json.", show_default=False),
]
Gold = Annotated[bool, typer.Option("--gold", help="Evaluate the gold patches: all should be resolved.")]
Null = Annotated[bool, typer.Option("--null", help="Evaluate without any patch: none should be resolved.")]
Timeout = Annotated[
    int | None,
    typer.Option(min=1, envvar="ASSAY_TIMEOUT", help="Limit of the test command in seconds.", show_default=False),
]
EvaluateAgain = Annotated[bool, typer.Option("--fresh", help="Evaluate again what has a verdict already.")]
RerunFailed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Repeat what is unresolved up to N times; tests that then pass are reported as flaky, and the "
        "outcome stays.",
    ),
]
Controls = Annotated[
    bool,
    typer.Option(
        "--controls",
        help="Evaluate each instance with its gold patch and without any, too, and give a second rate without "
        "the instances that fail this.",
    ),
]
StabilityRecord = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What `assay dataset validate` recorded, in place of what the data set itself says: quarantined tests "
        "are left out.",
        show_default=False,
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(min=0, max=100, metavar="PERCENT", help="Exit 5 if fewer are resolved.", show_default=False),
]

# diff
PredictionsToCompare = Annotated[
    Path, typer.Option("-p", "--predictions", metavar="FILE", help="Predictions: .jsonl or .json.")
]
PatchesAtOnce = Annotated[
    int, typer.Option("-j", "--jobs", min=1, envvar="ASSAY_JOBS", help="Patches at once; each takes all its sides.")
]
CompareAgain = Annotated[bool, typer.Option("--fresh", help="Evaluate and compare again.")]

# solve
AgentName = Annotated[
    str,
    typer.Option(
        "--agent",
        metavar="NAME",
        help="bash_loop, agentless, ast_search, retrieval, best_of, tree_search, graph_search, gold, null, replay, "
        "the name of an external agent, or module:Class.",
        show_default=False,
    ),
]
AgentSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Setting of the agent; may be repeated.", show_default=False),
]
AgentModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        envvar="ASSAY_MODEL",
        help="Model that the agent asks; 'local' is a small one on this machine.",
        show_default=False,
    ),
]
AgentBaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", envvar="OPENAI_BASE_URL", help="OpenAI-compatible endpoint of the model.", show_default=False
    ),
]
AgentCassette = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where answers are kept and taken from, instead of the run's own llm.jsonl. One that is there needs "
        "no endpoint.",
        show_default=False,
    ),
]
Prices = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Prices of models of your own, as YAML.", show_default=False)
]
Samples = Annotated[
    int, typer.Option("-n", "--samples", min=1, help="How often each instance is solved, independently.")
]
CostLimit = Annotated[
    float | None, typer.Option(min=0, metavar="USD", help="Limit of one sample of one instance.", show_default=False)
]
TokenLimit = Annotated[int | None, typer.Option(min=0, metavar="N", help="The same, in tokens.", show_default=False)]
CallLimit = Annotated[int | None, typer.Option(min=0, metavar="N", help="The same, in questions.", show_default=False)]
StepLimit = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="The same, in the agent's steps.", show_default=False)
]
TimeLimit = Annotated[float | None, typer.Option(min=0, help="The same, in seconds of the whole.", show_default=False)]
CommandSeconds = Annotated[float, typer.Option(min=1, help="Limit of one command of the agent.")]
TotalCostLimit = Annotated[
    float | None,
    typer.Option(min=0, metavar="USD", help="Limit of the whole run, for what is paid.", show_default=False),
]
Temperature = Annotated[
    float | None, typer.Option(min=0, help="Of the model, where the agent does not say otherwise.", show_default=False)
]
MaxTokens = Annotated[int | None, typer.Option(min=1, metavar="N", help="Of an answer.", show_default=False)]
AgentSeed = Annotated[
    int | None,
    typer.Option(min=0, help="Of the agent's draws, and of the model if it takes one.", show_default=False),
]
EvaluateAfterwards = Annotated[
    bool, typer.Option("--evaluate", help="Evaluate the patches afterwards, as the run <run>.evaluated.")
]
SolveAgain = Annotated[bool, typer.Option("--fresh", help="Solve again what is finished.")]

RUNS_DIR = Path("runs")
CORES = os.cpu_count() or 1
