"""``assay report screen``: the rate of a run beside what is known against its instances."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run

if TYPE_CHECKING:
    from assay.harness.metrics.screening import ScreenedRate, Screening

HOW = {
    "weak": "assay dataset audit --mutants 6 -o FILE, or evaluate --counter pair",
    "old": "--cutoff DATE",
    "refuted": "assay diff",
    "suspicious": "assay diff",
    "unclear": "--people FILE",
    "unfair": "--people FILE",
}
"""What looks for a reproach that nothing was known of."""


def screen(
    run: options.RunName,
    audit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What `assay dataset audit -o FILE` wrote.", show_default="rules alone, from the run"
        ),
    ] = None,
    cutoff: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="End of the model's training: older issues count."),
    ] = None,
    people: options.AnnotationFile = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Say how far the rate of a run can be believed.

    Of the resolved instances: how many have an issue that holds most of the fix (leaked), tests that let anything pass
    (weak), an issue older than the model (old), or a patch that behaves otherwise than gold (refuted, suspicious, after
    `assay diff`). Beside each stand the rate with these counted as failed, and the rate over the other instances, with
    Wilson intervals; `together` is all of them but `undetermined` (tests that ask for what neither issue nor tree
    says) and people's `unclear` and `unfair`, since those make no pass weaker. No container is started, and no verdict
    changes.

    With --people, a patch that people find wrong is refuted, and one whose differences from gold they all find right is
    not suspicious.

    \b
    Examples:
      assay report screen mine --cutoff 2025-06-30
      assay dataset audit rows.jsonl --mutants 6 -o audit.json
      assay report screen mine --audit audit.json --json
      assay report screen mine --people people.jsonl
    """
    from assay.cli import console
    from assay.jobs.annotate import read_annotations
    from assay.jobs.screen import read_audit, screen_run

    store = find_run(run, runs_dir)
    answers = read_annotations(people) if people else None
    found = screen_run(store, read_audit(audit) if audit else None, cutoff.date() if cutoff else None, answers)
    if json:
        console.print_json(found)
        return
    _print(found)


def _print(found: "Screening") -> None:
    from assay.cli import console
    from assay.harness.names import count

    rows = [(str(kind), *_show(each, found.submitted)) for kind, each in found.reproaches.items()]
    plain = f"{found.rate.estimate:.1%} ({console.format_range(found.rate)})"
    print(f"resolved: {found.resolved} of {found.submitted}, {plain}")
    columns = (
        "known against it",
        "instances",
        "resolved",
        "share of resolved",
        "rate, as failed",
        "rate of the rest",
    )
    console.print_rows(columns, [*rows, ("together", *_show(found.together, found.submitted))])
    if found.unresolved_undetermined:
        print(f"{found.unresolved_undetermined} unresolved are undetermined: neither issue nor tree says what is asked")
    if found.annotated or found.adjudicated:
        graded = f"{found.annotated} of {found.submitted} instances"
        print(f"people graded {graded} and gave a verdict on {count(found.adjudicated, 'difference')} from gold")
    for kind in found.not_looked_for:
        print(f"not looked for: {kind} ({HOW.get(kind, '')})")


def _show(each: "ScreenedRate", submitted: int) -> tuple[str, ...]:
    from assay.cli import console

    share, as_failed, of_others = (
        f"{rate.estimate:.1%} ({console.format_range(rate)})"
        for rate in (each.share, each.rate_as_failed, each.rate_of_others)
    )
    return str(each.instances), str(each.resolved), share, as_failed, of_others if each.instances < submitted else "-"
