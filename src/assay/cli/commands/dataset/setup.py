"""``assay dataset setup``: the recipe of a repository that has none."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import config, exits, options

if TYPE_CHECKING:
    from assay.instances.setup.setup_record import SetupRecord
    from assay.jobs.advisor import ModelAdvisor


def setup(
    repo: Annotated[str, typer.Argument(metavar="REPO", help="Repository, as owner/name.")],
    at: Annotated[
        str, typer.Option(metavar="COMMIT", help="Full id of a commit, or any name of it that a local clone knows.")
    ] = "HEAD",
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of recipes that gets the recipe.")
    ] = Path("recipes"),
    language: Annotated[str | None, typer.Option(help="Language of the project, if its files mislead.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Recipes to try at most.")] = 5,
    limit: Annotated[int, typer.Option(min=60, metavar="SECONDS", help="Time for the whole search.")] = 600,
    model: Annotated[str | None, typer.Option(help="Model to ask where no rule knows more.")] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="OpenAI-compatible endpoint of that model.")
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Cost limit of one search; the model needs a price (--prices)."),
    ] = None,
    tokens: Annotated[int | None, typer.Option(min=0, metavar="N", help="Token limit of one search.")] = None,
    calls: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of model calls of one search.")] = 12,
    temperature: Annotated[float | None, typer.Option(min=0, help="Sampling temperature of the model.")] = None,
    max_tokens: options.MaxTokens = None,
    cassette: options.Cassette = None,
    prices: options.Prices = None,
    mirror: options.Mirrors = None,
    engine: options.EngineName = "docker",
    build_limits: options.BuildLimits = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget an earlier search of this commit.")] = False,
    json: options.Json = False,
) -> None:
    """Find out how a repository is built and tested at a commit, and write its recipe.

    Reads manifests, workflows and scripts, proposes a recipe, builds with it, runs the whole suite, and looks for the
    causes of what fails, at most --rounds times. A recipe is accepted if at least 95 % of the collected tests pass in
    two runs. DIR/<language>/<owner>__<name>.yaml is the recipe, for --recipes of other commands; the file beside it
    that ends in .attempts.json has every attempt with its reasons.

    Running the same command again resumes a search that was interrupted, and repeats none that ended. Exit 4 if no
    recipe is accepted.

    --model is asked where no rule knows more, also after a search that ended so. It may look at files of the tree and
    changes fields of the recipe, at most --calls times in all; its answers are kept in DIR/<owner>__<name>.llm.jsonl.

    \b
    Examples:
      assay dataset setup pallets/click --at 8.1.7 --mirror ~/mirrors
      assay dataset setup gorilla/mux --at db9d1d0073d27a0a2d9a8c1bc52aa0af4374d265 -o recipes --json
      assay dataset setup pallets/click --at 8.1.7 --model MODEL --base-url http://host:8000/v1 --calls 20 --cost 0.5
      assay evaluate rows.jsonl --gold --recipes recipes
    """
    from assay.cli import console
    from assay.instances.setup.setup_record import record_path

    recording = output / f"{repo.lower().replace('/', '__')}.llm.jsonl"
    if fresh:
        recording.unlink(missing_ok=True)
    advising: AbstractContextManager[ModelAdvisor | None] = nullcontext()
    if model is not None:
        from assay.agents.llm.budget import BudgetLimits
        from assay.jobs.advisor import AdvisorSettings, open_advisor

        settings = AdvisorSettings(
            model=model,
            base_url=base_url or "",
            cassette=cassette,
            prices=prices,
            limits=BudgetLimits(cost=cost, tokens=tokens, calls=calls),
            temperature=temperature,
            max_tokens=max_tokens,
        )
        advising = open_advisor(settings, recording, console.say)
    with config.workplace(engine, mirror, build_limits=build_limits) as place, advising as advisor:
        setter = replace(place.setter(output), rounds=rounds, seconds=float(limit), advisor=advisor)
        record = setter.set_up(repo, at, language or "", fresh=fresh)
    kept = record_path(output, record.language, record.repo, record.commit)
    if json:
        files = {"recipe_file": str(_recipe_file(output, record)), "attempts_file": str(kept)}
        console.print_json({**record.model_dump(mode="json"), **files})
    else:
        _show(record, output, kept)
    raise typer.Exit(0 if record.accepted else exits.INVALID)


def _recipe_file(folder: Path, record: "SetupRecord") -> str:
    from assay.instances.setup.setup_record import recipe_path

    return str(recipe_path(folder, record)) if record.accepted else ""


def _show(record: "SetupRecord", folder: Path, kept: Path) -> None:
    from assay.cli.console import print_rows
    from assay.harness.names import count

    rows = [
        (
            str(number),
            attempt.problem or f"{attempt.passed} of {attempt.passed + attempt.failed} tests pass",
            f"{attempt.seconds:.0f}",
            "; ".join(f"{change.rule}: {change.reason}" for change in attempt.changes),
        )
        for number, attempt in enumerate(record.attempts, 1)
    ]
    print_rows(("round", "result", "s", "changed for the next round"), rows)
    if record.calls:
        tokens, cost = (sum(getattr(call, name) for call in record.calls) for name in ("tokens", "cost"))
        print(
            f"{count(len(record.calls), 'answer')} of a model, {tokens:,} tokens{f', {cost:.2f} USD' if cost else ''}"
        )
    where = f"{record.repo} at {record.commit[:12]} ({record.date:%Y-%m-%d})"
    if record.accepted:
        print(f"{where}: {record.reason}, {record.seconds:.0f} s. Recipe: {_recipe_file(folder, record)}")
    else:
        print(f"{where}: no recipe accepted: {record.reason}. Every attempt: {kept}")
