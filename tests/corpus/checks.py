"""What is looked at beyond the verdict: closer looks at cases, and the scenes that are whole cases by themselves."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Channel, Instance
from assay.harness.engines.docker import DockerEngine
from assay.harness.patches.diff import MalformedPatchError
from assay.harness.patches.gate import gate
from corpus.model import Case, Project
from corpus.stage import Place, Played


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scene has at hand; ``run`` is the one folder it may write to, not made yet."""

    case: Case
    project: Project
    instance: Instance
    """For engines without containers."""
    run: Path
    docker: DockerEngine | None = None
    prepare: Callable[[str, str], Place] | None = None
    mirror: Path | None = None

    @property
    def engine(self) -> DockerEngine:
        """The real engine, which a case with ``engine: docker`` has."""
        assert self.docker is not None
        return self.docker

    def place(self) -> Place:
        """Return the case's instance, ready to be played on the real engine."""
        assert self.prepare is not None
        return self.prepare(self.case.language, self.case.instance)


def forged_lines_are_in_the_output(played: Played) -> None:
    assert b"PASSED tests/test_calc.py::test_add" in played.output, "the attack did not reach the stream"
    assert played.evidence.report.channel is Channel.REPORT


def gate_is_quick(played: Played) -> None:
    text = next(played.root.glob("instances/*/patch.diff")).read_text()
    began = time.process_time()
    with pytest.raises(MalformedPatchError):
        gate(text)
    assert time.process_time() - began < 5


CHECKS: dict[str, Callable[[Played], Any]] = {
    each.__name__: each for each in (forged_lines_are_in_the_output, gate_is_quick)
}
