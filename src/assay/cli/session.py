"""One run from the command line: plans, runs, saves and shows."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import typer

from assay import __version__
from assay.cli import comparing, console, exits
from assay.cli.comparing import ModelChoice
from assay.cli.options import EnvironmentChoice
from assay.cli.workbench import Workbench, describe_run, make_runner, make_tasks, open_workbench
from assay.harness.domain import Instance, Prediction, Verdict
from assay.harness.errors import UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.grading.validate import unfit_reason
from assay.harness.patchdiff.contract import Settings
from assay.harness.runs.patchdiff_figures import PatchDiffFigures, patchdiff_figures
from assay.harness.runs.report import RunReport, build_report
from assay.harness.runs.rerun import rerun, suspects, with_flaky
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore

Result = TypeVar("Result")
CONTROLS = ("gold", "null")
Pair = tuple[Instance, Prediction]


@dataclass(frozen=True, slots=True)
class Session:
    """The settings of a run; ``run`` does it and ``show`` prints what came out."""

    run_id: str
    runs_dir: Path
    engine: str = "docker"
    executor: str = "threads"
    jobs: int = 1
    timeout: int | None = None
    mirrors: tuple[Path, ...] = ()
    recipes: tuple[Path, ...] = ()
    environment: EnvironmentChoice = EnvironmentChoice.AUTO
    fresh: bool = False
    alone: bool = False
    """Take no verdict over from other runs, for repetitions of the same evaluation."""
    rerun_failed: int = 0
    """How often an unresolved evaluation is repeated at most, to find flaky tests."""
    controls: bool = False
    """Evaluate each instance with its gold patch and without any, too."""
    patchdiff: Settings | None = None
    """Compare what is resolved with the gold patches."""
    model: ModelChoice | None = None
    """Whom generators that need a language model ask."""
    oracle: str = ""
    """What the solver of these patches was told of the answer; such a run is exported to no leaderboard."""

    @property
    def store(self) -> RunStore:
        """The run directory; raises UserError for a name that would leave the runs folder."""
        if self.run_id in {"", ".", ".."} or "/" in self.run_id or self.run_id.startswith("."):
            raise UserError(f"--run-id {self.run_id!r} cannot be the name of a folder")
        return RunStore(self.runs_dir / self.run_id, alone=self.alone)

    def run(
        self, pairs: Sequence[Pair], instance_ids: Sequence[str], *, runs_empty: bool = False
    ) -> tuple[RunReport, list[Verdict]]:
        """Evaluate the pairs, save everything and return the report and the verdicts."""
        store = self.store
        with store.locked():
            with console.progress(len(pairs), self.run_id) as (progress, note):
                bench = open_workbench(
                    self.engine,
                    [instance for instance, _ in pairs],
                    mirrors=self.mirrors,
                    recipes=self.recipes,
                    environment=self.environment,
                    note=note,
                )
                settled = [(bench.settle(instance), prediction) for instance, prediction in pairs]
                tasks = make_tasks(bench, settled, timeout=self.timeout, runs_empty=runs_empty)
                self._start(store, bench, tasks)
                runner = make_runner(
                    bench, store, executor=self.executor, jobs=self.jobs, fresh=self.fresh, progress=progress
                )
                verdicts = until_interrupt(partial(runner.execute, tasks))
            verdicts = self._rerun_failed(runner, tasks, verdicts)
            unfit = self._unfit(pairs) if self.controls else None
            report = self._report(verdicts, instance_ids, tasks, unfit)
            if self.patchdiff is not None:
                report = report.model_copy(update={"patchdiff": self._compare(bench, runner, tasks, verdicts)})
            store.save_report(report, verdicts)
        return report, verdicts

    def _rerun_failed(self, runner: Runner, tasks: Sequence[Task], verdicts: list[Verdict]) -> list[Verdict]:
        for number in range(1, self.rerun_failed + 1):
            pending = suspects(tasks, verdicts)
            if not pending:
                break
            with console.progress(len(pending), f"re-run {number}") as (progress, _):
                until_interrupt(partial(rerun, runner, pending, number, progress))
            verdicts = with_flaky(runner.store, tasks, verdicts)
        return verdicts

    def _compare(
        self, bench: Workbench, runner: Runner, tasks: Sequence[Task], verdicts: Sequence[Verdict]
    ) -> PatchDiffFigures:
        """Compare the resolved patches with gold; what was compared before is taken from there."""
        resolved = [task for task, verdict in zip(tasks, verdicts, strict=True) if verdict.resolved]
        comparer = comparing.make_patchdiff_runner(bench, runner, self.patchdiff, self.model)
        with comparing.watched(comparer, len(resolved)) as comparer:
            comparisons = until_interrupt(partial(comparer.execute, resolved))
        return patchdiff_figures(comparisons, len(tasks))

    def _unfit(self, pairs: Sequence[Pair]) -> dict[str, str]:
        """Run both controls, each as a run of its own beside this one, and say which instances fail them and why."""
        instances = [instance for instance, _ in pairs]
        found: dict[str, list[Verdict]] = {}
        for model in CONTROLS:
            run_id = f"{self.run_id}.control-{model}"
            session = replace(self, run_id=run_id, fresh=False, rerun_failed=0, controls=False, patchdiff=None)
            _, found[model] = session.run_control(instances, model)
        reasons = [unfit_reason(*both) for both in zip(*found.values(), strict=True)]
        return {instance.id: reason for instance, reason in zip(instances, reasons, strict=True) if reason}

    def run_control(self, instances: Sequence[Instance], model: str) -> tuple[RunReport, list[Verdict]]:
        """Evaluate instances with their own patch (``gold``) or without any (``null``)."""
        pairs = control_pairs(instances, model)
        return self.run(pairs, [instance.id for instance in instances], runs_empty=model == "null")

    def _start(self, store: RunStore, bench: Workbench, tasks: Sequence[Task]) -> None:
        for name in bench.engine.reap():
            console.say(f"removed {name}, left behind by a process that is gone")
        settings = {
            "executor": self.executor,
            "jobs": str(self.jobs),
            "timeout": str(self.timeout or "as planned"),
            "rerun_failed": str(self.rerun_failed),
            "controls": "yes" if self.controls else "no",
            "patchdiff": ",".join(self.patchdiff.generators) if self.patchdiff else "no",
            **({"oracle": self.oracle} if self.oracle else {}),
        }
        store.save_run(describe_run(self.run_id, tasks, bench, **settings), [task.prediction for task in tasks])

    def _report(
        self,
        verdicts: Sequence[Verdict],
        ids: Sequence[str],
        tasks: Sequence[Task],
        unfit: Mapping[str, str] | None,
    ) -> RunReport:
        models = sorted({task.prediction.model for task in tasks})
        return build_report(
            verdicts,
            ids,
            unfit=unfit,
            run_id=self.run_id,
            dataset=tasks[0].instance.dataset.name,
            model=", ".join(models),
            assay_version=__version__,
        )

    def show(self, report: RunReport, verdicts: Sequence[Verdict], *, as_json: bool) -> None:
        """Print the table of verdicts and the sum, or the report as JSON."""
        if as_json:
            console.print_json(json.dumps(report.model_dump(mode="json")))
            return
        saved = (self.store.load_verdict(verdict.instance_id) for verdict in verdicts)
        seconds = {entry.verdict.instance_id: entry.seconds for entry in saved if entry is not None}
        console.print_verdicts(verdicts, seconds)
        console.print_doubts(verdicts, report.unfit_reasons or {})
        if report.patchdiff is not None:
            comparing.show(self.store, report)
        print(sum_line(report), f"· {self.runs_dir / self.run_id}")


def until_interrupt(work: Callable[[], Result]) -> Result:
    """Return what the work returns; raises typer.Exit, having said how to go on, when it is told to stop."""
    try:
        return work()
    except KeyboardInterrupt:
        exits.ignore_signals()
        console.say("interrupted; what is finished is saved, the same command goes on from there")
        raise typer.Exit(exits.INTERRUPTED) from None


def run_name(dataset: str, *others: str) -> str:
    """Name a run's folder after what tells the run from others, so that the same command finds its own run again.

    Args:
        dataset: name or path of the data set; a path may end in dots.
        others: such as the model.
    """
    path = Path(dataset)
    named = path if path.name.strip(".") else path.resolve()
    return ".".join(re.sub(r"[^A-Za-z0-9_-]+", "_", part).strip("_") for part in (named.stem or "dataset", *others))


def sum_line(report: RunReport) -> str:
    """Return a run's figures in one line; with controls, both denominators."""
    others = {name: n for name, n in report.outcome_counts.items() if name not in {"resolved"}}
    rest = "".join(f", {n} {name}" for name, n in sorted(others.items()))
    flaky = f" ({len(report.flaky_ids)} flaky)" if report.flaky_ids else ""
    line = f"{report.resolved_instances} of {report.submitted_instances} resolved{rest}{flaky}"
    if report.operational_instances is None:
        return line
    fit = f"{report.operational_resolved_instances} of {report.operational_instances}"
    return f"{line}; operational: {fit} ({len(report.unfit_ids)} unfit left out)"


def control_pairs(instances: Sequence[Instance], model: str) -> list[Pair]:
    """Pair instances with their own patch (``gold``) or with none (``null``)."""
    return [
        (each, Prediction(instance_id=each.id, model=model, patch=each.gold_patch if model == "gold" else ""))
        for each in instances
    ]
