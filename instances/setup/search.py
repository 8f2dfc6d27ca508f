"""The search for a recipe: propose, build, run, diagnose, refine."""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from assay.harness import languages
from assay.harness.domain import FAILING, Recipe, Status
from assay.harness.names import count
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.advice import Advisor, Stuck
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.proposals import propose
from assay.instances.setup.setup_record import AdvisorCall, AppliedChange, SetupRecord, SetupRound
from assay.instances.setup.symptoms import COLOURS, diagnose, name_unanswered
from assay.instances.setup.trial import NO_TESTS, STALLED, UNAPPLIED, Trial, TriedRecipe, write_removal

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


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Two runs of a recipe compared; the fields are those of a record."""

    accepted: bool
    reason: str
    share: float
    unstable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """The means of a search."""

    facts: Facts
    trial: Trial
    rounds: int = ROUNDS
    seconds: float = SECONDS
    """Limit of the whole search; a step that has begun is not cut short, except the tests."""
    advisor: Advisor | None = None
    """Asked where no rule knows more, and after the last round of the rules."""
    read: Callable[[Collection[str]], Mapping[str, str]] = lambda _paths: {}
    """Returns the content of files of the tree, for the advisor."""
    note: Callable[[str], None] = lambda _text: None
    save: Callable[[SetupRecord], object] = lambda _record: None
    """Called after every round."""

    def find(self, record: SetupRecord) -> SetupRecord:
        """Search on from a record; returns it with its end. Raises EngineError; what was saved resumes."""
        began = time.monotonic() - record.seconds
        recipe = record.following if record.attempts else propose(self.facts)
        while recipe is not None:
            if time.monotonic() - began >= self.seconds:
                return self._end(record, f"not within {self.seconds:.0f} s", began)
            number = len(record.attempts) + 1
            self.note(f"round {number}{f' of {self.rounds}' if number <= self.rounds else ''}: {_summary(recipe)}")
            record = self._play_round(record, recipe, began)
            self.note(f"round {number}: {record.attempts[-1].summary}")
            self.save(record)
            if record.ended:
                return record
            recipe = record.following
        late = self.advisor is not None and time.monotonic() - began >= self.seconds
        reason = f"not within {self.seconds:.0f} s" if late else _why_not(record, self.rounds, self.facts)
        return self._end(record, reason, began)

    def _play_round(self, record: SetupRecord, recipe: Recipe, began: float) -> SetupRecord:
        """Add a round to the record: it ends the search, or leads to the next recipe."""
        known = (each.passed + each.failed for each in record.attempts if not each.problem)
        least = max(known, default=0) if record.calls else 0
        run = self._try(recipe, (self.seconds - (time.monotonic() - began)) / 2, record)
        share, end = run.measure_share(least), None
        if not run.problem and share >= ENOUGH:
            self.note(f"{share:.1%} of {count(len(run.counted), 'test')} pass; once more")
            end = self._confirm(record, recipe, run, least, began)
            share, run = end.share, run if end.accepted else replace(run, problem=end.reason)
        following, applied, calls = self._refine(recipe, run, record, end, began + self.seconds)
        attempts = (*record.attempts, _attempt(recipe, run, share, applied, calls))
        best, seconds = max(attempts, key=lambda each: each.share), time.monotonic() - began
        changes: dict[str, object] = {"recipe": best.recipe, "share": best.share, "following": following}
        if end and following is None:
            changes |= {"ended": True, "recipe": recipe, **asdict(end)}
        return record.model_copy(update={**changes, "attempts": attempts, "seconds": seconds})

    def _try(self, recipe: Recipe, seconds: float, record: SetupRecord, patch: str = "") -> TriedRecipe:
        try:
            return self.trial.run(recipe, seconds, patch)
        except ValueError as error:  # a UserError is one, too
            if not record.calls:  # a rule is wrong then, or a setting
                raise
            return TriedRecipe(str(error), str(error))

    def _confirm(self, record: SetupRecord, recipe: Recipe, one: TriedRecipe, least: int, began: float) -> Confirmation:
        """Run a recipe that passes once more.

        After an advisor, who may choose what is run, the tests also have to fail without the project's sources.
        """
        left = max(60.0, self.seconds - (time.monotonic() - began))
        two = self._try(recipe, left, record)
        found = _compare_runs(one, two, least)
        if found.accepted and record.calls:
            bare = self._try(recipe, left, record, write_removal(self.facts.project))
            if bare.problem == UNAPPLIED or one.passed & two.passed <= bare.passed:
                return Confirmation(False, bare.problem or "every test passes without the project's sources, too", 0.0)
        return found

    def _refine(
        self, recipe: Recipe, run: TriedRecipe, record: SetupRecord, end: Confirmation | None, deadline: float
    ) -> tuple[Recipe | None, Sequence[AppliedChange], Sequence[AdvisorCall]]:
        """Return the next recipe, why, and what an advisor was asked; rules come first. None if nobody knows more.

        There is an ``end`` if the tests passed; why the recipe is not accepted then, no rule answers.
        """
        if end and end.accepted:
            return None, (), ()
        tried = [recipe, *(each.recipe for each in record.attempts)]
        if len(tried) < self.rounds and not end:
            changed, applied = self._apply_rules(recipe, run, record)
            if changed not in tried:
                return changed, applied, ()
        if self.advisor is None or time.monotonic() >= deadline:
            return None, (), ()
        advice = self.advisor.advise(Stuck(self.facts, recipe, run, record, self.read, deadline))
        return advice.recipe, (AppliedChange(rule=self.advisor.name, reason=advice.reason),), advice.calls

    def _apply_rules(
        self, recipe: Recipe, run: TriedRecipe, record: SetupRecord
    ) -> tuple[Recipe, tuple[AppliedChange, ...]]:
        changed, findings = diagnose(run.output, recipe, self.facts)
        applied = tuple(findings)
        if changed == recipe:
            changed, applied = _answer_problem(recipe, run, self.facts)
        return (changed, applied) if changed != recipe else _copy_workflows(recipe, self.facts, record)

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


def _compare_runs(one: TriedRecipe, two: TriedRecipe, least: int) -> Confirmation:
    """Compare two runs of the same recipe, which should have collected ``least`` tests."""
    every, both = one.counted | two.counted, one.passed & two.passed
    whole = len(both) / max(len(every), least, 1)
    share = min(whole, one.measure_share(least), two.measure_share(least))
    accepted = not two.problem and share >= ENOUGH
    said = f"{share:.1%} of {count(len(every), 'test')} pass in two runs" if not two.problem else two.problem
    reason = said if accepted else f"the second run does not agree: {said}"
    return Confirmation(accepted, reason, share, tuple(sorted(one.passed ^ two.passed))[:KEPT_NAMES])


def _attempt(
    recipe: Recipe, run: TriedRecipe, share: float, applied: Sequence[AppliedChange], calls: Sequence[AdvisorCall]
) -> SetupRound:
    statuses = list(run.tests.values())
    lines = COLOURS.sub("", run.output).splitlines()
    return SetupRound(
        recipe=recipe,
        problem=run.problem,
        passed=len(run.passed),
        failed=len(run.counted) - len(run.passed),
        skipped=statuses.count(Status.SKIPPED),
        share=round(share, 4),
        failing=tuple(name for name, status in run.tests.items() if status in FAILING)[:KEPT_NAMES],
        seconds=round(run.seconds, 1),
        changes=tuple(applied),
        calls=tuple(calls),
        output="\n".join(line[:300] for line in lines[-KEPT_LINES:]),
    )


def _summary(recipe: Recipe) -> str:
    fields = {name: getattr(recipe, name) for name in SHOWN if getattr(recipe, name)}
    parts = [f"{name} {' '.join(values)}" for name, values in fields.items()]
    return "; ".join([f"{recipe.language} {recipe.toolchain}".strip(), *parts])[:160]


def _why_not(record: SetupRecord, rounds: int, facts: Facts) -> str:
    if not record.attempts:
        return "nothing was tried"
    last = record.attempts[-1]
    state = last.problem or f"{last.share:.1%} of the tests pass, {ENOUGH:.0%} are wanted"
    lines = last.output.splitlines() if last.problem != NO_TESTS else []  # those are Assay's own tests
    errors = [line.strip() for line in lines if ERROR.search(line)]
    end = "no round is left" if len(record.attempts) >= rounds else "no rule knows more"
    end += "".join(f"; {change.rule}: {change.reason}" for change in last.changes)
    missing = name_unanswered(last.output, last.recipe, facts)[:3]
    said = "; ".join(missing) if missing else (f"last error: {errors[-1][:160]}" if errors else "")
    return f"{state}; {end}" + (f" ({said})" if said else "")
