"""``assay report trajectory``: an external agent's trajectory in ATIF, and audits of where patches come from."""

import json as jsonlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import exits, options
from assay.cli.loading import find_run_to_export, load_instances
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.jobs.provenance import AuditedTrajectory


def trajectory(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File of an agent; with --audit also a run: its name or folder.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FORM",
            help="sweagent (.traj), mini (.traj.json), claude_stream, codex_json, or atif, Assay's own.",
        ),
    ] = "atif",
    audit: Annotated[
        bool, typer.Option("--audit", help="Say where the lines of the patch come from; exit 4 if they are leaked.")
    ] = False,
    patch: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The patch.", show_default="patch.diff beside FILE, or FILE's submission"),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("-d", "--dataset", help="Holds the instance: its hidden tests are looked for, too.")
    ] = None,
    instance: Annotated[str | None, typer.Option("-i", "--instance", metavar="ID", help="The instance.")] = None,
    trajectories: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The trajectories of a run.", show_default="the solver's run, RUN without .evaluated"
        ),
    ] = None,
    output: options.TextOutput = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Convert an external agent's trajectory to ATIF 1.8, the format of Assay's own, or audit trajectories.

    Secrets in it are taken out.

    An audit follows each line that a patch adds to the text that shows it first: the model's own words, the
    statement, or the result of an action. It is leaked if the model did not write it first, and it came out of a
    commit after the base, another copy of the project, a download, the web, hidden tests, or the statement.
    docs/training.md says how that is found.

    \b
    Examples:
      assay report trajectory marshmallow-1867.traj --from sweagent -o trajectory.json
      assay report trajectory run.traj --from sweagent --audit --patch fix.diff -d rows.jsonl -i acme__calc-1
      assay report trajectory solved.evaluated --audit --json
    """
    if audit:
        _audit(file, form, patch, dataset, instance, trajectories, runs_dir, as_json=json)
        return
    from assay.agents.external.importers import import_file
    from assay.harness.redaction import Redaction, describe

    found, redaction = import_file(form, Path(file)), Redaction()
    text = jsonlib.dumps(redaction.value(found.model_dump(mode="json", exclude_none=True)), indent=2) + "\n"
    said = describe(redaction.taken, {})
    if output is None:
        print(text, end="")
        typer.echo(said, err=True, nl=bool(said))
        return
    output.write_text(text, encoding="utf-8")
    actions = sum(len(step.tool_calls or ()) for step in found.steps)
    steps = f"{count(len(found.steps), 'step')} with {count(actions, 'action')}"
    print(f"{steps} of {found.agent.name} {found.agent.version} in {output}{'; ' * bool(said)}{said}")


def _audit(
    file: str,
    form: str,
    patch: Path | None,
    dataset: str | None,
    instance_id: str | None,
    trajectories: Path | None,
    runs_dir: Path,
    *,
    as_json: bool,
) -> None:
    from assay.jobs.provenance import AuditedTrajectory, audit_file, audit_run

    if (dataset is None) != (instance_id is None):
        raise UserError("-d and -i name the instance together; give both, or none")
    if Path(file).is_file():
        given = load_instances(dataset, [instance_id], None).instances if dataset and instance_id else []
        found = audit_file(Path(file), form, patch, given[0] if given else None)
        audited = [AuditedTrajectory(instance_id=instance_id or "", file=file, audit=found)]
    else:
        audited = [*audit_run(find_run_to_export(file, runs_dir, trajectories))]
    _print(audited, as_json=as_json)
    if any(each.audit and each.audit.leaks for each in audited):
        raise typer.Exit(exits.INVALID)


def _print(audited: "Sequence[AuditedTrajectory]", *, as_json: bool) -> None:
    from assay.cli import console

    if as_json:
        console.print_json({"trajectories": audited})
        return
    for each in audited:
        name = each.instance_id or each.file
        if each.audit is None:
            print(f"{name}: not audited: {each.problem}")
            continue
        origins = ", ".join(f"{number} {origin}" for origin, number in each.audit.origins.items())
        print(f"{name}: {each.audit.verdict}: {count(each.audit.lines, 'line')} followed ({origins or 'none'})")
        for leak in each.audit.leaks:
            how, source = "brings in, unseen," if leak.unseen else "shows", leak.action or "the task"
            print(f"  {leak.kind}: step {leak.step} {how} {leak.share:.0%} of the {leak.what}: {source}")
            for line in leak.lines[:3]:
                print(f"    {line}")
        for sign in each.audit.suspect_access if each.audit.leaks else ():
            print(f"  sign: {sign}")
