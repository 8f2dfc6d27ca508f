"""Line coverage of each test, by a tracer that runs in the workspace. Python only."""

import shlex
from collections.abc import Sequence
from importlib import resources
from typing import Annotated

from pydantic import Field, ValidationError

from assay.agents.contract import Workspace
from assay.agents.solvers.ast_search.programs.trace_lines import MARK
from assay.agents.solvers.ast_search.spectrum import TracedTest
from assay.harness.domain import Model

LANGUAGES = frozenset({"python"})  # languages whose tests can be traced
PYTHON = "$(command -v python || command -v python3)"  # shell text for the workspace's interpreter
OUTPUT = 64 * 1024 * 1024  # bytes of the tracer's output that are read


Line = Annotated[int, Field(ge=1, le=1_000_000)]


class TestLines(Model):
    """Lines of one test, as the tracer reports them."""

    name: str
    failed: bool
    lines: dict[str, tuple[tuple[Line, Line], ...]]
    """Path to pairs of first and last line."""


class TracerReport(Model):
    """The tracer's output."""

    tests: tuple[TestLines, ...] = Field(default=())


def trace_script(workspace: Workspace, path: str, seconds: float) -> list[TracedTest]:
    """Run a file as a program and return the lines that it executed; empty if the tracer failed."""
    return _trace(workspace, "script", [path], seconds)


def trace_tests(workspace: Workspace, paths: Sequence[str], seconds: float) -> list[TracedTest]:
    """Run test files and return the lines that each test executed; tests after ``seconds`` are missing."""
    return _trace(workspace, "tests", paths, seconds) if paths else []


def _trace(workspace: Workspace, mode: str, paths: Sequence[str], seconds: float) -> list[TracedTest]:
    program = resources.files("assay.agents.solvers.ast_search.programs").joinpath("trace_lines.py").read_bytes()
    arguments = shlex.join([mode, f"{seconds * 0.8:.1f}", *paths])
    done = workspace.exec(f"exec {PYTHON} - {arguments}", seconds=seconds, stdin=program, output_bytes=OUTPUT)
    line = next((each for each in reversed(done.output.split("\n")) if each.startswith(MARK)), "")
    if done.truncated or not line:
        return []
    try:
        report = TracerReport.model_validate_json(line.removeprefix(MARK))
    except ValidationError:  # the tests ran in the same process and may have written anything
        return []
    return [_run(test) for test in report.tests]


def _run(test: TestLines) -> TracedTest:
    lines = {
        path: frozenset(line for first, last in pairs for line in range(first, last + 1))
        for path, pairs in test.lines.items()
    }
    return TracedTest(test.name, test.failed, lines)
