"""``assay report export``: a run in other people's files, and a check of such files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import completing, exits, options
from assay.cli.loading import find_run_to_export
from assay.harness.errors import UserError
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.exports import ExportFormat
    from assay.harness.exports.base import Problem, RunToExport
    from assay.harness.redaction import Redaction


TRAINING = ("sft", "rl")


def export(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="Name of a run, or its folder; with --check also an exported folder.",
            autocompletion=completing.runs,
        ),
    ],
    format_name: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Format of the files.", autocompletion=completing.formats)
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="New folder to write.", show_default="RUN.FORMAT"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="List what the receiver would complain about; exit 4 if there is anything.")
    ] = False,
    metadata: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML: what only you can say, such as authors and report.")
    ] = None,
    init_metadata: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a file for --metadata to fill in, with what this format needs; stop."),
    ] = None,
    trajectories: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The solver's run, or a folder of files with instance ids in their names.",
            show_default="RUN without .evaluated",
        ),
    ] = None,
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="sft, rl: `assay dataset audit -o FILE`; screened out.")
    ] = None,
    cutoff: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="sft, rl: no pass on an older issue."),
    ] = None,
    difficulty: Annotated[
        list[str] | None, typer.Option(help="sft, rl: only rows of this difficulty; may be repeated.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(metavar="FLAG", help="sft, rl: a pass may have this flag; may be repeated.")
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Write a run in the files of a leaderboard or of another tool, or check such files.

    Leaderboards: swebench, sb-cli, multi-swe-bench, swe-polybench, swe-bench-live, huggingface. Others: harbor,
    inspect, junit, csv, markdown; docs/submitting.md describes each. No leaderboard gets a run that was
    given parts of the answer, graded by --labels, or stopped by --fail-fast. For training: sft, rl (docs/training.md).
    Secrets are taken out of all but patches.

    \b
    Examples:
      assay report export lite.my_model --format swebench --init-metadata new.yaml
      assay report export lite.my_model --format swebench --metadata me.yaml -o submission --check
      assay report export submission --format swebench --check
      assay report export lite.my_model --format junit -o ci
      assay report export solved.evaluated --format sft --difficulty "<15 min fix" --allow read_from_log -o chats
    """
    from assay.harness.exports import find
    from assay.harness.exports.write import run_problems

    chosen = find(format_name)
    if (audit or cutoff or difficulty or allow) and chosen.NAME not in TRAINING:
        raise UserError("--audit, --cutoff, --difficulty and --allow choose rows for training; give --format sft or rl")
    if init_metadata is not None:
        _write_template(chosen, init_metadata)
        return
    if check and _is_exported(target, runs_dir):
        done = Exported(chosen, Path(target))
    else:
        run = find_run_to_export(target, runs_dir, trajectories, metadata)
        if chosen.NAME in TRAINING:
            run = _choose(run, audit, cutoff.date() if cutoff else None, difficulty or (), allow or ())
        folder = output or Path(f"{run.store.root.resolve().name}.{chosen.NAME}")
        written = _write(chosen, run, folder, metadata)
        problems = run_problems(chosen, run) if check else []
        trust = run.report.describe_counters()
        done = Exported(chosen, folder, written, run.report.rules, trust, problems, run.redaction)
    found = [*done.problems, *_check(done)] if check else []
    _print(done, found, checked=check, as_json=json)
    raise typer.Exit(exits.INVALID if found else 0)


def _choose(
    run: "RunToExport", audit: Path | None, cutoff: date | None, difficulties: Sequence[str], allowed: Sequence[str]
) -> "RunToExport":
    """Look at what is known against each pass before any is a row."""
    from assay.cli.console import live_line
    from assay.harness.exports.base import TrainingChoice
    from assay.jobs.provenance import find_reproaches
    from assay.jobs.screen import read_audit

    with live_line(len(run.trajectories), "audit of trajectories") as line:
        shown = replace(run, progress=lambda name: line(name, 1)) if line else run
        reproaches = find_reproaches(shown, read_audit(audit) if audit else None, cutoff)
    return replace(run, choice=TrainingChoice(reproaches, frozenset(allowed), frozenset(difficulties)))


def _write_template(chosen: "ExportFormat", file: Path) -> None:
    from assay.harness.exports.metadata import make_template

    if file.exists():
        raise UserError(f"{file} is there already; remove it or name another file")
    file.write_text(make_template(chosen.REQUIRED, chosen.NAME), encoding="utf-8")
    print(f"{file}: fill it in, and give it with --metadata {file}")


@dataclass(frozen=True, slots=True)
class Exported:
    """A folder of a format: written just now, or there before."""

    chosen: "ExportFormat"
    folder: Path
    written: Sequence[str] = ()
    rules: Sequence[str] = ()
    trust: str = ""
    """How far the resolved instances are tried by counter-tests."""
    problems: "Sequence[Problem]" = ()
    """Problems of the run itself."""
    redaction: "Redaction | None" = None
    """What was taken out of the files that were written; None where none were."""


def _is_exported(target: str, runs_dir: Path) -> bool:
    """Return whether a target is a folder that is no run."""
    return Path(target).is_dir() and not any(
        (path / "run.json").is_file() for path in (runs_dir / target, Path(target))
    )


def _write(chosen: "ExportFormat", run: "RunToExport", folder: Path, metadata: Path | None) -> list[str]:
    from assay.cli.console import live_line
    from assay.harness.exports.write import write

    with live_line(len(run.predictions), f"export to {folder}") as line:
        shown = replace(run, progress=lambda name: line(name, 1)) if line else run
        return write(chosen, shown, folder, metadata_file=metadata)


def _check(done: Exported) -> "list[Problem]":
    from assay.cli.console import live_line
    from assay.harness.exports.write import problems

    with live_line(0, f"check of {done.folder}"):
        return problems(done.chosen, done.folder)


def _print(done: Exported, found: "Sequence[Problem]", *, checked: bool, as_json: bool) -> None:
    from assay.cli import console
    from assay.harness.redaction import describe

    if as_json:
        files = [str(done.folder / name) for name in done.written]
        about: dict[str, object] = {"format": done.chosen.NAME, "folder": str(done.folder), "rules": list(done.rules)}
        about |= {"files": files, "counter_tests": done.trust}
        if done.redaction:
            about |= {"redacted": done.redaction.taken, "secrets_in_patches": done.redaction.kept}
        rows = [{"file": each.file, "field": each.field, "problem": each.remedy} for each in found]
        console.print_json({**about, "checked": checked, "problems": rows})
        return
    if done.written:
        rules = ", ".join(done.rules) or "no instance"
        print(f"{count(len(done.written), 'file')} in {done.folder}; resolved by the rule of {rules}")
        print(done.trust)
    for name in done.written if done.chosen.NAME in TRAINING else ():
        print(f"{name}: {count(len((done.folder / name).read_bytes().splitlines()), 'row')}")
    if done.redaction and (said := describe(done.redaction.taken, done.redaction.kept, "patches or names of tests")):
        print(said)
    for problem in found:
        print(problem)
    if checked:
        print(f"{done.folder}: {count(len(found), 'problem')}")
