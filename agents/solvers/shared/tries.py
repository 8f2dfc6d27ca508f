"""Repeated tries of a change: each one becomes a candidate, and the best so far is left in the workspace."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from assay.agents.contract import AgentStatus, Candidate, SolutionStatus, SolveOutcome, Workspace


class Try(Protocol):
    """A change read from one answer of a model."""

    @property
    def files(self) -> Mapping[str, str]:
        """Path to new text of the changed files."""

    @property
    def problem(self) -> str:
        """Error message for the model; empty if there is none."""

    @property
    def is_read(self) -> bool:
        """Whether the answer had the right format."""


Made = TypeVar("Made", bound=Try)


class Tries(Generic[Made]):
    """The tries of a solver in order, each also a candidate: a patch of the base commit."""

    def __init__(self, workspace: Workspace, best: Callable[[Sequence[Made]], Made], called: str) -> None:
        """Each try is written into the base state; ``called`` names a try in the source of its candidate."""
        self.candidates: list[Candidate] = []
        self._made: list[Made] = []
        self._workspace = workspace
        self._best = best
        self._called = called

    @property
    def best(self) -> Made:
        """The best so far. Raises ValueError while there is none."""
        return self._best(self._made)

    def add(self, made: Made, **scores: float) -> None:
        """Add a try as a candidate with its scores, and leave the best so far in the workspace."""
        self._made.append(made)
        self._write(made)
        source = f"{self._called} {len(self._made)}"
        patch = self._workspace.diff()
        self.candidates.append(Candidate(patch=patch, source=source, reason=made.problem, scores=scores))
        self._write(self.best)

    def outcome(self, extra: dict[str, Any]) -> SolveOutcome:
        """Return the outcome of the best try: submitted, empty, or format_error if no answer had the right format."""
        unchanged: AgentStatus = SolutionStatus.EMPTY if self.best.is_read else SolutionStatus.FORMAT_ERROR
        return SolveOutcome(
            status=SolutionStatus.SUBMITTED if self.best.files else unchanged,
            candidates=tuple(self.candidates),
            error=self.best.problem,
            extra=extra,
        )

    def _write(self, made: Made) -> None:
        self._workspace.restore("base")
        for path, text in made.files.items():
            self._workspace.write(path, text.encode())
