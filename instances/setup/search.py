"""The search for a recipe: propose, build, run, diagnose, refine."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from assay.harness import languages
from assay.harness.domain import FAILING, Recipe, Status
from assay.harness.names import count
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.proposals import propose
from assay.instances.setup.setup_record import AppliedChange, SetupRecord, SetupRound
from assay.instances.setup.symptoms import COLOURS, diagnose, name_unanswered
from assay.instances.setup.trial import NO_TESTS, STALLED, Trial, TriedRecipe

ENOUGH = 0.95  # share of the collected tests that must pass, twice
ROUNDS = 5
SECONDS = 600.0
KEPT_LINES, KEPT_NAMES = 40, 20
"""Lines of output and names of failing tests that a record keeps of each round."""
SHOWN = ("extras", "requirements", "packages", "constraints", "system_packages")
"""Fields of a recipe in the note on a round."""
HEAVY = re.compile(r"texlive|cuda|docker|google-chrome|firefox|postgres|mysql|mariadb|python|linux-")
"""Debian packages of workflows that are large, or no part of what tests need."""
ERROR = re.compile(r"\w(?:Error|Exception)\b|\b(?:error|fatal)(?:\[\w+\])?:|^E  ")
"""A line of output that probably names the error."""


class Advisor(Protocol):
    """Proposes a change where no rule knows one, such as a language model."""

    @property
    def name(self) -> str: ...

    def advise(self, facts: Facts, recipe: Recipe, output: str) -> Recipe | None:
        """Return a changed recipe, or None for no idea; ``output`` ends with the failed step's, or the tests'."""
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """The means of a search."""

    facts: Facts
    trial: Trial
    rounds: int = ROUNDS
    seconds: float = SECONDS
    """Limit of the whole search; a step that has begun is not cut short, except the tests."""
    advisor: Advisor | None = None
    note: Callable[[str], None] = lambda _text: None
    save: Callable[[SetupRecord], object] = lambda _record: None
    """Called after every round."""

    def find(self, record: SetupRecord) -> SetupRecord:
        """Search on from a record; returns it with its end. Raises EngineError; what was saved resumes."""
        began = time.monotonic() - record.seconds
        recipe = record.following if record.attempts else propose(self.facts)
        while recipe is not None and len(record.attempts) < self.rounds:
            left = self.seconds - (time.monotonic() - began)
            if left <= 0:
                return self._end(record, f"not within {self.seconds:.0f} s", began)
            number = len(record.attempts) + 1
            self.note(f"round {number} of {self.rounds}: {_summary(recipe)}")
            run = self.trial.run(recipe, left / 2)
            record = self._judge(record, recipe, run, began)
            self.note(f"round {number}: {_describe(record.attempts[-1])}")
            self.save(record)
            if record.ended:
                return record
            recipe = record.following
        return self._end(record, _why_not(record, self.rounds, self.facts), began)

    def _judge(self, record: SetupRecord, recipe: Recipe, run: TriedRecipe, began: float) -> SetupRecord:
        """Add a round to the record: it ends the search, or leads to the next recipe."""
        again = None
        if not run.problem and run.share >= ENOUGH:
            self.note(f"{run.share:.1%} of {count(len(run.counted), 'test')} pass; once more")
            again = self.trial.run(recipe, max(60.0, self.seconds - (time.monotonic() - began)))
        following, applied = (None, ()) if again else self._refine(recipe, run, record)
        attempt = _attempt(recipe, run, applied)
        attempts = (*record.attempts, attempt)
        best, seconds = max(attempts, key=lambda each: each.share), time.monotonic() - began
        changes = {"attempts": attempts, "recipe": best.recipe, "share": best.share, "following": following}
        record = record.model_copy(update={**changes, "seconds": seconds})
        return _compare_runs(record, recipe, run, again) if again else record

    def _refine(
        self, recipe: Recipe, run: TriedRecipe, record: SetupRecord
    ) -> tuple[Recipe | None, tuple[AppliedChange, ...]]:
        """Return the next recipe and why; rules come first, then the advisor. None if nobody knows more."""
        changed, findings = diagnose(run.output, recipe, self.facts)
        applied = tuple(findings)
        if changed == recipe:
            changed, applied = _answer_problem(recipe, run, self.facts)
        if changed == recipe:
            changed, applied = _copy_workflows(recipe, self.facts, record)
        if changed == recipe and self.advisor is not None:
            changed = self.advisor.advise(self.facts, recipe, run.output) or recipe
            applied = (AppliedChange(rule=self.advisor.name, reason=_differences(recipe, changed)),)
        tried = [each.recipe for each in record.attempts]
        return (None, ()) if changed == recipe or changed in tried else (changed, applied)

    def _end(self, record: SetupRecord, reason: str, began: float) -> SetupRecord:
        ended = record.model_copy(update={"ended": True, "reason": reason, "seconds": time.monotonic() - began})
        self.save(ended)
        return ended


def _answer_problem(recipe: Recipe, run: TriedRecipe, facts: Facts) -> tuple[Recipe, tuple[AppliedChange, ...]]:
    """Change the recipe where a limit ended the tests, or pytest did not collect them."""
    changed, reasons = recipe, dict[str, str]()
    uses_pytest = languages.find(recipe.language).DEFAULT_RUNNER == "pytest"
    if "memory" in run.problem:
        changed, reasons["more-memory"] = edits.double_memory(recipe), run.problem
    elif uses_pytest and run.problem == STALLED:
        changed = edits.add_pytest_option(edits.add_package(recipe, "pytest-timeout"), "--timeout=60")
        reasons["hanging-test"] = "no test may take more than 60 s"
        if facts.declared.slow:
            changed = edits.skip_slow_tests(changed, facts)
            reasons["slow-tests"] = f"the project marks tests as {' and '.join(facts.declared.slow)}"
    elif uses_pytest and run.problem == NO_TESTS:
        changed = edits.collect_other_modules(recipe, facts)
        reasons["other-names-of-modules"] = "pytest finds no test module by its usual names"
    elif uses_pytest and run.tests and "ERROR collecting" in run.output:
        changed = edits.add_pytest_option(recipe, "--continue-on-collection-errors")
        reasons["uncollected"] = "some test modules cannot be imported"
    return changed, tuple(AppliedChange(rule=rule, reason=reason) for rule, reason in reasons.items())


def _copy_workflows(recipe: Recipe, facts: Facts, record: SetupRecord) -> tuple[Recipe, tuple[AppliedChange, ...]]:
    """Add all Debian packages of the project's workflows that no earlier round had to drop."""
    tried = {name for each in record.attempts for name in each.recipe.system_packages}
    left_out = {facts.project.repo.partition("/")[2].lower(), *(tried - set(recipe.system_packages))}
    packages = [name for name in facts.installed.system if not HEAVY.match(name) and name not in left_out]
    reason = f"the project's workflows install {' '.join(packages)}"
    return edits.add_items(recipe, "system_packages", packages), (AppliedChange(rule="as-workflows-do", reason=reason),)


