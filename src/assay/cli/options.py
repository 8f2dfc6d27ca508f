"""Options of the commands with their help texts: first the shared options, then the options of single commands."""

import os
from pathlib import Path
from typing import Annotated

import typer

from assay.choices import CounterChoice, EnvironmentChoice, RuleChoice
from assay.cli import completing


def _existing_mirrors(folders: list[Path] | None) -> list[Path] | None:
    from assay.harness.files import check_folder

    for folder in folders or ():
        check_folder(folder, "--mirror")
    return folders


def _existing_recipes(folders: list[Path] | None) -> list[Path] | None:
    if folders:
        from assay.instances.environments.recipes import check_recipes

        for folder in folders:
            check_recipes(folder)
    return folders


def _budget(text: object) -> float:
    from assay.choices import read_budget

    return read_budget(str(text))


PANELS = {
    "What": "predictions gold null agent settings evaluate ids split skip_bad_rows skip_others labels stability rule",
    "Run": "run_id runs_dir jobs samples seed fresh rerun_failed controls fail_under json",
    "Where": "engine environment mirror recipes setup registry push disk executor address shard durations "
    "gpus gpu_kind cdi",
    "How strict": "strict counter fail_fast",
    "Limits": "timeout build_limits cost tokens calls steps seconds command_seconds "
    "total_cost total_tokens total_calls",
    "PatchDiff and causes": "patchdiff generators operators budget confirmations cause evaluations hunks",
    "Model": "model base_url serve serve_wait temperature max_tokens cassette prices",
}
"""Titles in the help of a command with many options, and the parameters under each."""
_DATASET = typer.Argument(
    metavar="DATASET",
    help="Alias (releases, lite, verified, ...), hub id, file or folder.",
    autocompletion=completing.datasets,
)
Dataset = Annotated[str, _DATASET]
OptionalDataset = Annotated[str | None, _DATASET]
Ids = Annotated[
    list[str] | None, typer.Option("-i", "--instance", metavar="ID", help="Only this instance; may be repeated.")
]
Split = Annotated[str | None, typer.Option(help="Split of a hub data set or folder.")]
Mirrors = Annotated[
    list[Path] | None,
    typer.Option(
        "--mirror",
        metavar="DIR",
        help="Folder with local clones (<owner>/<name>, <owner>__<name>, <owner>+<name>); may be repeated.",
        callback=_existing_mirrors,
    ),
]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="Name of a run, or its folder.", autocompletion=completing.runs)
]
RunNames = Annotated[
    list[str], typer.Argument(metavar="RUN", help="Names of runs, or their folders.", autocompletion=completing.runs)
]
TextOutput = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="File to write.", show_default="standard output")
]
AnnotationFile = Annotated[
    Path | None,
    typer.Option("--people", metavar="FILE", help="Answers of people: `view --annotate`, merged by `report agree`."),
]
RunId = Annotated[str | None, typer.Option("--run-id", help="Name of the run's folder.")]
RunsDir = Annotated[Path, typer.Option("--runs-dir", help="Folder of all runs.")]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Containers at once (default: cores).")]
EngineName = Annotated[str, typer.Option("--engine", help="Container engine.", autocompletion=completing.engines)]
Recipes = Annotated[
    list[Path] | None,
    typer.Option(
        "--recipes",
        metavar="DIR",
        help="Folder with your own recipes (<language>/<owner>__<name>.yaml); may be repeated.",
        callback=_existing_recipes,
    ),
]
Setup = Annotated[
    bool,
    typer.Option(
        "--setup",
        help="Search for the recipe of a repository that none names, ten minutes each at most; what is found is kept.",
    ),
]
SkipBadRows = Annotated[bool, typer.Option("--skip-bad-rows", help="Report wrong rows and continue without them.")]
SkipOthers = Annotated[
    bool, typer.Option("--skip-others", help="Leave out predictions of instances that the data set lacks.")
]
Environment = Annotated[
    EnvironmentChoice,
    typer.Option(
        "--environment",
        help="published: the image and eval_script of the row, pulled if need be; recipe: an image that Assay builds; "
        "auto: the row's image if the engine has it, else recipe.",
    ),
]
Registry = Annotated[
    str,
    typer.Option(
        "--registry", metavar="HOST:PORT/PREFIX", help="Registry that is asked for an image before it is built."
    ),
]
Push = Annotated[bool, typer.Option("--push", help="Send images that are built to the registry.")]
Executor = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="local, or ray: the nodes of a Ray cluster do the work, each as many at once as it offers engine_slots.",
    ),
]
Address = Annotated[
    str, typer.Option(metavar="HOST:PORT", help="Ray cluster; auto is the one that this machine belongs to.")
]
Disk = Annotated[
    str,
    typer.Option(
        "--disk",
        metavar="SIZE",
        help="Disk that images may take, such as 40GB; the least recently used ones are removed.",
    ),
]
BuildLimits = Annotated[
    str,
    typer.Option(
        "--build-limits",
        metavar="LIMITS",
        help="Limits of each step of an image build, in place of seconds=3600,processes=4096,memory=8GB,disk=20GB.",
    ),
]
Gpus = Annotated[
    int | None,
    typer.Option(
        "--gpus",
        metavar="N",
        min=0,
        help="Cards that containers may be given, each to one at a time; on Ray, those of each slot.",
        show_default="all that CUDA_VISIBLE_DEVICES shows; on Ray, none",
    ),
]
GpuKind = Annotated[
    str, typer.Option("--gpu-kind", metavar="VENDOR/CLASS", help="Kind of those cards in specs of CDI.")
]
NVIDIA = "nvidia.com/gpu"
Cdi = Annotated[
    list[Path] | None,
    typer.Option(
        "--cdi", metavar="DIR", help="Folder with specs of CDI, beside /etc/cdi and /var/run/cdi; may be repeated."
    ),
]
RegistryToUse = Annotated[
    str, typer.Option("--registry", metavar="HOST:PORT/PREFIX", help="Registry, and the beginning of its names.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, everything else on stderr.")]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Only shard I of N, as the run RUN.shard-I-of-N; `assay report merge` puts the shards together.",
    ),
]
Durations = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Seconds by instance id, to make shards equally long: a copy of RUNS/.index/durations.json, the same for "
        "every shard.",
    ),
]

