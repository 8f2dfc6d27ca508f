"""``assay runs list``: the runs of a folder, and how far each is."""

from dataclasses import asdict

from assay.cli import options


def list_runs(runs_dir: options.RunsDir = options.RUNS_DIR, json: options.Json = False) -> None:
    """List the runs of a folder: state, what is done, jobs, evaluations an hour, and the time left.

    A run is running, paused, ended, or interrupted; the command that made an interrupted one resumes it.

    \b
    Examples:
      assay runs list
      assay runs list --json
    """
    from assay.cli import loading
    from assay.cli.console import print_json, print_rows
    from assay.cli.estimate import format_left
    from assay.harness.runs.control import read_state

    states = [read_state(store) for store in loading.list_runs(runs_dir)]
    if json:
        print_json({"runs": [asdict(each) for each in states]})
        return
    rows = [
        (
            each.run,
            each.state,
            f"{each.done} of {each.total}",
            str(each.jobs or ""),
            f"{each.per_hour or ''}",
            format_left(each.seconds_left),
        )
        for each in states
    ]
    print_rows(("run", "state", "done", "jobs", "per hour", "time"), rows)
