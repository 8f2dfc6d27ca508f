"""``assay report export``: a run in the files of another benchmark."""

import json as jsonlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.runs.report import Graded
    from assay.harness.runs.store import RunStore


class Layout(StrEnum):
    """Whose files an export writes."""

    SWE_BENCH = "swebench"
    MULTI_SWE_BENCH = "multi-swe-bench"


def export(
    run: options.RunName,
    layout: Annotated[Layout, typer.Option("--format", help="Whose files to write.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder to write into.", show_default="RUN.FORMAT"),
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Write the reports of a run as another benchmark's own tools do: one of each instance, and one of all.

    swebench: <model>.<run>.json, and report.json in logs/run_evaluation/<run>/<model>/<id>/ of each instance that has
    test results. multi-swe-bench: final_report.json, and <org>/<repo>/evals/pr-<n>/report.json with the three stages;
    for instances that are graded by its rule. Either names the rules that decided what "resolved" means.

    \b
    Examples:
      assay report export rows.gold --format swebench
      assay report export multi.gold --format multi-swe-bench -o reports
    """
    from assay.cli import console
    from assay.harness.exports import multi_swe_bench, swebench

    store = find_run(run, runs_dir)
    refuse_oracle(store)
    writers = {Layout.SWE_BENCH: swebench.files, Layout.MULTI_SWE_BENCH: multi_swe_bench.files}
    report = store.report()
    files = list(writers[layout](report, _graded(store)))
    folder = output or Path(f"{store.root.resolve().name}.{layout}")
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(jsonlib.dumps(content, indent=2) + "\n", encoding="utf-8")
    if json:
        written = [str(folder / name) for name, _ in files]
        console.print_json(jsonlib.dumps({"format": layout, "rules": report.rules, "files": written}))
    else:
        print(f"{len(files)} files in {folder}; resolved by the rule of {', '.join(report.rules) or 'no instance'}")


def refuse_oracle(store: "RunStore") -> None:
    """Raise UserError for a run whose solver was given part of the answer: it belongs on no leaderboard."""
    oracle = store.load_run().settings.get("oracle", "")
    if oracle:
        raise UserError(
            f"{store.root} is exported to no leaderboard: its solver was given the {oracle} of each instance"
        )


def _graded(store: "RunStore") -> "list[Graded]":
    """Return a run's evaluations; raises UserError when evidence is missing."""
    from assay.harness.runs.report import Graded

    graded = []
    for saved in store.load_verdicts():
        name = saved.verdict.instance_id
        instance, evidence = store.load_instance(name), store.load_evidence(name)
        if instance is None or evidence is None:
            raise UserError(f"{store.root}: the evidence of {name} is missing; evaluate it again")
        graded.append(Graded(instance, evidence, saved.verdict))
    return graded
