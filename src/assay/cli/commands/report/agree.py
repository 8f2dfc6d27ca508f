"""``assay report agree``: several people's answers in one file, and how far they agree."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options

if TYPE_CHECKING:
    from assay.harness.metrics.agreement import Agreement


def agree(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="What `assay view --annotate` wrote, one a person.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="File (.jsonl) of all answers together.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Merge people's answers about instances and differences from gold, and say how far the people agree.

    Of each two people, for each scale: how many both answered (n), how many alike, and Cohen's kappa with its 95 %
    interval, which is a dash where both gave one answer only. `sound` is what SWE-bench Verified would keep, `level`
    Multi-SWE-bench's difficulty, `side` wrong, right or undecidable.

    In the merged file the worst grade of an instance counts, as in SWE-bench Verified, and of its difficulties the
    majority or else the median. A difference has the verdict of more than half of its people, and null without one.

    \b
    Examples:
      assay report agree anna.jsonl ben.jsonl -o people.jsonl
      assay report screen mine --people people.jsonl
    """
    from assay.cli import console
    from assay.harness.errors import UserError
    from assay.harness.files import json_lines
    from assay.harness.metrics.agreement import compare_people
    from assay.harness.names import count
    from assay.jobs.annotate import merge_files

    if output is not None and (output.suffix != ".jsonl" or output.resolve() in {each.resolve() for each in files}):
        raise UserError(f"-o {output}: must end in .jsonl and be none of the files that are merged")
    people, merged = merge_files(files)
    found = list(compare_people(people))
    if output:
        output.write_bytes(json_lines(merged))
    if json:
        kept = str(output) if output else None
        console.print_json({"people": list(people), "answers": len(merged), "agreement": found, "file": kept})
        return
    if found:
        console.print_rows(("scale", "people", "n", "alike", "kappa (95 %)"), [_show(each) for each in found])
    else:
        print("no instance and no difference has answers of two people")
    place = f" in {output}" if output else "; -o FILE keeps them together"
    print(f"{count(len(merged), 'answer')} of {count(len(people), 'person', 'people')}{place}")


def _show(each: "Agreement") -> tuple[str, ...]:
    kappa = each.kappa
    shown = f"{kappa.estimate:.2f} ({kappa.low:.2f} to {kappa.high:.2f})" if kappa else "-"
    return each.scale, " and ".join(each.people), str(each.n), str(each.agreed), shown
