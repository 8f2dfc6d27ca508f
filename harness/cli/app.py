"""The tree of commands. The functions live in one module for each noun."""

from typing import Annotated

import typer

from assay import __version__
from assay.harness.cli import config, dataset, demo, diff, doctor, evaluate, images, report, solve

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
