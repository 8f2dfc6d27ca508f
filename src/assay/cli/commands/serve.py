"""``assay serve``: verdicts and rewards over HTTP."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.choices import EnvironmentChoice, HoldChoice
from assay.cli import config, exits, options
from assay.cli.loading import apply_quarantine, load_to_evaluate
from assay.harness.errors import PluginError, UserError

if TYPE_CHECKING:
    from assay.api.evaluator import Evaluator

TOKEN = "ASSAY_TOKEN"
"""Variable that holds the bearer token; the command line would show it to every user of the machine."""


def serve(
    dataset: options.Dataset,
    host: Annotated[str, typer.Option(help="Address; another one than loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the bearer token that clients send; ASSAY_TOKEN in its place."),
    ] = None,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = options.CORES,
    queue: Annotated[int, typer.Option(min=0, help="Evaluations that may wait; more are refused with 429.")] = 1000,
    max_body: Annotated[int, typer.Option(min=1, metavar="MB", help="Largest body of a request.")] = 10,
    drain: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Time that running evaluations have after SIGTERM.")
    ] = 600,
    reward: Annotated[
        str,
        typer.Option(
            metavar="NAME[:WEIGHT],...", help="Reward function, or a mixture of several, of clients that name none."
        ),
    ] = "resolved",
    spares: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Containers that are started ahead while jobs are free, like those used last; as many as jobs by "
            "default, none with --disk.",
        ),
    ] = None,
    prepare: Annotated[bool, typer.Option("--prepare", help="Build or find every image before serving.")] = False,
    accept_instances: Annotated[
        bool,
        typer.Option(
            "--accept-instances",
            help="Evaluate rows that clients send, too. A row may name programs to run while its image is built, with "
            "network: only for clients you trust.",
        ),
    ] = False,
    probe: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="Share of the time for probes: gold and null of what was evaluated last, whose wrong answers withdraw "
            "what was answered since the last right ones; 0 for none.",
        ),
    ] = 0.02,
    hold: Annotated[
        HoldChoice,
        typer.Option(
            help="Give an answer only after a later probe was right: of any instance, or of its own. Without work "
            "left, the probe comes at once.",
        ),
    ] = HoldChoice.NONE,
    check_stops: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="With --fail-fast: share of early stops after which all tests run, too. A wrong one ends early stops "
            "of its instance.",
        ),
    ] = 0.02,
    wrong_stops: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="End all early stops once one was wrong and more than this share of them may be, by the exact 95 % "
            "interval.",
        ),
    ] = 0.01,
    causes: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Evaluations that look for the cause of a sample that passed in a step, by which kinds of passed "
            "samples are counted; 0 for none.",
        ),
    ] = 0,
    report_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Send the figures of /metrics to otel, wandb or mlflow, too, every 30 s; may be given again.",
        ),
    ] = None,
    run_id: options.RunId = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    timeout: options.Timeout = None,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    build_limits: options.BuildLimits = "",
    environment: options.Environment = EnvironmentChoice.AUTO,
    registry: options.Registry = "",
    disk: options.Disk = "",
    strict: options.Strict = False,
    fail_fast: options.FailFast = False,
    setup: options.Setup = False,
    skip_bad_rows: options.SkipBadRows = False,
    stability: options.StabilityRecord = None,
) -> None:
    """Answer trainers over HTTP: verdicts and rewards, each patch evaluated once however many ask for it.

    A failure of the environment or of the engine is never a reward of 0: it is null, or the status 503.

    Verdicts are kept in runs below <runs-dir>/<run-id>, which `assay view --runs-dir` shows, and survive any crash.
    /docs lists the routes. SIGTERM or Ctrl-C lets running evaluations finish: exit status 0, or 130 if --drain ended
    them.

    \b
    Examples:
      assay serve releases
      assay serve lite --mirror ~/mirrors -j 8 --prepare
      assay serve rows.jsonl --reward tests:0.9,applies:0.1
      assay serve rows.jsonl --host 0.0.0.0 --token-file token.txt --queue 200
    """
    from assay.api.evaluator import Evaluator
    from assay.cli.console import say
    from assay.jobs.evaluate import run_name

    try:
        from assay.service.serve import ServiceOptions
        from assay.service.serve import serve as serve_until_signal
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("assay"):
            raise
        raise PluginError(f"serve needs the extra `serve`: pip install 'assay-bench[serve]' ({error})") from error
    token = read_token(token_file)
    instances = apply_quarantine(
        load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows, mirrors=mirror), dataset, stability
    )
    place = config.workplace(
        engine,
        mirror,
        recipes,
        environment,
        jobs=jobs,
        timeout=timeout,
        strict=strict,
        fail_fast=fail_fast,
        setup=setup,
        registry=registry,
        disk=disk,
        spares=jobs if spares is None else spares,
        build_limits=build_limits,
    )
    evaluator = Evaluator(instances, place=place)
    if prepare:
        build_images(evaluator)
    mixture = read_mixture(reward)
    service = ServiceOptions(
        host,
        port,
        token,
        queue,
        max_body * 1_000_000,
        drain,
        mixture,
        accept_instances,
        probe,
        hold,
        check_stops,
        wrong_stops,
        causes,
        report_to or (),
    )
    if not serve_until_signal(evaluator, runs_dir / (run_id or run_name(dataset, "serve")), service, say):
        say("ended before running evaluations had finished; ask for them again")
        raise typer.Exit(exits.INTERRUPTED)
    say("ended")


def read_token(file: Path | None) -> str:
    """Read the token of a file or of the environment, "" for none; raises UserError."""
    if file is None and not os.environ.get(TOKEN):
        return ""
    place = f"--token-file {file}" if file else TOKEN
    try:
        token = (file.expanduser().read_text(encoding="utf-8") if file else os.environ[TOKEN]).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{place}: {getattr(error, 'strerror', None) or 'is no text'}") from None
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise UserError(f"{place}: write at least 16 characters without spaces, as `openssl rand -hex 32` prints them")
    return token


def read_mixture(text: str) -> dict[str, float]:
    """Return the weights of ``NAME[:WEIGHT],...``; raises UserError."""
    from assay.rewards import mixture_of

    weights = {}
    for part in text.split(","):
        name, _, weight = part.strip().partition(":")
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise UserError(f"--reward {part.strip()}: write a number after the colon, such as {name}:0.5") from None
    return dict(mixture_of(weights))


def build_images(evaluator: "Evaluator") -> None:
    """Build or find the images of all instances; one that fails is named, and stops no other."""
    from assay.cli.commands.images.build import summary
    from assay.cli.console import say
    from assay.jobs.build import Images

    built = Images(evaluator.place).build(evaluator.instances)
    for each in built.failed:
        say(f"{each.instance_id}: {each.error}")
    say(summary(built))
    failed = {each.instance_id for each in built.failed}
    for instance in [each for each in evaluator.instances if each.id not in failed][: evaluator.place.spares]:
        evaluator.expect(instance)
