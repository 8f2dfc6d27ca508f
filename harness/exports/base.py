"""The Protocol of exports, and what they are given."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from assay.harness.domain import Prediction
from assay.harness.errors import UserError
from assay.harness.exports.metadata import SubmissionMetadata
from assay.harness.redaction import Redaction
from assay.harness.runs.manifest import Run
from assay.harness.runs.report import Graded, RunReport
from assay.harness.runs.store import RunStore


@dataclass(frozen=True, slots=True)
class TrainingChoice:
    """The rows that a model may learn from."""

    reproaches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is known against a pass besides its flags, by instance id."""
    allowed: frozenset[str] = frozenset()
    """Flags with which a pass is still one."""
    difficulties: frozenset[str] = frozenset()
    """Values of the rows' own column ``difficulty``; all if empty."""


@dataclass(frozen=True)
class RunToExport:
    """A run as exports read it. Nothing is read before it is asked for, and evidence one instance at a time."""

    store: RunStore
    metadata: SubmissionMetadata = field(default_factory=SubmissionMetadata)
    trajectories: Mapping[str, Path] = field(default_factory=dict)
    """The file with an instance's trajectory (Assay's own are ATIF), by instance id."""
    choice: TrainingChoice = field(default_factory=TrainingChoice)
    progress: Callable[[str], None] = lambda _name: None
    """Called with the id of each instance whose evaluation is read."""
    redaction: Redaction = field(default_factory=Redaction)
    """A secret that stands in a patch or in the name of a test stays in every file."""

    @cached_property
    def manifest(self) -> Run:
        return self.store.load_run()

    @cached_property
    def report(self) -> RunReport:
        return self.store.report()

    @cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """What was evaluated, in the order of the predictions file."""
        found = self.store.load_predictions()
        for each in found:
            self.redaction.leave(each.patch)
        return found

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Instances that the run was asked for and that have no prediction, sorted."""
        return tuple(sorted({*self.manifest.instance_ids} - {each.instance_id for each in self.predictions}))

    def evaluations(self) -> Iterator[Graded]:
        """Yield every evaluation in the order of the predictions; raises UserError if evidence is missing."""
        for saved in self.store.load_verdicts():
            name = saved.verdict.instance_id
            instance, evidence = self.store.load_instance(name), self.store.load_evidence(name)
            if instance is None or evidence is None:
                raise UserError(f"{self.store.root}: the evidence of {name} is missing; evaluate it again")
            self.redaction.leave_folder(instance.repo.rpartition("/")[2])
            for test in (*instance.fail_to_pass, *instance.pass_to_pass, *evidence.report.tests):
                self.redaction.leave(test)
            yield Graded(instance, evidence, saved.verdict)
            self.progress(name)

    def output(self, instance_id: str) -> bytes:
        """Return the output of the test command; empty if the tests did not run."""
        return self._file(instance_id, "test_output.txt")

    def patch(self, instance_id: str) -> bytes:
        """Return the patch as it was applied; empty if none was."""
        return self._file(instance_id, "patch.diff")

    def make_id(self, part: str = "") -> str:
        """Return an id that is the same in every export of the same run."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"assay:{self.manifest.id}:{self.manifest.started}:{part}"))

    def _file(self, instance_id: str, name: str) -> bytes:
        return self.store.evaluations.file(instance_id, name) or b""


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason why the receiver of an export would refuse it, or count it wrong."""

    file: str
    field: str
    """Key, column or instance id in that file; empty if the problem is the whole file's."""
    remedy: str
    """What is wrong, and what to do."""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.field, self.remedy) if part)


class ExportFormat(Protocol):
    """Other people's files: a module with these members, listed in ``FORMATS``."""

    NAME: str
    """What ``--format`` calls it."""
    LEADERBOARD: bool
    """Whether its files are for a ranking; no run that was given parts of the answer is written then."""
    REQUIRED: tuple[str, ...]
    """Fields of ``SubmissionMetadata`` that a person has to give."""

    def files(self, run: RunToExport, /) -> Iterator[tuple[str, bytes]]:
        """Yield the path, relative and with slashes, and the content of each file; raises UserError if it cannot."""
        ...

    def check(self, folder: Path, /) -> Iterator[Problem]:
        """Yield the complaints of the receiver's own tools about such a folder; raises DataError if unreadable."""
        ...
