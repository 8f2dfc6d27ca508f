"""``assay dataset profile``: what a data set is like, alone or beside another one."""

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import load_instances
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.harness.domain import Instance
    from assay.instances.dataset.profile import DatasetProfile, Distribution, ProfiledShare


def profile(
    dataset: options.Dataset,
    other: Annotated[
        str | None, typer.Argument(metavar="[OTHER]", help="Another data set, to be compared.", show_default=False)
    ] = None,
    ids: options.Ids = None,
    split: options.Split = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Describe a data set, alone or beside another one: statements, fixes, tests, dates, repositories, types of task.

    Each measure has its median and quartiles. Of two data sets, `second larger` is the share of all pairs of a row of
    each in which the second's has more (equal ones count half): 50 % where they do not differ. Rows alone are read.

    \b
    Examples:
      assay dataset profile rows.jsonl
      assay dataset profile lite rows.jsonl --json
    """
    from assay.cli import console
    from assay.instances.dataset.profile import profile as describe

    if dataset == other:
        raise UserError(f"{other}: is the same data set twice; name another one, or none")
    names = [dataset, *([other] if other else [])]
    if other and ids:
        raise UserError("-i chooses instances of one data set; leave it out, or name one data set")
    found = describe({name: _load(name, ids, split, skip_bad_rows=skip_bad_rows) for name in names})
    if json:
        console.print_json(found)
        return
    _print(found)


def _load(name: str, ids: list[str] | None, split: str | None, *, skip_bad_rows: bool) -> "Sequence[Instance]":
    loaded = load_instances(name, ids, split, skip_bad_rows=skip_bad_rows, may_lack_labels=True, may_be_empty=False)
    return loaded.instances


def _print(found: "DatasetProfile") -> None:
    from assay.cli import console
    from assay.instances.dataset.profile import DATE

    console.print_rows(("", *found.datasets), [*_count(found)])
    is_pair = len(found.datasets) == 2
    larger = ("second larger",) if is_pair else ()
    rows = [
        (
            each.measure,
            *(_show(value, is_date=each.measure == DATE) for value in each.values),
            *(("-" if each.second_larger is None else f"{each.second_larger:.0%}",) if is_pair else ()),
        )
        for each in found.measures
    ]
    console.print_rows(("median (quartiles)", *found.datasets, *larger), rows)
    for title, shares in (("rows with", found.properties), ("language", found.languages), ("type", found.types)):
        console.print_rows((title, *found.datasets), [*_share(shares, found.instances)])


def _count(found: "DatasetProfile") -> Iterable[tuple[str, ...]]:
    yield ("instances", *map(str, found.instances))
    yield ("repositories", *map(str, found.repositories))
    pairs = zip(found.largest_repository, found.instances, strict=True)
    yield ("rows of the largest one", *(f"{rows} ({rows / total:.0%})" for rows, total in pairs))


def _show(value: "Distribution | None", *, is_date: bool) -> str:
    if value is None:
        return "-"
    low, median, high = (
        date.fromordinal(round(each)).isoformat() if is_date else f"{each:,.0f}"
        for each in (value.low, value.median, value.high)
    )
    return f"{median} ({low} to {high})"


def _share(shares: "Iterable[ProfiledShare]", totals: tuple[int, ...]) -> Iterable[tuple[str, ...]]:
    for each in shares:
        yield (each.name, *(f"{rows} ({rows / total:.0%})" for rows, total in zip(each.rows, totals, strict=True)))
