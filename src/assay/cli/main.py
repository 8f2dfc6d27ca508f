"""The tree of commands, and how errors become one line and an exit code."""

import os
import sys
from typing import Annotated

import typer

from assay.cli import config, dataset, demo, diff, doctor, evaluate, images, report, solve
from assay.cli.exits import INFRASTRUCTURE, PATCHDIFF, USAGE
from assay.harness.errors import AssayError, EngineUnavailable, UserError
from assay.version import __version__

app = typer.Typer(
    name="assay",
    help="Say whether a patch really resolves an issue, with evidence anyone can re-check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Say whether a patch really resolves an issue, with evidence anyone can re-check."""
    context.default_map = config.defaults_for(context.command, config.read_settings())


app.command("demo")(demo.demo)
app.command("evaluate")(evaluate.evaluate)
app.command("solve")(solve.solve)
app.command("diff")(diff.diff)
app.add_typer(images.app, name="images")
app.add_typer(dataset.app, name="dataset")
app.add_typer(report.app, name="report")
app.command("doctor")(doctor.doctor)
app.command("reap")(doctor.reap)


def main() -> None:
    """Run the command line; every error that we raise on purpose is one line and an exit code."""
    sys.argv[1:] = [f"{arg}={PATCHDIFF}" if arg == "--patchdiff" else arg for arg in sys.argv[1:]]
    try:
        app(prog_name="assay")
    except (UserError, EngineUnavailable) as error:
        _fail(str(error), USAGE)
    except AssayError as error:
        _fail(str(error), INFRASTRUCTURE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}; mend that and run the same command again", INFRASTRUCTURE)


def _fail(message: str, code: int) -> None:
    sys.stdout.flush()
    print(f"assay: {message}", file=sys.stderr, flush=True)
    sys.exit(code)
