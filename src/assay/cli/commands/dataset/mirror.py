"""``assay dataset mirror``: local clones of what a data set needs."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import exits, options
from assay.cli.loading import load_instances

if TYPE_CHECKING:
    from assay.instances.trees.mirroring import Mirrored, NeededRepository


def mirror(
    dataset: options.Dataset,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of mirrors to fill.")],
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Repositories fetched at once.")] = 2,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Fetch the repositories that a data set's instances start from, for --mirror of other commands.

    Of each repository only the base commits are fetched, without their history, into DIR/<owner>__<name>.git. A clone
    that DIR has already is used as it is. Running the same command again fetches only what is missing. Exit 3 if a
    repository cannot be fetched. git's setting url.<base>.insteadOf redirects the addresses.

    \b
    Examples:
      assay dataset mirror lite -o ~/mirrors -j 4
      assay dataset mirror rows.jsonl -o mirrors -i pallets__flask-5063 --json
    """
    from assay.cli import console
    from assay.harness.names import count
    from assay.harness.runs.crew import Crew, Progress
    from assay.instances.trees.mirroring import Mirroring, collect_needs

    loaded = load_instances(dataset, ids, split, skip_bad_rows=skip_bad_rows, may_be_empty=False)
    wanted, work = collect_needs(loaded.instances), Mirroring(output.expanduser().absolute())
    if not wanted:
        console.say(f"{dataset} needs no repository: it is made of release archives")
    with console.RunView().show_items(len(wanted), "mirror", verb="fetching") as line:
        progress: Progress[NeededRepository, Mirrored] = Progress(
            started=lambda each: line.start(each.repo),
            finished=lambda each, known: line.finish(_sentence(each, known=known), name=each.repo, says=True),
        )
        found = Crew(jobs, work.abort).complete(work, wanted, progress=progress)
    problems = [each for each in found if each.problem]
    if json:
        repositories = [asdict(each) for each in found]
        console.print_json({"folder": str(work.folder), "repositories": repositories})
    else:
        size = sum(each.size for each in found)
        there = count(len(found) - len(problems), "repository", "repositories")
        print(f"{there} in {output} ({_size(size)} new), {len(problems)} not fetched")
    raise typer.Exit(exits.INFRASTRUCTURE if problems else 0)


def _sentence(mirrored: "Mirrored", *, known: bool) -> str:
    from assay.harness.names import count

    commits = count(mirrored.commits, "commit")
    if known:
        return f"{mirrored.repo}: {commits}, there already"
    if mirrored.problem:
        return f"{mirrored.repo}: {mirrored.problem}"
    return f"{mirrored.repo}: {commits}, {_size(mirrored.size)} ({mirrored.seconds:.1f} s)"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
