"""``assay dataset contamination``: what a model knows of a data set without seeing its repositories."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import exits, options
from assay.cli.loading import load_instances

if TYPE_CHECKING:
    from assay.jobs.contamination import BeforeAfter, ModelProbe, ProbedRate


def contamination(
    dataset: options.Dataset,
    model: Annotated[str, typer.Option(help="Model to ask.")],
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="OpenAI-compatible endpoint of that model.")
    ] = None,
    cutoff: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="End of the model's training.")
    ] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Instances asked about at once.")] = 4,
    cost: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Cost limit; the model needs a price (--prices).")
    ] = None,
    tokens: Annotated[int | None, typer.Option(min=0, metavar="N", help="Token limit.")] = None,
    calls: Annotated[int | None, typer.Option(min=1, metavar="N", help="Limit of model calls.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, help="Sampling temperature of the model.")] = None,
    cassette: options.Cassette = None,
    prices: options.Prices = None,
    ids: options.Ids = None,
    split: options.Split = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Ask a model how issues were fixed, without their repositories, before and after the end of its training.

    `files`: which files the fix changes, by the issue alone; not asked where the issue names one of them. Known if one
    is among the first five paths of the answer. `patch`: the begin of the fix is shown, up to half of its distinctive
    lines, without the issue. Known if the answer has at least half of the others.

    Some of both can be guessed, of old issues and new ones alike. With --cutoff, the difference of the two rates is
    what speaks for memory. With a cassette a command that a limit ended resumes. Exit 3 if a question had no answer.

    \b
    Examples:
      assay dataset contamination lite --model MODEL --cutoff 2023-09-30 --cassette answers.jsonl
      assay dataset contamination rows.jsonl --model MODEL --base-url http://host:8000/v1 --calls 600 --json
    """
    from assay.agents.llm.budget import BudgetLimits
    from assay.cli import console
    from assay.jobs.contamination import ProbeSettings, open_model, probe_model

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, may_lack_labels=True, may_be_empty=False)
    settings = ProbeSettings(
        model=model,
        base_url=base_url or "",
        cassette=cassette,
        prices=prices,
        limits=BudgetLimits(cost=cost, tokens=tokens, calls=calls),
        temperature=temperature,
        jobs=jobs,
    )
    with open_model(settings) as stack:
        found = probe_model(loaded.instances, settings, stack, cutoff.date() if cutoff else None)
    if json:
        console.print_json(found)
    else:
        _print(found)
    raise typer.Exit(exits.INFRASTRUCTURE if found.failed else 0)


def _print(found: "ModelProbe") -> None:
    from assay.cli import console
    from assay.harness.names import count

    columns = ("question", "all", *(("before", "after", "difference") if found.cutoff else ()))
    console.print_rows(columns, [("files", *_show(found.files)), ("patch", *_show(found.patches))])
    paid = f", {found.spent.cost:.2f} USD" if found.spent.cost else ""
    print(f"{count(len(found.instances), 'instance')}, {count(found.spent.calls, 'call')}{paid}")
    problem = next((each.problem for each in found.instances if each.problem), "")
    if problem:
        print(f"{count(found.failed, 'instance')} without an answer: {problem}")


def _show(rates: "BeforeAfter") -> tuple[str, ...]:
    difference = rates.difference
    change = f"{difference.estimate:+.1%} ({difference.low:+.1%} to {difference.high:+.1%})" if difference else "-"
    parts = (_show_rate(each) for each in (rates.all, rates.before, rates.after) if each is not None)
    return (*parts, *((change,) if rates.before else ()))


def _show_rate(rate: "ProbedRate") -> str:
    from assay.cli import console

    if not rate.asked:
        return "-"
    return f"{rate.known} of {rate.asked}, {rate.rate.estimate:.1%} ({console.format_range(rate.rate)})"
