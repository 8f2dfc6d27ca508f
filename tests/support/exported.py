"""Evaluations for tests of exports, graded without an engine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.harness.domain import Apply, ApplyStatus, Channel, Evidence, FailedPart, Instance, Status, TestReport
from assay.harness.exports.base import RunToExport
from assay.harness.grading.grade import grade
from assay.harness.runs.report import Graded
from toy import FIXED, KEPT, make_instance

Made = Callable[..., RunToExport]
"""The fixture ``make_run`` of the tests of exports."""


def graded(instance: Instance, tests: dict[str, Status], **changes: Any) -> Graded:
    """Grade an instance from the statuses of its tests."""
    fields: dict[str, Any] = {
        "instance_id": instance.id,
        "apply": Apply(status=ApplyStatus.APPLIED),
        "exit_code": int(Status.FAILED in tests.values()),
        "report": TestReport(channel=Channel.REPORT, tests=tests),
    }
    evidence = Evidence.model_validate({**fields, **changes})
    return Graded(instance, evidence, grade(instance, evidence))


def mixed() -> list[Graded]:
    """Return evaluations a-1 to a-6: resolved, unresolved, empty, timed out, no engine, no environment."""
    passed, failed = Status.PASSED, Status.FAILED
    untouched = {"report": TestReport(), "exit_code": None, "engine": "docker"}
    empty = Apply(status=ApplyStatus.EMPTY)
    kinds: list[tuple[dict[str, Status], dict[str, Any]]] = [
        ({FIXED: passed, KEPT: passed}, {"engine": "docker", "image": "assay/calc", "environment": "recipe"}),
        ({FIXED: failed, KEPT: passed}, {"flags": ("read_from_log",)}),
        ({}, {**untouched, "apply": empty}),
        ({}, {**untouched, "timed_out": True}),
        ({}, {**untouched, "failed_part": FailedPart.INFRASTRUCTURE, "error": "the engine\nis gone"}),
        ({}, {**untouched, "failed_part": FailedPart.ENVIRONMENT, "error": "no image"}),
    ]
    return [
        graded(make_instance(id=f"a-{number}"), tests, **changes)
        for number, (tests, changes) in enumerate(kinds, start=1)
    ]


def trajectories(folder: Path) -> dict[str, Path]:
    """Write what a solver of Assay leaves of a-1, and another agent of a-2."""
    steps: list[dict[str, Any]] = [
        {"step_id": 1, "timestamp": "2026-11-23T00:00:00+00:00", "source": "system", "message": "You fix issues."},
        {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "add subtracts"}]},
        {
            "step_id": 3,
            "timestamp": "2026-11-23T00:00:05+00:00",
            "source": "agent",
            "message": "I look.",
            "reasoning_content": "Where is it?",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}}],
            "observation": {"results": [{"source_call_id": "c1", "content": "calc.py <script>"}]},
            "metrics": {"prompt_tokens": 10, "completion_tokens": 4},
            "llm_call_count": 1,
        },
    ]
    totals = {"total_prompt_tokens": 10, "total_completion_tokens": 4, "total_cached_tokens": 3, "total_cost_usd": 0.5}
    agent = {"name": "bash_loop", "version": "1", "model_name": "org/m-1"}
    document = {"schema_version": "ATIF-v1.8", "agent": agent, "steps": steps, "final_metrics": totals}
    solution = {"status": "limit_cost", "usage": {"seconds": 7.5}}
    budget = {"llm": {"cost": None, "tokens": 2000, "calls": None, "seconds": None}, "steps": 5}
    own = folder / "solved/instances/a-1/0"
    own.mkdir(parents=True)
    (own / "trajectory.json").write_text(json.dumps(document))
    (own / "solution.json").write_text(json.dumps({"key": "k", "budget": budget, "solution": solution}))
    (folder / "a-2.md").write_text("# How it went\n")
    return {"a-1": own / "trajectory.json", "a-2": folder / "a-2.md"}
