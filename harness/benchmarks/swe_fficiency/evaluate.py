"""Evaluating a patch that has to make a workload faster (SWE-fficiency): its tests first, then times.

Each time is of a process of its own in a container of its own, so that no cache outlives it. The base tree, the patch,
the gold patch and the base tree again take turns on one processor. Root's clock takes the time, outside of the process.
"""

import json
import os
import secrets
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import geometric_mean

from assay.harness.benchmarks.swe_fficiency import workload_driver
from assay.harness.benchmarks.swe_fficiency.rule import find_noise, judge
from assay.harness.benchmarks.swe_fficiency.workload import Workload, read_workload
from assay.harness.benchmarks.swe_fficiency.workload_driver import DONE, RESULTS, TIMED
from assay.harness.domain import FailedPart, Outcome, Prediction, TestedTree, WorkloadRun
from assay.harness.engines.base import Engine
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.evaluation.protection import ROOT
from assay.harness.evaluation.supervising import BEGAN, ENDED, PIPE

ROUNDS, MOST_ROUNDS = 7, 35
TURNS = (TestedTree.BASE, TestedTree.CANDIDATE, TestedTree.GOLD, TestedTree.BASE_AGAIN)
PYTHON = "/opt/venv/bin/python"
ALONE = threading.Lock()  # held while times are taken: no two measurements of a process run at once


def evaluate_speed(task: Task, image: str, engine: Engine, labels: Mapping[str, str] | None = None) -> Evaluation:
    """Run a patch's tests and, if they are as they should be, time the workload."""
    tested = evaluate(task, image, engine, labels)
    evidence = tested.evidence
    if judge(task.instance, evidence).outcome is not Outcome.INFRA_ERROR or evidence.failed_part is not FailedPart.NONE:
        return tested
    programs = (task.instance.workload, *task.instance.other_workloads)
    timing = _make_timing_task(task, [read_workload(each) for each in programs])
    with ALONE:
        runs = take_turns(lambda tree: _run_workload(timing, tree, image, engine, labels or {}))
    return replace(tested, evidence=tested.evidence.model_copy(update={"workload": runs}))


def take_turns(run: Callable[[TestedTree], WorkloadRun]) -> dict[TestedTree, tuple[WorkloadRun, ...]]:
    """Run the workload in each tree in turn, in further rounds while the base tree differs from itself.

    Nothing else decides on a round. Base's time is in every speed-up: rounds until gold shows one would wait for slow
    runs of base, which make any patch look fast. A run with a problem ends them.
    """
    runs: dict[TestedTree, tuple[WorkloadRun, ...]] = dict.fromkeys(TURNS, ())
    for number in range(1, MOST_ROUNDS + 1):
        for tree in TURNS:
            runs[tree] += (run(tree),)
            if runs[tree][-1].problem:
                return runs
        if number >= ROUNDS and not find_noise(runs):
            break
    return runs


def _make_timing_task(task: Task, workloads: Sequence[Workload]) -> Task:
    folder = f".assay-{secrets.token_hex(8)}"  # in which no patch can put anything
    driver, arguments = f"{folder}/driver.py", [PYTHON, f"{folder}/driver.py", PIPE]
    files = {driver: Path(workload_driver.__file__).read_bytes()}
    for number, each in enumerate(workloads):
        program = f"{folder}/workload_{number}.py"
        files[program] = each.source.encode()
        arguments += (program, each.function, each.setup, str(each.number))
    core = str(max(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ""
    limits = task.plan.limits.model_copy(update={"cores": core})
    plan = task.plan.model_copy(
        update={
            "command": f"exec {shlex.join(arguments)}\n",
            "report_path": PIPE,
            "report_format": "status_json",
            "runner": "",
            "services": (),
            "stamped": True,
            "limits": limits,
        }
    )
    return replace(task, plan=plan, assets=lambda: files, runs_empty=True)


def _run_workload(timing: Task, tree: TestedTree, image: str, engine: Engine, labels: Mapping[str, str]) -> WorkloadRun:
    gold = timing.instance.gold_patch
    patch = {TestedTree.CANDIDATE: timing.prediction.patch, TestedTree.GOLD: gold}.get(tree, "")
    prediction = Prediction(instance_id=timing.instance.id, model=tree, patch=patch)
    done = evaluate(replace(timing, prediction=prediction), image, engine, labels)
    evidence = done.evidence
    if evidence.error or evidence.exit_code is None:
        return WorkloadRun(problem=evidence.error or f"the tree could not be made: {evidence.apply.detail}")
    if evidence.user == ROOT:
        return WorkloadRun(problem="it runs as root, and nobody stands above it to take the time")
    if evidence.timed_out:
        return WorkloadRun(problem="it did not end within the time limit")
    if evidence.exit_code:
        last = done.output.decode(errors="replace").strip().rpartition("\n")[2][:200]
        return WorkloadRun(problem=f"exit status {evidence.exit_code}: {last}")
    programs = 1 + len(timing.instance.other_workloads)
    return read_marks(next(iter(done.report_files.values()), b""), programs)


def read_marks(report: bytes, programs: int = 1) -> WorkloadRun:
    """Read the marks of one run, each with root's time in front.

    Anything but the marks of the driver between root's own is forged: any code of the process can write there.
    """
    lines = [line.partition(" ") for line in report.decode(errors="replace").splitlines()]
    words = [text.partition(" ")[0] for _, _, text in lines]
    if words != [BEGAN, *(TIMED, DONE) * programs, RESULTS, ENDED]:
        return WorkloadRun(problem=f"it left the marks {', '.join(words) or 'of nothing'}"[:200], forged=True)
    try:
        times = [float(time) for time, _, _ in lines]
        results = {str(name): str(value) for name, value in json.loads(lines[-2][2].partition(" ")[2]).items()}
    except (ValueError, AttributeError):
        return WorkloadRun(problem="its marks cannot be read", forged=True)
    if any(later < earlier for earlier, later in pairwise(times)):
        return WorkloadRun(problem="the clock was set while it ran")
    parts = [done - began for began, done in zip(times[1:-2:2], times[2:-2:2], strict=True)]
    seconds = programs * geometric_mean(max(each, 1e-9) for each in parts)
    return WorkloadRun(seconds=seconds, outside=times[-1] - times[0] - sum(parts), results=results)
