"""Options that several commands share, with the names and help texts they have everywhere."""

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
        help="Compare what is resolved with the gold patch: suites, amplify, replay, property, llm; the first three "
        "unless named.",
        show_default=False,
    ),
]
Generators = Annotated[
    str, typer.Option("-g", "--generators", metavar="NAMES", help="suites, amplify, replay, property, llm.")
]
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

RUNS_DIR = Path("runs")
CORES = os.cpu_count() or 1
