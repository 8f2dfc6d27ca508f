"""``assay runs``: the runs of a folder, and orders to those at work."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options


def list_runs(runs_dir: options.RunsDir = options.RUNS_DIR, json: options.Json = False) -> None:
    """List the runs of a folder: state, what is done, jobs, evaluations an hour, and the time left.

    A run is running, paused, ended, or interrupted; the command that made an interrupted one resumes it.

    \b
    Example:
      assay runs list
    """
    from assay.cli import loading
    from assay.cli.console import print_json, print_rows
    from assay.cli.estimate import format_left
    from assay.harness.runs.standing import read_state

    states = [read_state(store) for store in loading.list_runs(runs_dir)]
    if json:
        print_json({"runs": [asdict(each) for each in states]})
        return
    rows = []
    for each in states:
        numbers = (f"{each.done} of {each.total}", str(each.jobs or ""), str(each.per_hour or ""))
        rows.append((each.run, each.state, *numbers, format_left(each.seconds_left)))
    print_rows(("run", "state", "done", "jobs", "per hour", "time"), rows)


def pause(run: options.RunName, runs_dir: options.RunsDir = options.RUNS_DIR) -> None:
    """Start no further instance of a run at work; what has started runs to its end.

    \b
    Example:
      assay runs pause releases.gold
    """
    _order(run, runs_dir, "pause")


def resume(run: options.RunName, runs_dir: options.RunsDir = options.RUNS_DIR) -> None:
    """Resume a paused run: start further instances.

    \b
    Example:
      assay runs resume releases.gold
    """
    _order(run, runs_dir, "resume")


def jobs(
    run: options.RunName,
    number: Annotated[int, typer.Argument(metavar="N", min=1, help="Instances at once.")],
    runs_dir: options.RunsDir = options.RUNS_DIR,
) -> None:
    """Change how many instances a run does at once; fewer as those at work end.

    \b
    Example:
      assay runs jobs releases.gold 2
    """
    _order(run, runs_dir, "jobs", str(number))


def retry(
    run: options.RunName,
    instance: Annotated[str, typer.Argument(metavar="ID", help="Instance that has ended.")],
    force: Annotated[bool, typer.Option("--force", help="Even if its verdict is final.")] = False,
    runs_dir: options.RunsDir = options.RUNS_DIR,
) -> None:
    """Evaluate an instance of a run at work again, if its environment or the infrastructure failed.

    \b
    Example:
      assay runs retry releases.gold pallets__flask-2.3.2 --force
    """
    _order(run, runs_dir, "retry", instance, force=force)


def stop(run: options.RunName, runs_dir: options.RunsDir = options.RUNS_DIR) -> None:
    """Stop a run at work as Ctrl-C does; the command that made it resumes it.

    \b
    Example:
      assay runs stop releases.gold
    """
    _order(run, runs_dir, "stop")


def _order(run: str, runs_dir: Path, order: str, value: str = "", *, force: bool = False) -> None:
    from assay.cli.console import say
    from assay.cli.loading import find_any_run
    from assay.harness.runs.control import give_order

    store = find_any_run(run, runs_dir)
    give_order(store, order, value, force=force)
    say(f"asked {store.root} to {order} {value}".rstrip())
