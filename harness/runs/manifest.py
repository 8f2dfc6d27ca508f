"""The manifest of a run: what it is, what it was given, and whether another command may resume it."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from assay.harness.domain import DatasetRef, Environment, Model
from assay.harness.errors import UserError
from assay.harness.runs.shards import Shard


class RunKind(StrEnum):
    """The command that a run's folder belongs to."""

    UNKNOWN = ""
    """Not recorded; any command but a solver's may resume it."""
    EVALUATE = "evaluate"
    CONTROL = "control"
    """Gold patches, or none."""
    SOLVE = "solve"
    EVALUATE_SOLVED = "evaluate-solved"
    """The patches of the solver's run beside it."""
    VALIDATE = "validate"
    AUDIT = "audit"
    DEMO = "demo"
    SERVE = "serve"
    """Patches that clients sent to a service."""
    REGRADE = "regrade"
    """Logs that were made elsewhere; nothing ran."""


REPLACED = frozenset({RunKind.EVALUATE_SOLVED, RunKind.VALIDATE, RunKind.AUDIT, RunKind.DEMO})
"""Kinds whose runs are about whatever their command names now; the others keep what they were given first."""
WORDS = {
    RunKind.UNKNOWN: "a run of evaluations",
    RunKind.EVALUATE: "an evaluation of predictions",
    RunKind.CONTROL: "an evaluation of gold patches or of none",
    RunKind.SOLVE: "the run of a solver",
    RunKind.EVALUATE_SOLVED: "the evaluation of a solver's run",
    RunKind.VALIDATE: "a validation of instances",
    RunKind.AUDIT: "an audit of instances",
    RunKind.DEMO: "a demonstration",
    RunKind.SERVE: "the verdicts of a service",
    RunKind.REGRADE: "grades of logs that were made elsewhere",
}
ANOTHER = "give this one another folder with --run-id NAME"
ORACLE = "oracle"  # setting that names the parts of the answer that a solver was given
CONTROLS = ("gold", "null")  # patches of known outcome: the gold patch is resolved, no patch is not
LABELS = "--labels"
"""Input of a run that was graded by other labels than its data set's own; empty if by its own."""
RULE = "--rule"  # input of a run that was graded by another rule than its rows' own; empty if by that
FAIL_FAST = "fail-fast"  # setting of a run whose evaluations may have stopped before all tests were run
SHARD = "--shard"  # input of a run that names its part of a larger one


class Run(Model):
    """The manifest of a run: enough to know whether two runs may be compared."""

    id: str
    kind: RunKind = RunKind.UNKNOWN
    dataset: DatasetRef
    model: str
    started: str
    assay_version: str
    instance_ids: list[str] = Field(default_factory=list)
    """Every instance that was asked for, with a prediction or without."""
    environments: dict[str, Environment] = Field(default_factory=dict)
    given: dict[str, str] = Field(default_factory=dict)
    """What all results of the run depend on besides the predictions, such as the data set's revision."""
    shards: tuple[Shard, ...] = ()
    """The parts of a larger run that this one holds; none if it is a whole run."""
    merged: tuple[str, ...] = ()
    """Names of the runs that it was put together from; none if it was made in one."""
    settings: dict[str, str] = Field(default_factory=dict)
    engine: dict[str, str] = Field(default_factory=dict)
    host: dict[str, str] = Field(default_factory=dict)

    @property
    def oracle(self) -> str:
        """The parts of the answer that the solver of these patches was given, separated by commas."""
        return self.settings.get(ORACLE, "")

    def extend(self, later: Self) -> Self:
        """Return the manifest of this run with what a later command adds; the mark of an oracle stays."""
        marks = join_marks(self.oracle, later.oracle)
        changes: dict[str, Any] = {"settings": {**later.settings, **({ORACLE: marks} if marks else {})}}
        if later.kind not in REPLACED:
            changes["instance_ids"] = sorted({*self.instance_ids, *later.instance_ids})
            changes["environments"] = {**self.environments, **later.environments}
            changes["model"] = ", ".join(sorted({*self.model.split(", "), *later.model.split(", ")} - {""}))
        return later.model_copy(update=changes)


def control_name(run: str, control: str) -> str:
    return f"{run}.control-{control}"


def join_marks(*marks: str) -> str:
    """Return several marks of an oracle as one: the parts of the answer, separated by commas."""
    return ", ".join(sorted({part for mark in marks for part in mark.split(", ")} - {""}))


def refuse_another(root: Path, before: Run, kind: RunKind, given: Mapping[str, str]) -> None:
    """Raise UserError if a folder holds a run of another kind, or one that was given something else."""
    fits = before.kind == kind or (before.kind is RunKind.UNKNOWN and kind is not RunKind.SOLVE)
    if not fits:
        raise UserError(f"{root} holds {WORDS[before.kind]}, not {WORDS[kind]}; {ANOTHER}")
    for name, value in given.items():
        known = before.given.get(name, value)
        if known != value:
            raise UserError(f"{root} was made with {name} {known or 'unset'}, not {value or 'unset'}; {ANOTHER}")
