"""Tries of a change: every one is a candidate, and the best so far lies in the tree, whatever ends the work."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from assay.agents.contract import AgentStatus, Candidate, SolutionStatus, SolveOutcome, Workspace


class Try(Protocol):
    """What an answer of a model comes to."""

    @property
    def files(self) -> Mapping[str, str]:
        """Path to new text of what it changes."""

    @property
    def problem(self) -> str:
        """What is wrong with it; empty if nothing is."""

    @property
    def is_read(self) -> bool:
        """Whether the answer had the right form."""


Made = TypeVar("Made", bound=Try)


class Tries(Generic[Made]):
    """The tries of a solver, in order.

    Attributes:
        candidates: what each one changes in the base tree.
    """

    def __init__(self, workspace: Workspace, best: Callable[[Sequence[Made]], Made], called: str) -> None:
        """Begin without any.

        Args:
            workspace: where they are laid into the base tree.
            best: returns the best of several.
            called: what one is called where candidates tell their source.
        """
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
        """Keep a try as a candidate, with its scores, and leave the best so far in the tree."""
        self._made.append(made)
        self._lay(made)
        source = f"{self._called} {len(self._made)}"
        patch = self._workspace.diff()
        self.candidates.append(Candidate(patch=patch, source=source, reason=made.problem, scores=scores))
        self._lay(self.best)

    def outcome(self, extra: dict[str, Any]) -> SolveOutcome:
        """Return how a solver ends whose answer is the best try: with a change, with none, or with no form at all."""
        unchanged: AgentStatus = SolutionStatus.EMPTY if self.best.is_read else SolutionStatus.FORMAT_ERROR
        return SolveOutcome(
            status=SolutionStatus.SUBMITTED if self.best.files else unchanged,
            candidates=tuple(self.candidates),
            error=self.best.problem,
            extra=extra,
        )

    def _lay(self, made: Made) -> None:
        self._workspace.restore("base")
        for path, text in made.files.items():
            self._workspace.write(path, text.encode())
