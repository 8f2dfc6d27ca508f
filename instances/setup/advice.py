"""What an advisor of set-up is asked and answers, where no rule knows more."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.harness.domain import Recipe
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.setup_record import AdvisorCall, SetupRecord
from assay.instances.setup.trial import TriedRecipe


@dataclass(frozen=True, slots=True)
class Stuck:
    """A search that no rule carries on, after a round with ``recipe`` and ``run`` that the record lacks."""

    facts: Facts
    recipe: Recipe
    run: TriedRecipe
    record: SetupRecord
    read: Callable[[Collection[str]], Mapping[str, str]]
    """Returns the content of files of the tree by path; a file that is not there is left out."""
    deadline: float
    """``time.monotonic()`` at which the search ends."""


@dataclass(frozen=True, slots=True)
class Advice:
    recipe: Recipe | None
    reason: str
    calls: Sequence[AdvisorCall]


class Advisor(Protocol):
    @property
    def name(self) -> str: ...

    def can_ask(self, calls: Sequence[AdvisorCall]) -> bool:
        """Return whether its budget has room for another question after these."""
        ...

    def advise(self, stuck: Stuck) -> Advice:
        """Return a recipe that no round has tried, or none; never raises because of what a model does."""
        ...
