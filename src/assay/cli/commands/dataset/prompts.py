"""``assay dataset prompts``: instances as prompts for training."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import config, options
from assay.cli.loading import load_instances
from assay.harness.names import count


def prompts(
    dataset: options.Dataset,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PATH", help="Write here: .jsonl or .json.", show_default="stdout"),
    ] = None,
    more: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Also show N sources that need no change, the ones most like the issue by BM25."
        ),
    ] = 0,
    mirror: options.Mirrors = None,
    ids: options.Ids = None,
    split: options.Split = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Write each instance as a prompt in SWE-RL's form, for a trainer that rewards answers by `swe_rl`.

    A row has the messages of the prompt (the issue, and the files that the gold patch changes as they are at the base
    commit), the id and the base commit, the shown and the changed paths, and the gold patch, which no prompt has. TRL
    and verl find the columns that they look for. An instance whose gold patch changes no text that is there is left
    out.

    \b
    Examples:
      assay dataset prompts rows.jsonl --mirror mirrors -o train.jsonl
      assay dataset prompts rows.jsonl --mirror mirrors --more 4 -o train.jsonl
    """
    from assay.cli import console
    from assay.instances.dataset import convert
    from assay.jobs.prompts import make_prompt_rows

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, may_lack_labels=True)
    rows, left_out = make_prompt_rows(loaded.instances, config.sources(mirror), more)
    for line in left_out:
        console.say(f"left out: {line}")
    if output:
        convert.save(rows, output)
    if json:
        where: dict[str, object] = {"file": str(output)} if output else {"rows": rows}
        console.print_json({"prompts": len(rows), "left_out": left_out, **where})
    elif output:
        print(f"{count(len(rows), 'prompt')}: {output}")
    else:
        print(convert.json_lines(rows), end="")