def _compare_runs(record: SetupRecord, recipe: Recipe, one: TriedRecipe, two: TriedRecipe) -> SetupRecord:
    """End a record by two runs of the same recipe."""
    every, both = one.counted | two.counted, one.passed & two.passed
    share = min(len(both) / len(every), one.share, two.share) if every else 0.0
    accepted = not two.problem and share >= ENOUGH
    said = f"{share:.1%} of {count(len(every), 'test')} pass in two runs" if not two.problem else two.problem
    reason = said if accepted else f"the second run does not agree: {said}"
    unstable = tuple(sorted(one.passed ^ two.passed))[:KEPT_NAMES]
    end = {"accepted": accepted, "ended": True, "reason": reason, "recipe": recipe, "share": share}
    return record.model_copy(update={**end, "unstable": unstable})


def _attempt(recipe: Recipe, run: TriedRecipe, applied: tuple[AppliedChange, ...]) -> SetupRound:
    statuses = list(run.tests.values())
    lines = COLOURS.sub("", run.output).splitlines()
    return SetupRound(
        recipe=recipe,
        problem=run.problem,
        passed=len(run.passed),
        failed=len(run.counted) - len(run.passed),
        skipped=statuses.count(Status.SKIPPED),
        share=round(run.share, 4),
        failing=tuple(name for name, status in run.tests.items() if status in FAILING)[:KEPT_NAMES],
        seconds=round(run.seconds, 1),
        changes=applied,
        output="\n".join(line[:300] for line in lines[-KEPT_LINES:]),
    )


def _summary(recipe: Recipe) -> str:
    fields = {name: getattr(recipe, name) for name in SHOWN if getattr(recipe, name)}
    parts = [f"{name} {' '.join(values)}" for name, values in fields.items()]
    return "; ".join([f"{recipe.language} {recipe.toolchain}".strip(), *parts])[:160]


def _describe(attempt: SetupRound) -> str:
    result = attempt.problem or f"{attempt.passed} of {attempt.passed + attempt.failed} tests pass"
    changes = "; ".join(f"{change.rule} ({change.reason})" for change in attempt.changes[:3])
    return f"{result}{' -> ' if changes else ''}{changes}"[:300]


def _differences(old: Recipe, new: Recipe) -> str:
    return ", ".join(name for name in Recipe.model_fields if getattr(old, name) != getattr(new, name)) or "nothing"


def _why_not(record: SetupRecord, rounds: int, facts: Facts) -> str:
    if not record.attempts:
        return "nothing was tried"
    last = record.attempts[-1]
    state = last.problem or f"{last.share:.1%} of the tests pass, {ENOUGH:.0%} are wanted"
    lines = last.output.splitlines() if last.problem != NO_TESTS else []  # those are Assay's own tests
    errors = [line.strip() for line in lines if ERROR.search(line)]
    end = "no round is left" if len(record.attempts) >= rounds else "no rule knows more"
    missing = name_unanswered(last.output, last.recipe, facts)[:3]
    said = "; ".join(missing) if missing else (f"last error: {errors[-1][:160]}" if errors else "")
    return f"{state}; {end}" + (f" ({said})" if said else "")
