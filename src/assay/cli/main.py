"""The tree of commands, and how errors become one line and an exit code."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer
from typer.exceptions import TyperException

from assay.cli.command import CommandGroup, ConfiguredCommand, is_help, usage_problem
from assay.cli.commands import compat, demo, diff, doctor, evaluate, reap, runs, serve, shell, solve, view
from assay.cli.commands.cluster import boxes, kubernetes, slurm
from assay.cli.commands.cluster import serve as serve_cluster
from assay.cli.commands.dataset import (
    audit,
    check,
    collect,
    contamination,
    convert,
    counter,
    mirror,
    power,
    predictions,
    profile,
    prompts,
    seal,
    select,
    setup,
    validate,
)
from assay.cli.commands.dataset import show as show_dataset
from assay.cli.commands.images import audit as audit_images
from assay.cli.commands.images import build, lock, prune, ship
from assay.cli.commands.images import check as check_images
from assay.cli.commands.images import list as list_images
from assay.cli.commands.report import (
    agree,
    bundle,
    cause,
    commit,
    compare,
    export,
    html,
    merge,
    metrics,
    plan,
    regrade,
    screen,
    trajectory,
    verify,
)
from assay.cli.commands.report import show as show_run
from assay.cli.compat_command import CompatCommand
from assay.cli.exits import INFRASTRUCTURE, INTERRUPTED, USAGE
from assay.cli.printing import guard_streams
from assay.harness.errors import AssayError, EngineUnavailable, RunStopped, UserError
from assay.version import __version__

COMMANDS: dict[str, Callable[..., Any]] = {
    "demo": demo.demo,
    "evaluate": evaluate.evaluate,
    "solve": solve.solve,
    "diff": diff.diff,
    "shell": shell.shell,
    "serve": serve.serve,
    "view": view.view,
    "doctor": doctor.doctor,
    "reap": reap.reap,
}
GROUPS: dict[str, tuple[str, dict[str, Callable[..., Any]]]] = {
    "images": (
        "Build, list, lock, check, audit, move and remove the images that evaluations run in.",
        {
            "build": build.build,
            "list": list_images.list_images,
            "lock": lock.lock,
            "check": check_images.check,
            "export": ship.export,
            "import": ship.import_images,
            "push": ship.push,
            "pull": ship.pull,
            "audit": audit_images.audit,
            "prune": prune.prune,
        },
    ),
    "dataset": (
        "Show, check, select, convert, validate, audit and collect instances, and say what they can show.",
        {
            "show": show_dataset.show,
            "check": check.check,
            "profile": profile.profile,
            "power": power.power,
            "select": select.select,
            "convert": convert.convert,
            "predictions": predictions.predictions,
            "prompts": prompts.prompts,
            "mirror": mirror.mirror,
            "setup": setup.setup,
            "validate": validate.validate,
            "counter": counter.counter,
            "audit": audit.audit,
            "contamination": contamination.contamination,
            "seal": seal.seal,
            "collect": collect.collect,
        },
    ),
    "report": (
        "Show, plan, commit to, screen, merge and compare runs, join people's answers, find causes, export and seal.",
        {
            "show": show_run.show,
            "compare": compare.compare,
            "metrics": metrics.metrics,
            "screen": screen.screen,
            "agree": agree.agree,
            "plan": plan.plan,
            "cause": cause.cause,
            "commit": commit.commit,
            "html": html.html,
            "merge": merge.merge,
            "regrade": regrade.regrade,
            "export": export.export,
            "bundle": bundle.bundle,
            "verify": verify.verify,
            "trajectory": trajectory.trajectory,
        },
    ),
    "runs": (
        "List runs; pause, resume and stop those at work, change their jobs, repeat an instance.",
        {"list": runs.list_runs}
        | {each.__name__: each for each in (runs.pause, runs.resume, runs.jobs, runs.retry, runs.stop)},
    ),
    "cluster": (
        "Print a script or a manifest that evaluates or solves on many machines, and serve models there.",
        {"slurm": slurm.slurm, "kubernetes": kubernetes.kubernetes, "serve": serve_cluster.serve, "boxes": boxes.boxes},
    ),
}
COMPAT: dict[str, tuple[str, dict[str, Callable[..., Any]]]] = {
    "swebench": (
        "Evaluate as swebench does: its flags, its logs, its report.",
        {"run_evaluation": compat.swebench_run_evaluation},
    ),
    "sb-cli": (
        "Evaluate as sb-cli does, on this machine: its command line, its report.",
        {"submit": compat.sb_cli_submit, "get-report": compat.sb_cli_get_report},
    ),
    "multi-swe-bench": (
        "Evaluate as Multi-SWE-bench's evaluator does: its configuration, its files.",
        {"run_evaluation": compat.multi_swe_bench_run_evaluation},
    ),
}
"""Groups of commands that other programs have."""
SETTINGS = "Options may also be set in assay.toml or as ASSAY_<OPTION>; --no-<option> turns a switch off again."
app = typer.Typer(
    name="assay",
    cls=CommandGroup,
    epilog="Begin with `assay doctor`, then `assay demo`; `assay COMMAND --help` has examples.",
    help="Say whether a patch really resolves an issue, with evidence anyone can re-check.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 110},
)
for name, command in COMMANDS.items():
    app.command(name, cls=ConfiguredCommand, epilog=SETTINGS)(command)
for name, (text, commands) in {**GROUPS, **COMPAT}.items():
    group = typer.Typer(cls=CommandGroup, help=text, no_args_is_help=True)
    kind = CompatCommand if name in COMPAT else ConfiguredCommand
    for name_of_command, command in commands.items():
        group.command(name_of_command, cls=kind, epilog=SETTINGS)(command)
    app.add_typer(group, name=name)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Say whether a patch really resolves an issue, with evidence anyone can re-check."""


def main() -> None:
    """Run the command line; an error that Assay raises on purpose is one line on stderr and an exit code."""
    with guard_streams():
        try:
            code = app(prog_name="assay", standalone_mode=False) or 0
            if code == INTERRUPTED:
                _ignore_signals()
                _fail("interrupted", INTERRUPTED)
            sys.exit(code)
        except TyperException as error:
            _fail_usage(error)
        except RunStopped as error:
            _ignore_signals()
            _fail(str(error), INTERRUPTED)
        except (UserError, EngineUnavailable) as error:
            _fail(str(error), USAGE)
        except AssayError as error:
            _fail(str(error), INFRASTRUCTURE)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _fail(f"{where}{error.strerror or error}; fix that and run the same command again", INFRASTRUCTURE)


def _ignore_signals() -> None:
    """Keep the exit status: an interpreter that shuts down would die of a second signal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _fail_usage(error: TyperException) -> NoReturn:
    if is_help(error):
        print(error.format_message(), file=sys.stderr)
        sys.exit(USAGE)
    _fail(usage_problem(error), USAGE)


def _fail(message: str, code: int) -> NoReturn:
    sys.stdout.flush()
    print(f"assay: {message}", file=sys.stderr, flush=True)
    sys.exit(code)
