"""How a patch came about, as far as the files beside its trajectory say: agent, steps, usage and limit."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.harness.domain import Prediction
from assay.harness.errors import DataError, field_error
from assay.harness.exports.atif import DOCUMENT, PREFIX, AtifDocument, AtifStep, AtifTotals

LIMITS = {
    "limit_cost": (("cost", "cost"), ("token", "tokens"), ("turn", "calls")),
    "limit_tokens": (("token", "tokens"),),
    "limit_calls": (("turn", "calls"),),
    "limit_steps": (("turn", "steps"),),
    "limit_time": (("time", "seconds"),),
    "context_exceeded": (("context", ""),),
}
"""Limits that may have ended a solver with each status: Inspect's names, and names in the budget.

In older runs, ``limit_cost`` stands for all three.
"""


@dataclass(frozen=True, slots=True)
class SolvingRecord:
    """One sample of a solver; every field is empty if nothing is known."""

    trajectory: AtifDocument | None = None
    status: str = ""
    """A solver's ``SolutionStatus``."""
    budget: Mapping[str, Any] = field(default_factory=dict)
    """Its limits by name; None is no limit."""
    seconds: float = 0.0

    @property
    def steps(self) -> list[AtifStep]:
        return self.trajectory["steps"] if self.trajectory else []

    @property
    def totals(self) -> AtifTotals:
        return (self.trajectory.get("final_metrics") if self.trajectory else None) or {}

    @property
    def limit(self) -> tuple[str, float] | None:
        """The limit that ended the solver, by Inspect's name for it, and its value; None if none did."""
        for kind, name in LIMITS.get(self.status, ()):
            value = self.budget.get(name)
            if isinstance(value, float | int) or not name:
                return kind, float(value or 0)
        return None


@dataclass(frozen=True, slots=True)
class SolvingAgent:
    """The agent of a run, as its trajectories name it; empty without any."""

    name: str = ""
    version: str = ""

    def get_model(self, prediction: Prediction) -> str | None:
        """Return the model in a prediction's name, ``<agent>.<model>``; None if this agent is not in it."""
        before, found, model = prediction.model.partition(self.name) if self.name else ("", "", "")
        if before or not found or model[:1] not in ("", "."):
            return None
        return model.removeprefix(".")


def solving_agent(trajectories: Iterable[Path]) -> SolvingAgent:
    """Return the agent that the first trajectory in ATIF names; raises DataError if one before it is damaged."""
    for path in trajectories:
        trajectory = read_record(path).trajectory
        if trajectory is not None:
            return SolvingAgent(trajectory["agent"]["name"], trajectory["agent"]["version"])
    return SolvingAgent()


def read_record(path: Path | None) -> SolvingRecord:
    """Read a trajectory, and the solution beside it if any; None for another format. Raises DataError."""
    if path is None:
        return SolvingRecord()
    document = _read(path) if path.suffix == ".json" else {}
    solved = _read(path.with_name("solution.json"))
    solution, budget = _part(solved, "solution"), _part(solved, "budget")
    seconds = _part(solution, "usage").get("seconds")
    return SolvingRecord(
        trajectory=_atif(document, path) if str(document.get("schema_version", "")).startswith(PREFIX) else None,
        status=str(solution.get("status") or ""),
        budget={**_part(budget, "llm"), "steps": budget.get("steps")},
        seconds=seconds if isinstance(seconds, float | int) else 0.0,
    )


def _atif(document: Mapping[str, Any], path: Path) -> AtifDocument:
    try:
        return DOCUMENT.validate_python(document)
    except ValidationError as error:
        found = field_error(error)
        raise DataError(
            f"{found.problem}; leave it out with --trajectories", file=str(path), field=found.field
        ) from None


def _part(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = whole.get(name)
    return found if isinstance(found, Mapping) else {}


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {str(error)[:80]}; leave it out with --trajectories", file=str(path)) from None
    return found if isinstance(found, dict) else {}
