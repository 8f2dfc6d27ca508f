"""The contract between a comparison and its generators of probes."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from assay.harness.domain import Divergence, GeneratorResult, Instance, TestPlan
from assay.harness.errors import PluginError
from assay.harness.patchdiff.probe.operators import OPERATORS, SNIPPET
from assay.harness.patchdiff.sides import Sides, limit_time
from assay.harness.patchdiff.survey import Survey
from assay.harness.runs.pulse import Note, silent

ALL_OPERATORS = (SNIPPET, *(each.name for each in OPERATORS))
PlanTests = Callable[[Instance, Sequence[str]], TestPlan]
"""Plans the run of some of an instance's test files by the recipe's own command."""
Ask = Callable[[Sequence[tuple[str, str]]], str]
"""Gives (role, text) messages to a language model and returns its answer."""
BUDGETS = {"quick": 60.0, "default": 300.0, "thorough": 1800.0}  # seconds of one comparison
LEAST_PACE, MOST_PACE = 0.4, 3.0
"""The least and the greatest multiple of its usual time that a program gets, whatever the budget."""
ENOUGH = 3  # fewer confirmations than these prove nothing, however tight the budget
CONFIRMATION = 30.0  # seconds beyond the budget for confirming what was found: nothing runs longer


def find_operators(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return operators by name, in their order; all for None. Raises PluginError for an unknown one."""
    wanted = ALL_OPERATORS if names is None else {name.strip() for name in names}
    if unknown := sorted({*wanted}.difference(ALL_OPERATORS)):
        raise PluginError(f"unknown operator {unknown[0]!r}; known are {', '.join(ALL_OPERATORS)}")
    return tuple(name for name in ALL_OPERATORS if name in wanted)


@dataclass(frozen=True, slots=True)
class Settings:
    """The generators of a comparison and how much each may do."""

    generators: tuple[str, ...]
    seed: int = 0
    test_files: bool = True
    """Write test files that show divergences to a person. Finding and confirming them needs none."""
    budget: float = BUDGETS["default"]
    """Seconds that the generators share. Afterwards, findings are confirmed for up to ``CONFIRMATION`` more."""
    confirmations: int = 20
    """Rounds that a divergence must hold in, on both sides."""
    operators: tuple[str, ...] = ALL_OPERATORS
    """What makes new calls for the generator ``compose``."""


@dataclass(frozen=True, slots=True)
class Context:
    """One comparison, as its generators see it."""

    sides: Sides
    survey: Survey
    settings: Settings
    plan_tests: PlanTests
    ask: Ask | None = None
    began: float = field(default_factory=time.monotonic)
    note: Note = silent
    turn: float = inf
    """The end of the generator's turn, by ``now``."""
    extra: float = 0.0
    """Seconds beyond the budget that may be spent."""
    waited: list[float] = field(default_factory=list)
    """Seconds that each answer of the model took, in one list for all turns: these are not in the budget."""

    @property
    def now(self) -> float:
        """The time by a clock that stands still while the model answers."""
        return time.monotonic() - sum(self.waited)

    @property
    def seconds_left(self) -> float:
        """Seconds left in this turn, and at most of the budget."""
        end = min(self.turn, self.began + self.settings.budget + self.extra)
        return max(0.0, end - self.now)

    def answer(self, messages: Sequence[tuple[str, str]]) -> str:
        """Ask the model; its errors pass through."""
        assert self.ask is not None
        began = time.monotonic()
        try:
            return self.ask(messages)
        finally:
            self.waited.append(time.monotonic() - began)

    @property
    def confirming(self) -> "Context":
        """The same comparison with the rest of the whole budget and ``CONFIRMATION``, to confirm what was found."""
        return replace(self, turn=inf, extra=CONFIRMATION)

    def plan(self, files: Sequence[str], seconds: float = inf) -> TestPlan:
        """Return the plan of a run of test files; its time limit is the recipe's, or ``seconds`` if these are fewer."""
        plan = self.plan_tests(self.sides.instance, files)
        return limit_time(plan, min(plan.limits.seconds, seconds))

    def part(self, share: float) -> "Context":
        """Return the same comparison with a share of the seconds left."""
        return replace(self, turn=self.now + self.seconds_left * share)

    def pace(self, seconds: float) -> float:
        """Scale the seconds that a program needs with the default budget to the present one."""
        return seconds * min(MOST_PACE, max(LEAST_PACE, self.settings.budget / BUDGETS["default"]))

    def rounds(self, each: float) -> int:
        """Return how often a difference is confirmed: in at most half of the time left, at ``each`` seconds a round."""
        wanted, possible = self.settings.confirmations, int(self.seconds_left / 2 / max(each, 0.001))
        return max(min(ENOUGH, wanted), min(wanted, possible))


@dataclass(frozen=True, slots=True)
class Contribution:
    """The results of one generator so far; ``files`` are the reproductions that its divergences name."""

    result: GeneratorResult
    divergences: tuple[Divergence, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    """The failure, if any: the next run tries again."""
    forged: bool = False
    """The results of a side cannot be trusted: then nobody's silence about the patch means anything."""
    more: "Generate | None" = None
    """Continues in another turn and returns everything found by then; None if nothing is left to do."""


Generate = Callable[[Context], Contribution]


@dataclass(frozen=True, slots=True)
class Generator:
    """Makes probes, runs them on the sides of a comparison and reports where these differ."""

    generate: Generate
    """Spends up to its turn. An exception costs the comparison this generator alone."""
    languages: frozenset[str] = frozenset()
    """Languages that it can probe; all of them when empty."""
    aims: bool = True
    """The generator counts only probes that reach a changed function. Whole test suites do not aim."""

    def knows(self, language: str) -> bool:
        return not self.languages or language in self.languages
