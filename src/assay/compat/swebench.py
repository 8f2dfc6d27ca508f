"""SWE-bench's evaluation: verdicts of Assay's as the logs and the report of swebench 5.

    logs/run_evaluation/<run id>/run.json
    logs/run_evaluation/<run id>/<model>/<id>/{patch.diff, eval.sh, test_output.txt, report.json, run_instance.log}
    <report folder>/<model>.<run id>.json

As there, an empty patch has no folder, and what could not be tested has no report.json.
``python -m assay.compat.swebench`` is ``assay swebench run_evaluation``.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay.harness.domain import INFRASTRUCTURE, ApplyStatus, Instance, Outcome, Prediction, PublishedImage
from assay.harness.errors import UserError
from assay.harness.exports.base import RunToExport
from assay.harness.exports.submission import json_text
from assay.harness.exports.swebench import OWN, flatten_name, instance_files
from assay.harness.files import write_file
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.regrade import regrade_run
from assay.harness.runs.report import Graded, RunReport, build_report
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace

NAMES = {"swebench": "full", "swebenchlite": "lite"}
"""Names of data sets that only swebench knows, in lower case and without dashes, and Assay's."""
HEAD, END = ["#!/bin/bash", "set -uxo pipefail"], ">>>>> End Test Output"
STATUS = "SWEBENCH_TEST_EXIT_CODE"


@dataclass(frozen=True)
class SwebenchRun:
    """One call of the evaluation; ``evaluate``, then ``write_report``."""

    run_id: str
    instances: Sequence[Instance]
    """The instances that were asked for, with a prediction or without."""
    predictions: Sequence[Prediction]
    """All of the file; those of other instances are submitted, and not evaluated."""
    runs_dir: Path
    place: Workplace

    @property
    def logs(self) -> Path:
        if flatten_name(self.run_id) != self.run_id:
            raise UserError(f"--run_id {self.run_id!r} cannot be the name of a folder")
        return Path("logs/run_evaluation", self.run_id)

    @property
    def run(self) -> EvaluationRun:
        """The run that keeps the evidence; the report has its name."""
        kind = RunKind.CONTROL if {each.model for each in self.predictions} == {"gold"} else RunKind.EVALUATE
        name = f"{_name_model(self.predictions[0])}.{self.run_id}"
        return EvaluationRun(name, self.runs_dir, self.place, kind=kind)

    def evaluate(self, *, regrades: bool = False) -> RunReport:
        """Evaluate, or grade saved evidence again, and write the logs; raises what ``EvaluationRun.evaluate`` does."""
        run, known = self.run, {each.id.lower(): each for each in self.instances}
        pairs = [(known[name], each) for each in self.predictions if (name := each.instance_id.lower()) in known]
        folders = {each.id: self.logs / _name_model(given) / each.id for each, given in pairs}
        if not run.store.root.exists() and (regrades or any(each.exists() for each in folders.values())):
            remedy = f"choose another --run_id, or: assay report regrade {self.logs} --dataset ROWS -p PREDICTIONS"
            raise UserError(f"there is no evidence of {self.logs} in {run.store.root}; {remedy}")
        if not pairs:
            return build_report((), [each.id for each in self.instances])
        if regrades:
            with run.store.lock():
                report = regrade_run(run.store).report
        else:
            report, _ = run.evaluate(pairs, [each.id for each in self.instances])
        exported, patches = RunToExport(run.store), {each.id: given.patch for each, given in pairs}
        for each in exported.evaluations():
            name = each.instance.id
            if name in folders and each.verdict.outcome is not Outcome.EMPTY_PATCH:
                _write_logs(exported, each, folders[name], patches[name], known[name.lower()])
        return report

    def write_report(self, report: RunReport, folder: Path, dataset: str, split: str) -> Path:
        """Write the run report, schema 2, and beside the logs by which rows they are graded.

        The report names the rows' images that the engine has. No container of Assay's is ever left.
        """
        about = {"dataset": dataset, "split": split, "task_repo": None}
        about["created_at"] = datetime.now(UTC).isoformat(timespec="seconds")
        write_file(self.logs / "run.json", json_text(about))
        names = sorted(each.instance_id for each in self.predictions)
        fields = report.model_dump(mode="json", include={*OWN})
        fields |= {"submitted_instances": len(names), "submitted_ids": names}
        there = {each.name for each in self.place.images.engine.list_images()} if self.place.images else set()
        images = {each.environment.image for each in self.instances if isinstance(each.environment, PublishedImage)}
        fields |= {"unstopped_instances": 0, "unstopped_containers": [], "unremoved_images": sorted(images & there)}
        path = folder / f"{self.run.run_id}.json"
        write_file(path, json_text(fields))
        return path


def _name_model(prediction: Prediction) -> str:
    return flatten_name(prediction.model or "None")


def _write_logs(run: RunToExport, graded: Graded, folder: Path, patch: str, row: Instance) -> None:
    files = dict(instance_files(run, graded, str(folder)))
    files[f"{folder}/patch.diff"] = patch.encode(errors="replace")
    if graded.verdict.outcome in INFRASTRUCTURE:
        files.pop(f"{folder}/report.json", None)
    if graded.evidence.apply.status is not ApplyStatus.APPLIED:  # the output is git's
        files.pop(f"{folder}/test_output.txt", None)
    elif isinstance(row.environment, PublishedImage):
        files[f"{folder}/eval.sh"] = make_script(row.environment.eval_script).encode()
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        write_file(Path(name), content)


def make_script(script: str) -> str:
    """Return a row's script as swebench 5 runs it: it also prints the exit status of the tests."""
    lines = [line for line in script.strip().split("\n") if line not in HEAD]
    end = next((number for number, line in enumerate(lines) if END in line), None)
    if end is not None:
        lines[end : end + 1] = [f"{STATUS}=$?", lines[end], f'echo ">>>>> Test Exit Code: ${STATUS}"']
    return "\n".join([*HEAD, *lines]) + "\n"


if __name__ == "__main__":
    os.execv(sys.executable, [sys.executable, "-m", "assay", "swebench", "run_evaluation", *sys.argv[1:]])
