"""``assay dataset convert``: instances as rows of another dialect."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import load_instances
from assay.harness.names import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.harness.domain import Instance


def convert(
    dataset: options.Dataset,
    to: Annotated[str, typer.Option("--to", metavar="DIALECT", help="Dialect of the rows.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PATH",
            help="Write here: .jsonl, .json or .csv; with --to native or harbor also a folder, with one folder a task.",
            show_default="stdout",
        ),
    ] = None,
    image: Annotated[
        str,
        typer.Option(
            "--image",
            metavar="NAME",
            help="Image of each task, for --to harbor; {id} stands for the instance's id in lower case.",
            show_default="the row's image",
        ),
    ] = "",
    ids: options.Ids = None,
    split: options.Split = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what the rows cannot hold, saying what, and use their rule.")
    ] = False,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Write instances as rows of another dialect; each row is read again and must give the same instance.

    Dialects: native, swebench, swebench-pro, multi-swe-bench, polybench, swebench-live, swe-rebench, swe-smith, r2e,
    nocode-bench, swe-fficiency, swe-perf, gso, feature-bench, harbor, deep-swe, commit0. Each has its own rule of what
    "resolved" means; another rule, or a field that rows cannot hold, is an error without --lossy. With --to harbor and
    a folder, instances become tasks of Harbor, whose rewards assay serve gives.

    \b
    Examples:
      assay dataset convert rows.jsonl --to native -o mine
      assay dataset convert rows.jsonl --to native -o mine.jsonl
      assay dataset convert multi.jsonl --to swebench --lossy -o plain.jsonl
      assay dataset convert rows.jsonl --to harbor --image registry.example/swe/{id} -o harbor
      assay dataset convert polybench.csv --to polybench -i google__gson-1093
    """
    from assay.cli import console
    from assay.instances.dataset import convert as conversion
    from assay.instances.dataset.formats import native

    dialect = conversion.find_format(to)
    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, published_images=True)
    if output and dialect.NAME == "harbor" and not output.suffix:
        _write_tasks(output, loaded.instances, image, json)
        return
    found = conversion.convert_all(loaded.instances, dialect, lossy=lossy)
    losses = {instance.id: each.losses for instance, each in zip(loaded.instances, found, strict=True) if each.losses}
    rows = [each.row for each in found]
    if output and dialect is native and not output.suffix:
        native.write_folder(output, loaded.ref.name, loaded.instances)
    elif output:
        conversion.save(rows, output)
    if json:
        where: dict[str, object] = {"file": str(output)} if output else {"rows": rows}
        console.print_json({"dialect": dialect.NAME, "instances": len(rows), "losses": losses, **where})
        return
    for loss, times in Counter(loss for each in found for loss in each.losses).items():
        console.say(f"left out of {count(times, 'instance')}: {loss}")
    if output:
        print(f"{count(len(rows), 'instance')} as rows of {dialect.NAME}: {output}")
    else:
        print(conversion.json_lines(rows), end="")


def _write_tasks(folder: Path, instances: "Sequence[Instance]", image: str, as_json: bool) -> None:
    from assay.cli import console
    from assay.instances.dataset.to_harbor import write_tasks

    number = write_tasks(folder, instances, image)
    if as_json:
        console.print_json({"dialect": "harbor", "instances": number, "losses": {}, "file": str(folder)})
    else:
        print(f"{count(number, 'instance')} as tasks of harbor: {folder}")
