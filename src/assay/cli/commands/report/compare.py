"""``assay report compare``: runs side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.metrics.comparison import Comparison, PairTest

SHOWN = 10  # instances of a list that are printed one by one; ``--json`` has all


def compare(
    runs: options.RunNames,
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="RUN=AMOUNT", help="What a run's predictions cost; may be repeated."),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=100, help="Resamples of the bootstrap.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the bootstrap; equal seeds give equal intervals.")] = 0,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Compare runs of one data set: rates, differences, and whether chance alone could make them.

    Counted are the instances that all runs evaluated without an error of the infrastructure; the rest is named. Rates
    have Wilson intervals. Each pair has McNemar's exact test, adjusted after Holm for the number of pairs, and the
    difference of the rates with the interval of a bootstrap that draws whole repositories. Runs of one model (by its
    name) also give pass@k and pass^k. `assay view RUN RUN` shows the same as a page, with the instances that each run
    wins and a picture of what they have in common.

    \b
    Examples:
      assay report compare mine yours
      assay report compare runs/mine runs/yours --cost mine=12.50 --cost yours=3 --json
      assay report compare mine.1 mine.2 mine.3
    """
    from assay.cli import console
    from assay.harness.metrics import comparison

    stores = [find_run(run, runs_dir) for run in runs]
    names = [store.root.resolve().name for store in stores]
    if len(set(names)) < len(names):  # folders of one name in different places
        names = list(runs)
    for store, name in zip(stores, names, strict=True):
        if about := store.report().describe_logs():
            console.say(f"{name}: {about}")
    costs = _costs(cost or [], names)
    found = [comparison.load_results(store, name, costs.get(name)) for store, name in zip(stores, names, strict=True)]
    result = comparison.compare(found, samples=samples, seed=seed)
    if json:
        console.print_json(result)
    else:
        _show_comparison(result)


def _costs(given: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Read ``RUN=AMOUNT``; raises UserError, also for a run that is not compared."""
    found = {}
    for each in given:
        name, _, amount = each.rpartition("=")
        if name not in names:
            raise UserError(f"--cost {each!r}: must be RUN=AMOUNT with one of the runs {', '.join(names)}")
        try:
            found[name] = float(amount)
        except ValueError:
            raise UserError(f"--cost {each!r}: {amount!r} is no amount; write a number such as 12.50") from None
    return found


def _show_comparison(result: "Comparison") -> None:
    from assay.cli import console

    about = f"{result.dataset.name} {result.dataset.revision[:12]}".strip()
    repositories = count(result.repositories, "repository", "repositories")
    print(f"{count(result.instances, 'instance')} of {repositories}, evaluated in all runs · {about}")
    _show_left_out(result.left_out)
    console.print_rows(
        ("run", "model", "resolved", "95 % interval", "cost per resolved"),
        [
            (
                each.run,
                each.model,
                f"{each.resolved} ({each.rate.estimate:.1%})",
                console.format_range(each.rate),
                "-" if each.cost_per_resolved is None else f"{each.cost_per_resolved:.4g}",
            )
            for each in result.runs
        ],
    )
    columns = ("pair", "only first", "only second", "difference", "95 % interval", "p (McNemar)", "p (Holm)")
    console.print_rows(columns, [_pair_row(pair) for pair in result.pairs])
    for pair in result.pairs:
        for name, ids in ((pair.first, pair.only_first), (pair.second, pair.only_second)):
            if ids:
                print(f"only {name} (of {pair.first}, {pair.second}): {_some(ids)}")
    for model in result.models:
        print(f"\n{model.model}, {count(len(model.runs), 'run')}: {', '.join(model.runs)}")
        rows = [
            (
                str(each.k),
                *(
                    f"{rate.estimate:.1%} ({console.format_range(rate)})"
                    for rate in (each.at_least_one, each.all_of_them)
                ),
            )
            for each in model.rates
        ]
        console.print_rows(("k", "pass@k", "pass^k"), rows)
    if result.repositories < 5:
        few = count(result.repositories, "repository", "repositories")
        print(f"intervals of differences rest on {few} only: do not lean on them")


def _show_left_out(left_out: dict[str, str]) -> None:
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        print(f"left out, {reason}: {len(names)} ({_some(names)})")


def _pair_row(pair: "PairTest") -> tuple[str, ...]:
    return (
        f"{pair.first} - {pair.second}",
        str(len(pair.only_first)),
        str(len(pair.only_second)),
        f"{100 * pair.difference.estimate:+.1f} points",
        f"{100 * pair.difference.low:+.1f} to {100 * pair.difference.high:+.1f}",
        f"{pair.p:.3g}",
        f"{pair.p_holm:.3g}",
    )


def _some(names: Sequence[str]) -> str:
    more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
