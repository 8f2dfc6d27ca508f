"""``assay dataset seal``: tasks of Harbor whose verifiers need no network."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import config, exits, options
from assay.cli.loading import load_instances

if TYPE_CHECKING:
    from assay.instances.verifiers.sealed_folder import DownloadingTask
    from assay.jobs.seal import TaskSeal


def seal(
    tasks: Annotated[str, typer.Argument(metavar="TASKS", help="Folder of Harbor's tasks, or of one.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of sealed tasks to fill.")],
    ids: options.Ids = None,
    jobs: options.Jobs = options.CORES,
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder with HOST/PATH: the files of hosts that this machine cannot reach; they are not asked.",
        ),
    ] = None,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Seal tasks of Harbor: what a verifier downloads while it grades is answered from then on without a network.

    The verifier runs once with a network, on the solved task, and every answer is kept with its hash. It then has to
    give a full reward on the solved task and a lower one on the task as it is, both without a network. A sealed task is
    a folder that Harbor runs, too: its verifier has a container of its own, whose image holds the answers.

    A download that was not foreseen leaves no reward, and the outcome is env_error. Running the same command again
    seals what is missing or has changed. Exit 4 if a task cannot be sealed, 3 if the engine failed.

    \b
    Examples:
      assay dataset seal tasks -o sealed
      assay dataset seal tasks -o sealed -i hello -j 4 --json
      assay dataset seal tasks -o sealed --files mirror
    """
    from assay.cli import console
    from assay.harness.runs.crew import Crew, Progress
    from assay.jobs.seal import find_tasks, open_sealing

    loaded = load_instances(tasks, ids, None, published_images=True, may_be_empty=False)
    wanted = find_tasks(tasks, loaded.instances)
    work = open_sealing(config.workplace(engine, jobs=jobs), output.expanduser().absolute(), files)
    with console.RunView().show_items(len(wanted), "seal", verb="sealing") as line:
        progress: Progress[DownloadingTask, TaskSeal] = Progress(
            started=lambda each: line.start(each.id),
            finished=lambda each, known: line.finish(_describe(each, known=known), name=each.id, says=True),
        )
        found = Crew(jobs, work.abort).complete(work, wanted, progress=progress)
    problems = [each for each in found if each.problem]
    if json:
        console.print_json({"folder": str(work.output), "tasks": [asdict(each) for each in found]})
    else:
        size = sum(each.bytes for each in found)
        print(f"{len(found) - len(problems)} of {len(found)} tasks sealed in {output} ({size / 1e6:.1f} MB of answers)")
    broke = any(each.broke for each in problems)
    raise typer.Exit(exits.INFRASTRUCTURE if broke else exits.INVALID if problems else 0)


def _describe(found: "TaskSeal", *, known: bool) -> str:
    if found.problem:
        return f"{found.id}: {found.problem}"
    took = "sealed already" if known else f"{found.seconds:.1f} s"
    loose = f", without a version: {' '.join(found.unpinned)}" if found.unpinned else ""
    return f"{found.id}: {found.requests} answers, {found.bytes / 1e6:.1f} MB ({took}){loose}"
