"""Which lines tests run through: a tracer of our own, run in the workspace. Python only, so far."""

import shlex
from collections.abc import Sequence
from importlib import resources
from typing import Annotated

from pydantic import Field, ValidationError

from assay.agents.contract import Workspace
from assay.agents.solvers.ast_search.programs.trace_lines import MARK
from assay.agents.solvers.ast_search.spectrum import TracedTest
from assay.harness.domain import Model

LANGUAGES = frozenset({"python"})
"""Those whose tests can be traced."""
PYTHON = "$(command -v python || command -v python3)"
"""The interpreter of the workspace."""
OUTPUT = 64 * 1024 * 1024
"""Bytes of coverage that are read."""


Line = Annotated[int, Field(ge=1, le=1_000_000)]


class TestLines(Model):
    """What a test ran through, as the tracer tells it."""

    name: str
    failed: bool
    lines: dict[str, tuple[tuple[Line, Line], ...]]
    """Path to pairs of first and last line."""


class TracerReport(Model):
    """What the tracer prints."""

    tests: tuple[TestLines, ...] = Field(default=())


def trace_script(workspace: Workspace, path: str, seconds: float) -> list[TracedTest]:
    """Run a file of the tree as a program and return what it ran through; nothing if that cannot be told.

    Args:
        workspace: where it lies.
        path: of the file.
        seconds: after which it is killed.
    """
    return _trace(workspace, "script", [path], seconds)


def trace_tests(workspace: Workspace, paths: Sequence[str], seconds: float) -> list[TracedTest]:
    """Run files of tests that the tree holds and return what each test ran through, as far as the time reaches."""
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
