"""``assay report show``: the verdicts of a run."""

from assay.cli import options
from assay.cli.loading import find_run


def show(run: options.RunName, runs_dir: options.RunsDir = options.RUNS_DIR, json: options.Json = False) -> None:
    """Show the verdicts of a run.

    \b
    Example:
      assay report show releases.gold
    """
    from assay.cli import console

    store = find_run(run, runs_dir)
    report = store.report()
    if json:
        console.print_json(report)
        return
    about, saved = store.load_run(), store.load_verdicts()
    seconds = {each.verdict.instance_id: each.seconds for each in saved}
    console.print_verdicts([each.verdict for each in saved], seconds, store.root)
    model = about.model or "unknown model"
    missing = f", {len(report.incomplete_ids)} without a verdict" if report.incomplete_ids else ""
    revision = about.dataset.revision[:12]
    print(f"{console.sum_line(report)}{missing} · {about.dataset.name} {revision} · {model} · {about.started}")
