"""``assay dataset predictions``: the predictions in another tool's files."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options
from assay.harness.names import count


def predictions(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="File or folder, as `assay evaluate -p` takes it.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .jsonl here.", show_default="stdout")
    ] = None,
    attempt: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Take this attempt at each instance: a trial, epoch or sample."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Write the predictions of a run, a Harbor job, an Inspect log or an experiments folder as SWE-bench's rows.

    `assay evaluate -p` reads the same sources itself. Here one of several attempts can be chosen: trials of a Harbor
    task, epochs of an Inspect sample, samples of a solver. Attempts without a patch are named, and left out.

    \b
    Examples:
      assay dataset predictions jobs/2026-11-20__10-00-00 -o preds.jsonl
      assay dataset predictions logs/swe-bench.eval --attempt 2 -o second.jsonl
      assay dataset predictions runs/lite.solve.bash_loop --attempt 3
    """
    from assay.cli import console
    from assay.harness.files import replace_file
    from assay.instances.dataset.imports import import_predictions
    from assay.instances.dataset.predictions import prediction_rows

    found = import_predictions(source, attempt)
    lines = prediction_rows(found.predictions)
    if output:
        replace_file(output, lines.encode())
    if json:
        where = {"file": str(output)} if output else {"rows": [jsonlib.loads(line) for line in lines.splitlines()]}
        console.print_json({"predictions": len(found.predictions), "left_out": found.notes, **where})
        return
    for note in found.notes:
        console.say(f"no prediction for {note}")
    if output:
        print(f"{count(len(found.predictions), 'prediction')}: {output}")
    else:
        print(lines, end="")
