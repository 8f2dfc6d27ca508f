"""``assay view``: pages that show runs, served on this machine."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import completing, options

if TYPE_CHECKING:
    from assay.viewer.server import ViewServer


def view(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Names of runs, or their folders; all of --runs-dir if none is given.",
            autocompletion=completing.runs,
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 7575,
    host: Annotated[str, typer.Option(help="Address; another one than loopback needs --token.")] = "127.0.0.1",
    token: Annotated[
        bool, typer.Option("--token", help="Make up a token, and answer only to those who open the address with it.")
    ] = False,
    control: Annotated[
        bool, typer.Option("--control", help="Show buttons that pause, resume and stop runs at work, and change jobs.")
    ] = False,
    annotate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ask for grades of instances and verdicts on differences; answers go to this .jsonl."
        ),
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
) -> None:
    """Show runs in a browser: figures, a table of all instances, a page for each, and runs of one data set compared.

    An instance's page leads to the solver's steps and to the comparison with gold, where there are any. A run of
    `assay solve --evaluate` brings its solver's run with it.

    The server answers on this machine only and shows a run while it is being made. It changes nothing without
    --control and --annotate. Ctrl-C ends it.

    With --annotate, pages ask a person how clear an instance is, what its tests are worth and how long a fix takes, and
    who is right where a patch differs from gold. The file's name is the person's; no other file is written.
    `assay report agree` merges the files of several people.

    \b
    Examples:
      assay view
      assay view releases.gold lite.my_model
      assay view runs/lite.my_model --port 0
      assay view --host 0.0.0.0 --token
      assay view mine --control
      assay view mine --annotate anna.jsonl
    """
    import secrets
    import threading

    from assay.cli.console import say
    from assay.cli.loading import find_views
    from assay.jobs.annotate import Annotator
    from assay.viewer.server import ViewServer

    annotator = Annotator(annotate) if annotate else None
    made_up = secrets.token_urlsafe(18) if token else ""
    with ViewServer(find_views(runs or [], runs_dir, annotator), host, port, made_up, control=control) as server:
        threading.Thread(target=_warm_up, args=(server, bool(runs)), daemon=True).start()
        names = ", ".join(run.name for run in server.viewer.runs.values())
        say(f"showing {names}")
        say(f"open {server.url} (Ctrl-C ends)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("ended")


def _warm_up(server: "ViewServer", is_chosen: bool) -> None:
    """Read every run, and compare the runs that a person named, so that the first pages need not."""
    from assay.harness.errors import AssayError

    with suppress(AssayError, OSError):  # the page says it, to who asks for it
        server.viewer.warm_up()
        if is_chosen:
            server.pages.find_html("compare/all.html")
