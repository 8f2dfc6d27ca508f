"""The contract between a comparison and its generators of probes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.harness.domain import Divergence, GeneratorResult, Instance, TestPlan
from assay.harness.patchdiff.sides import Sides
from assay.harness.patchdiff.survey import Survey

PlanTests = Callable[[Instance, Sequence[str]], TestPlan]
"""Plans the run of some of an instance's test files by the recipe's own command."""
Note = Callable[[str], None]
Ask = Callable[[Sequence[tuple[str, str]]], str]
"""Gives (role, text) messages to a language model and returns its answer."""


def silent(_text: str) -> None:
    """Report nothing: the ``Note`` of who shows no progress."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The generators of a comparison and how much each may do."""

    generators: tuple[str, ...]
    seed: int = 0
    test_files: bool = True
    """Write test files that show divergences to a person; to find and to confirm them needs none."""
    budget: float = 300.0
    """Seconds; nothing new is begun after them."""
    confirmations: int = 20
    """Rounds that a divergence must hold in, on both sides."""


@dataclass(frozen=True, slots=True)
class Context:
    """One comparison, as its generators see it."""

    sides: Sides
    survey: Survey
    settings: Settings
    plan_tests: PlanTests
    ask: Ask | None = None
    """The language model; None if the user names none."""
    began: float = field(default_factory=time.monotonic)
    note: Note = silent
    """Reports progress to a person who waits."""

    @property
    def seconds_left(self) -> float:
        """Seconds left of the budget."""
        return max(0.0, self.settings.budget - (time.monotonic() - self.began))


@dataclass(frozen=True, slots=True)
class Contribution:
    """The results of one generator; ``files`` are the reproductions that its divergences name."""

    result: GeneratorResult
    divergences: tuple[Divergence, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    """The failure, if any. Results of other generators stand, and the next run tries again."""
    forged: bool = False
    """Whether a side's results cannot be trusted: then nobody's silence about the patch means anything."""


@dataclass(frozen=True, slots=True)
class Generator:
    """Makes probes, runs them on the sides of a comparison and reports where these differ."""

    generate: Callable[[Context], Contribution]
    """Spends what it needs of the budget. What it raises costs the comparison this generator alone."""
    languages: frozenset[str] = frozenset()
    """Languages that it can probe; all of them when empty."""
    aims: bool = True
    """Whether it counts the probes that execute a target. Whole test suites do not aim."""
