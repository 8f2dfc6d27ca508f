"""``assay report commit``: what a run will be, by hash, before it is made."""

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import options
from assay.harness.errors import UserError


def commit(
    context: typer.Context,
    arguments: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="After --: `evaluate` or `solve` with their arguments.")
    ],
    log: Annotated[Path, typer.Option("-o", "--log", metavar="FILE", help="Log (.jsonl) that grows by a line.")] = Path(
        "commitments.jsonl"
    ),
    json: options.Json = False,
) -> None:
    """Commit to a run before it is made: its rows, settings, and patches or solver and seed, by hash.

    The command after -- is read and not run. The log is a text file of one line a commitment, each with the hash of the
    line before; keep it in a git repository, or publish the hash that is printed. `assay report verify LOG` holds runs
    against it.

    \b
    Examples:
      assay report commit -- evaluate lite -p preds.jsonl --run-id announced
      assay report commit -- solve lite --agent agentless --model MODEL --seed 1 -n 4 --run-id four
      assay report verify commitments.jsonl
    """
    name, *words = arguments
    if name not in {"evaluate", "solve"} or log.suffix != ".jsonl":
        raise UserError(f"{name!r} into {log}: must be evaluate or solve, into a file that ends in .jsonl")
    root: Any = context.find_root()
    command = root.command.commands[name]
    words += ["--commit", str(log), *(["--json"] if json else [])]
    with command.make_context(name, words, parent=root) as read:
        command.invoke(read)
