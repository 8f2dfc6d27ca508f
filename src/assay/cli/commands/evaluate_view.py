"""``assay evaluate``: what a finished run shows, and its exit code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import typer

from assay.cli import console, exits
from assay.cli.commands.cause_view import print_causes
from assay.cli.commands.diff_view import print_comparisons
from assay.harness.domain import Verdict
from assay.harness.errors import UserError
from assay.harness.runs.report import RunReport
from assay.harness.runs.store import RunStore
from assay.jobs.repeated import EvaluationCommand


def show(store: RunStore, report: RunReport, verdicts: Sequence[Verdict], *, as_json: bool) -> None:
    """Print the table of verdicts and the sum, or the report as JSON."""
    if as_json:
        console.print_json(report)
        return
    saved = (store.load_verdict(verdict.instance_id) for verdict in verdicts)
    seconds = {each.verdict.instance_id: each.seconds for each in saved if each is not None}
    console.print_verdicts(verdicts, seconds, store.root)
    console.print_doubts(verdicts, report.unfit_reasons or {})
    if report.patchdiff is not None:
        print_comparisons(store, report.patchdiff)
    if report.causes is not None:
        found = (store.load_cause(verdict.instance_id) for verdict in verdicts if verdict.resolved)
        print_causes([each.cause for each in found if each is not None])
    if efficiency := store.load_efficiency():
        print(efficiency.describe())
    print(console.sum_line(report), f"· {store.root}")
    whole = store.report()
    if whole.total_instances > report.total_instances:
        print(f"with what {store.root} held before: {console.sum_line(whole)}")
    wrong = next((verdict.instance_id for verdict in verdicts if not verdict.resolved), "")
    console.say("\n".join(suggest(store.root, wrong or next((each.instance_id for each in verdicts), ""))))


def refuse_clashes(asked: Mapping[str, object]) -> None:
    """Raise UserError for options that do not go together."""
    if sum((asked["predictions"] is not None, bool(asked["gold"]), bool(asked["null"]))) != 1:
        raise UserError("give exactly one of --predictions FILE, --gold and --null")
    if (asked["generators"] or asked["operators"]) and not asked["patchdiff"]:
        raise UserError("--generators and --operators are options of PatchDiff; add --patchdiff")
    if (rule := asked["rule"]) and (asked["fail_fast"] or asked["patchdiff"] or asked["cause"]):
        raise UserError(f"--rule {rule} judges tests, not fixes; leave out --fail-fast, --patchdiff and --cause")


def show_finished(command: EvaluationCommand, fail_under: float | None, *, as_json: bool) -> None:
    """Show the run that the same command has finished and end, if nothing has changed since."""
    if finished := command.find_finished():
        console.say(f"nothing has changed since {finished[0].root} was finished; --fresh evaluates again")
        end(*finished, fail_under, as_json=as_json)


def end(
    store: RunStore, report: RunReport, verdicts: Sequence[Verdict], fail_under: float | None, *, as_json: bool
) -> NoReturn:
    """Show a run that is finished, and exit."""
    show(store, report, verdicts, as_json=as_json)
    raise typer.Exit(exit_code(report, fail_under))


def suggest(root: Path, instance_id: str) -> list[str]:
    """Return commands that go on: why an instance has its verdict, the run in a browser, and the run for others."""
    why = [f"  assay report show {root} -i {instance_id}   why"] if instance_id else []
    return [*why, f"  assay view {root}   in a browser", f"  assay report export {root} --help   for others"]


def exit_code(report: RunReport, fail_under: float | None) -> int:
    if report.infra_failure_instances:
        return exits.INFRASTRUCTURE
    if not report.submitted_instances:
        return 0  # an empty shard
    rate = 100 * report.resolved_instances / report.submitted_instances
    if fail_under is not None and rate < fail_under:
        return exits.BELOW_THRESHOLD
    return 0
