"""``assay dataset select``: a part of a data set, as rows."""

import json as jsonlib
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import load_instances
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DAY = ["%Y-%m-%d"]


def select(
    dataset: options.Dataset,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="File of rows (.jsonl) to write.")],
    number: Annotated[
        int | None, typer.Option("-n", "--number", min=1, help="Rows of a sample.", show_default="all")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="WHAT",
            help="Keep the proportions of repo, language, year, difficulty or level; may be repeated.",
        ),
    ] = None,
    seed: Annotated[str, typer.Option(help="Another sample.")] = "",
    language: Annotated[list[str] | None, typer.Option(help="Only this language; may be repeated.")] = None,
    repo: Annotated[
        list[str] | None, typer.Option(metavar="OWNER/NAME", help="Only this repository; may be repeated.")
    ] = None,
    difficulty: Annotated[
        list[str] | None,
        typer.Option(help="Only rows of this difficulty (column, or --people): '1-4 hours', or a level: hard."),
    ] = None,
    since: Annotated[datetime | None, typer.Option(formats=DAY, metavar="DATE", help="Not older.")] = None,
    until: Annotated[datetime | None, typer.Option(formats=DAY, metavar="DATE", help="Not newer.")] = None,
    files: Annotated[int, typer.Option(min=0, help="Files that the fix may change at most; 0 for any.")] = 0,
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `assay dataset audit -o FILE` wrote, for --without.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Leave out rows with a fault of this kind in the audit; may be repeated."),
    ] = None,
    people: options.AnnotationFile = None,
    sound: Annotated[
        bool, typer.Option("--sound", help="Only instances that people find clear enough and fairly tested.")
    ] = False,
    ids: options.Ids = None,
    split: options.Split = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Write a part of a data set: rows that fit, or a sample of them in the proportions of the whole.

    Rows stay as they are, with all columns, in the order of the data set. The same command takes the same rows.

    \b
    Examples:
      assay dataset select rows.jsonl -n 60 --by repo -o sample.jsonl
      assay dataset select rows.jsonl --language python --files 1 --since 2019-01-01 -o small.jsonl
      assay dataset audit rows.jsonl -o audit.json
      assay dataset select rows.jsonl --audit audit.json --without solution_in_issue -o sound.jsonl
      assay dataset select rows.jsonl --people people.jsonl --sound --difficulty medium -o sound.jsonl
    """
    from assay.cli import console
    from assay.instances.dataset.select import STRATA, RowFilter, choose_sample, pair_rows
    from assay.jobs.annotate import read_annotations

    if sound and people is None:
        raise UserError("--sound needs --people FILE: it takes what people find sound")
    strata = _check_names(by or (), STRATA, "--by")
    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, may_lack_labels=True)
    wanted = RowFilter(
        languages=frozenset(language or ()),
        repos=frozenset(name.lower() for name in repo or ()),
        difficulties=frozenset(difficulty or ()),
        since=since.date() if since else None,
        until=until.date() if until else None,
        most_files=files,
        is_sound=sound,
        left_out=_find_faults(audit, without or ()),
    )
    answers = read_annotations(people) if people else ()
    fitting = [each for each in pair_rows(loaded.instances, dataset, split, answers) if wanted.takes(each)]
    chosen = choose_sample(fitting, number, strata, seed) if number else fitting
    if not chosen:
        raise UserError(f"no row of {dataset} fits; leave out a condition")
    lines = (jsonlib.dumps(each.row, default=str, ensure_ascii=False) for each in chosen)
    output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    counts = Counter(" ".join(STRATA[name](each) or "unknown" for name in strata) for each in chosen if strata)
    if json:
        console.print_json({"file": str(output), "rows": len(chosen), "of": len(loaded.instances), "strata": counts})
        return
    for name, times in sorted(counts.items()):
        print(f"{times:6}  {name}")
    print(f"{count(len(chosen), 'row')} of {len(loaded.instances)} in {output}")


def _check_names(names: "Iterable[str]", known: "Mapping[str, object]", option: str) -> list[str]:
    from assay.harness.names import did_you_mean

    for name in names:
        if name not in known:
            raise UserError(f"{option} {name} is none{did_you_mean(name, known)}")
    return list(names)


def _find_faults(audit: Path | None, kinds: "Iterable[str]") -> frozenset[str]:
    """Return the ids, in lower case, of rows with a fault of one of these kinds; raises UserError."""
    from assay.instances.audit import AuditKind, Severity
    from assay.jobs.screen import read_audit

    wanted = set(_check_names(kinds, {str(kind): kind for kind in AuditKind}, "--without"))
    if bool(wanted) != (audit is not None):
        raise UserError("give --audit FILE and --without KIND together")
    found = read_audit(audit).findings if audit else ()
    return frozenset(
        each.instance_id.lower() for each in found if each.kind in wanted and each.severity is Severity.FAULT
    )
