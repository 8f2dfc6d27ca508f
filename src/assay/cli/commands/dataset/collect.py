"""``assay dataset collect``: instances from the history of repositories."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import config, exits, options
from assay.cli.loading import load_instances

if TYPE_CHECKING:
    from assay.instances.collect.duplicates import KnownInstances
    from assay.instances.collect.rules import CandidateLimits
    from assay.instances.collect.steps import Phase

DAY = "%Y-%m-%d"


def collect(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the collection.")],
    repos: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPO",
            help="Repositories as owner/name, and packages as pypi:NAME, go:NAME, crates:NAME or npm:NAME; none to"
            " continue with those of DIR, and its dates.",
        ),
    ] = None,
    packages: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Also the packages of a YAML file with a list for each index; `releases` is the bundled one.",
        ),
    ] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=[DAY], metavar="DATE", help="Day of the oldest change.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=[DAY], metavar="DATE", help="Day of the newest change.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Candidates of each repository that are built, newest first; 0 for all."),
    ] = 0,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="PHASE", help="Only this phase; may be repeated.")
    ] = None,
    known: Annotated[
        list[str] | None, typer.Option(metavar="DATASET", help="Leave out what this data set has; may be repeated.")
    ] = None,
    issues: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSON lines with repo, number, title and body: the statements of changes that close these issues.",
        ),
    ] = None,
    statements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSON lines with id and statement: statements of releases, in place of those of change logs.",
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only changes in this language; may be repeated.", show_default="any"),
    ] = None,
    license_: Annotated[
        list[str] | None,
        typer.Option(
            "--license",
            metavar="SPDX",
            help="Also take trees of this license, such as GPL-3.0, or of any (for your own code); may be repeated.",
            show_default="permissive ones",
        ),
    ] = None,
    times: Annotated[int, typer.Option("-k", "--times", min=1, help="Runs of each control.")] = 3,
    jobs: options.Jobs = options.CORES,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    build_limits: options.BuildLimits = "",
    json: options.Json = False,
) -> None:
    """Make instances of the changes in local clones that belong to a pull request or close an issue, or of releases.

    \b
    find      changes of the main branch between the dates, or releases of packages
    pair      base tree, gold patch, test patch, statement
    filter    license, size, tests, statement, duplicates, faults that `assay dataset audit` finds
    setup     a recipe, where no folder has one, as `assay dataset setup` finds it
    validate  labels from runs with and without the gold patch, as `assay dataset validate --write` measures them

    DIR/dataset gets the valid instances in the native format, with a card. Each phase writes DIR/<phase>.jsonl: every
    candidate, with the rule and the reason by which it fell out; DIR/funnel.html shows how many. Running the same
    command again resumes. Exit 4 if the last phase keeps no candidate.

    \b
    Examples:
      assay dataset collect acme/calc --mirror ~/mirrors -o mine --since 2023-01-01 --limit 20 --known verified
      assay dataset collect --mirror ~/mirrors -o mine --only filter --license GPL-3.0
      assay dataset collect --packages releases --known releases -o 2026-10 --since 2026-10-01 --until 2026-10-31
    """
    from assay.cli import console
    from assay.harness.files import replace_file
    from assay.instances.collect.folder import CollectionFolder, CollectionSettings
    from assay.instances.collect.steps import Phase
    from assay.jobs.collect import Collection, read_issues, read_statements
    from assay.viewer.funnel import funnel_page

    chosen = _select_phases(only)
    names = tuple(dict.fromkeys((*(repos or ()), *_read_packages(packages))))
    folder = CollectionFolder(output)
    with config.workplace(engine, mirror, recipes, jobs=jobs, build_limits=build_limits) as place:
        collection = Collection(
            folder,
            place,
            config.sources(mirror),
            limits=_read_limits(license_ or (), language or ()),
            known=_load_known(known or ()),
            issues=read_issues(issues) if issues else {},
            statements=read_statements(statements) if statements else {},
            limit=limit,
            times=times,
        )
        folder.open(
            CollectionSettings(
                name=output.resolve().name,
                repos=names,
                since=since.date() if since else None,
                until=until.date() if until else None,
            )
            if names or since or until
            else folder.settings()
        )
        found = collection.run(chosen)
    picture = output / "funnel.html"
    replace_file(picture, funnel_page(folder.settings().name, found).encode())
    if json:
        where = {"folder": str(output), "dataset": str(folder.dataset), "picture": str(picture)}
        console.print_json({**where, "phases": list(found)})
    else:
        rows = [(each.phase, str(each.taken), str(each.kept), each.why) for each in found]
        console.print_rows(("phase", "candidates", "kept", "fell out"), rows)
        if Phase.VALIDATE in chosen:
            print(f"Data set: {folder.dataset}")
        print(f"Picture: {picture}")
    raise typer.Exit(0 if found[-1].kept else exits.INVALID)


def _select_phases(names: list[str] | None) -> "tuple[Phase, ...]":
    """Return the named phases in their order, or all of them; raises UserError for an unknown name."""
    from assay.harness.errors import UserError
    from assay.harness.names import did_you_mean
    from assay.instances.collect.steps import Phase

    for name in names or ():
        if name not in list(Phase):
            raise UserError(f"--only {name!r} is no phase{did_you_mean(name, map(str, Phase))}")
    return tuple(phase for phase in Phase if not names or phase in names)


def _read_packages(file: str | None) -> list[str]:
    from assay.instances.collect.releases import BUNDLED_PACKAGES, read_packages

    if file is None:
        return []
    return read_packages(BUNDLED_PACKAGES if file == "releases" else Path(file).expanduser())


def _read_limits(licenses: Sequence[str], languages: Sequence[str]) -> "CandidateLimits":
    from assay.harness.languages import find
    from assay.instances.collect.rules import CandidateLimits

    usual = CandidateLimits()
    names = frozenset(find(name).NAME for name in languages)
    return usual.model_copy(update={"licenses": usual.licenses.union(licenses), "languages": names})


def _load_known(datasets: Sequence[str]) -> "KnownInstances":
    from assay.instances.collect.duplicates import index_known

    return index_known(
        each for name in datasets for each in load_instances(name, None, None, may_lack_labels=True).instances
    )
