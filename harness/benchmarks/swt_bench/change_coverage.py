"""How much of the gold patch's change some tests run, line by line; for Python, and no part of a verdict."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.harness.benchmarks.swt_bench import line_counter
from assay.harness.domain import TestedTree, TestPlan
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.patches.diff import read_diff

FOLDER = ".assay-lines"
OUT = "/tmp/assay-report"
COVERAGE, MORE = "change_coverage", "change_coverage_delta"
"""Measures: the share of the change's lines that run, and that run more often than without the test patch."""
LANGUAGE = "python"

Line = tuple[str, int]
Run = Callable[[TestedTree, Task], Evaluation | None]  # runs a task in a tree; None if it could not be run


@dataclass(frozen=True, slots=True)
class Ran:
    """Which lines can run, and how often each did."""

    can_run: frozenset[Line] = frozenset()
    counts: Mapping[Line, int] = field(default_factory=dict)


def change_coverage(task: Task, run: Run) -> dict[str, float]:
    """Measure the share of the gold patch's change that tests run; nothing where no line can run or was counted."""
    sides = {
        TestedTree.BASE: (TestedTree.BASE_ALONE, _find_lines(task.instance.gold_patch, "-")),
        TestedTree.GOLD: (TestedTree.GOLD_ALONE, _find_lines(task.instance.gold_patch, "+")),
    }
    total = ran = more = 0
    for tree, (alone, changed) in sides.items():
        if task.instance.language != LANGUAGE or not changed:
            continue
        now = _read_counts(run(tree, _make_counting_task(task, task.plan, changed)))
        before = _read_counts(run(alone, _make_counting_task(task, task.beside, changed))) if task.beside else Ran()
        possible = changed & now.can_run
        total += len(possible)
        ran += sum(now.counts.get(line, 0) > 0 for line in possible)
        more += sum(now.counts.get(line, 0) > before.counts.get(line, 0) for line in possible)
    return {COVERAGE: round(ran / total, 4), MORE: round(more / total, 4)} if total else {}


def _find_lines(patch: str, mark: str) -> frozenset[Line]:
    """Return the lines of Python that a patch removes (``-``; old numbers) or adds (``+``; new ones)."""
    found = set[Line]()
    for change in read_diff(patch):
        path = change.old if mark == "-" else change.new
        for hunk in change.hunks if path and path.endswith(".py") else ():
            number = hunk.start if mark == "-" else hunk.new_start
            for line in hunk.lines:
                if line.mark == mark and path:
                    found.add((path, number))
                number += line.mark in {" ", mark}
    return frozenset(found)


def _make_counting_task(task: Task, plan: TestPlan, changed: frozenset[Line]) -> Task:
    files = sorted({path for path, _ in changed})
    paths = (f"{plan.workdir}/{FOLDER}", plan.env.get("PYTHONPATH", ""))
    env = {
        **plan.env,
        "PYTHONPATH": ":".join(filter(None, paths)),
        line_counter.FILES: ":".join(files),
        line_counter.OUT: OUT,
    }
    command = f"mkdir -p {OUT}\n(\n{plan.command}\n)\nexit 0\n"
    bare = {"command": command, "report_path": OUT, "report_format": "status_json", "runner": "", "env": env}
    counter = {f"{FOLDER}/sitecustomize.py": Path(line_counter.__file__).read_bytes()}
    return replace(task, plan=plan.model_copy(update=bare), assets=lambda: counter)


def _read_counts(evaluation: Evaluation | None) -> Ran:
    can_run, counts = set[Line](), Counter[Line]()
    for content in (evaluation.report_files if evaluation else {}).values():
        try:
            report = json.loads(content)
            for path, each in report.items():
                can_run |= {(path, int(number)) for number in each["can_run"]}
                counts.update({(path, int(number)): int(times) for number, times in each["ran"].items()})
        except (ValueError, KeyError, TypeError, AttributeError):  # a process that was killed, or a test's own file
            continue
    return Ran(frozenset(can_run), counts)
