"""``assay report trajectory``: an external agent's trajectory in ATIF."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options
from assay.harness.names import count


def trajectory(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of an external agent.")],
    form: Annotated[
        str,
        typer.Option("--from", metavar="FORM", help="sweagent (.traj), mini (.traj.json), claude_stream, codex_json."),
    ],
    output: options.TextOutput = None,
) -> None:
    """Convert an external agent's trajectory to ATIF 1.8, the format of Assay's own.

    \b
    Example:
      assay report trajectory marshmallow-1867.traj --from sweagent -o trajectory.json
    """
    from assay.agents.external.importers import import_file

    found = import_file(form, file)
    text = jsonlib.dumps(found.model_dump(mode="json", exclude_none=True), indent=2) + "\n"
    if output is None:
        print(text, end="")
        return
    output.write_text(text, encoding="utf-8")
    actions = sum(len(step.tool_calls or ()) for step in found.steps)
    steps = f"{count(len(found.steps), 'step')} with {count(actions, 'action')}"
    print(f"{steps} of {found.agent.name} {found.agent.version} in {output}")