PatchDiff = Annotated[bool, typer.Option("--patchdiff", help="Compare resolved patches with the gold patch.")]
Generators = Annotated[
    str | None,
    typer.Option(
        "-g",
        "--generators",
        metavar="NAMES",
        help="Generators of PatchDiff by commas: suites, compose, amplify, replay, llm. All but llm by default.",
    ),
]
Operators = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Operators of the generator compose, separated by commas, such as gold_branch,dunder. All by default.",
    ),
]
Budget = Annotated[
    float,
    typer.Option(
        parser=_budget,
        metavar="quick|default|thorough|SECONDS",
        help="Time for comparing one patch with gold: 60, 300 or 1800 seconds, or a number of seconds.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of PatchDiff's inputs; equal seeds make equal inputs.")]
Confirmations = Annotated[
    int, typer.Option(min=3, metavar="N", help="Times that a difference must show on both sides.")
]
ModelName = Annotated[str | None, typer.Option("--model", help="Model of the llm generator.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="OpenAI-compatible endpoint of that model.")]
Serve = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        help="Start a model server, and end it with the run; {port} is filled in, the log is server.log of the run.",
    ),
]
ServeWait = Annotated[
    float, typer.Option(min=1, metavar="SECONDS", help="Time in which the started server has to answer.")
]
Cassette = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File that records that model's answers and replays them. Replaying an existing file needs no endpoint.",
    ),
]

CauseEvaluations = Annotated[
    int,
    typer.Option(
        "--evaluations", min=1, metavar="N", help="Evaluations for one patch's cause at most; the next call resumes."
    ),
]
WholeHunks = Annotated[bool, typer.Option("--hunks", help="Look for whole hunks, not for single lines of them.")]
TraceAgain = Annotated[bool, typer.Option("--fresh", help="Search again even where a cause is saved.")]

# evaluate
FindCauses = Annotated[
    bool, typer.Option("--cause", help="Find the smallest part of each resolved patch that still resolves.")
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        "-p",
        "--predictions",
        metavar="SOURCE",
        help="Predictions: .jsonl, .json, - for standard input, an Inspect log (.eval), or the folder of a run, a "
        "Harbor job or a SWE-bench experiments entry.",
    ),
]
Gold = Annotated[bool, typer.Option("--gold", help="Evaluate the gold patches: all should be resolved.")]
Null = Annotated[bool, typer.Option("--null", help="Evaluate without any patch: none should be resolved.")]
Timeout = Annotated[int | None, typer.Option(min=1, help="Limit of the test command in seconds.")]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Count results of a log alone, or of tests that ran as root, as none; take no patch that git refuses.",
    ),
]
FailFast = Annotated[
    bool,
    typer.Option(
        "--fail-fast", help="Run fail-to-pass tests first, and no others where one fails; not for leaderboards."
    ),
]
Counter = Annotated[
    CounterChoice,
    typer.Option(
        "--counter",
        help="What would be resolved must fail the same tests with another expected value: `beside` runs those that "
        "are known after the tests, `pair` makes them and runs them in a container of their own, `sealed` also runs "
        "tests without their answers, in one more.",
    ),
]
EvaluateAgain = Annotated[bool, typer.Option("--fresh", help="Evaluate again even where a verdict is saved.")]
RerunFailed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Repeat unresolved evaluations up to N times; tests that then pass are reported as flaky. "
        "The outcome stays.",
    ),
]
Controls = Annotated[
    bool,
    typer.Option(
        "--controls",
        help="Also evaluate each instance with its gold patch and with none; report a second rate without the "
        "instances that fail this.",
    ),
]
StabilityRecord = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="stability.json of `assay dataset validate`; its quarantined tests are left out of the labels.",
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Rows with instance_id, FAIL_TO_PASS, PASS_TO_PASS and perhaps test_patch, in place of the data set's "
        "own. No leaderboard takes such a run.",
    ),
]
RuleName = Annotated[
    RuleChoice | None,
    typer.Option(
        "--rule",
        help="Judge by this rule in place of the rows' own. swt-bench: predictions are patches of tests, which have to "
        "fail on the base tree and to pass with the gold patch. No leaderboard takes such a run.",
    ),
]
FailUnder = Annotated[
    float | None, typer.Option(min=0, max=100, metavar="PERCENT", help="Exit 5 if fewer are resolved.")
]

# diff
PredictionsToCompare = Annotated[
    Path, typer.Option("-p", "--predictions", metavar="SOURCE", help="Predictions, as `assay evaluate` takes them.")
]
PatchesAtOnce = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Patches compared at once.")]
CompareAgain = Annotated[bool, typer.Option("--fresh", help="Evaluate and compare again.")]

Prices = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="YAML file with prices of further models, in US dollars per million tokens: "
        "'models: {my-model: {input: 0.5, output: 1.5}}'.",
    ),
]
MaxTokens = Annotated[int | None, typer.Option(min=1, metavar="N", help="Longest answer of the model, in tokens.")]

Commit = Annotated[Path | None, typer.Option("--commit", hidden=True, help="Set by `assay report commit`.")]

RUNS_DIR = Path("runs")
CORES = os.cpu_count() or 1
