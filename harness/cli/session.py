"""One run from the command line: plans, runs, saves and shows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from assay import __version__
from assay.harness.cli import console, exits
from assay.harness.cli.options import EnvironmentChoice
from assay.harness.cli.workbench import Workbench, describe_run, make_runner, make_tasks, open_workbench
from assay.harness.domain import Instance, Prediction, Verdict
from assay.harness.errors import UserError
from assay.harness.evaluate import Task
from assay.harness.run import Runner
from assay.harness.store import RunStore
from assay.harness.summary.report import RunReport, build_report

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

    @property
    def store(self) -> RunStore:
        """The run directory; raises UserError for a name that would leave the runs folder."""
        if self.run_id in {"", ".", ".."} or "/" in self.run_id or self.run_id.startswith("."):
            raise UserError(f"--run-id {self.run_id!r} cannot be the name of a folder")
        return RunStore(self.runs_dir / self.run_id)

    def run(
        self, pairs: Sequence[Pair], instance_ids: Sequence[str], *, runs_empty: bool = False
    ) -> tuple[RunReport, list[Verdict]]:
        """Evaluate the pairs, save everything and return the report and the verdicts."""
        store = self.store
        with store.locked(), console.progress(len(pairs), self.run_id) as (progress, note):
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
            verdicts = self._execute(runner, tasks)
            report = self._report(verdicts, instance_ids, tasks)
            store.save_report(report, verdicts)
        return report, verdicts

    def _execute(self, runner: Runner, tasks: Sequence[Task]) -> list[Verdict]:
        try:
            return runner.execute(tasks)
        except KeyboardInterrupt:
            console.say("interrupted; what is finished is saved, the same command goes on from there")
            raise typer.Exit(exits.INTERRUPTED) from None

    def _start(self, store: RunStore, bench: Workbench, tasks: Sequence[Task]) -> None:
        for name in bench.engine.reap():
            console.say(f"removed {name}, left behind by a process that is gone")
        settings = {
            "executor": self.executor,
            "jobs": str(self.jobs),
            "timeout": str(self.timeout or "as planned"),
        }
        store.save_run(describe_run(self.run_id, tasks, bench, **settings), [task.prediction for task in tasks])

    def _report(self, verdicts: Sequence[Verdict], ids: Sequence[str], tasks: Sequence[Task]) -> RunReport:
        models = sorted({task.prediction.model for task in tasks})
        return build_report(
            verdicts,
            ids,
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
        print(sum_line(report), f"· {self.runs_dir / self.run_id}")


def sum_line(report: RunReport) -> str:
    """Return a run's figures in one line."""
    others = {name: n for name, n in report.outcome_counts.items() if name not in {"resolved"}}
    rest = "".join(f", {n} {name}" for name, n in sorted(others.items()))
    return f"{report.resolved_instances} of {report.submitted_instances} resolved{rest}"
