"""The rules by which candidates fall out before anything is built. Pure.

A rule is a function that returns why a candidate falls out, or nothing, and a line in ``RULES``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from assay.harness.domain import Model
from assay.harness.patches.diff import FileChange
from assay.instances.audit import AuditKind, Severity, audit
from assay.instances.audit.statement import count_words
from assay.instances.audit.subject import Subject, is_source, subject
from assay.instances.collect.duplicates import KnownInstances, PatchIndex
from assay.instances.collect.licenses import PERMISSIVE
from assay.instances.collect.steps import Filtered, Paired

_BOT = re.compile(r"\[bot\]|\bdependabot\b|\bpre-commit-ci\b|\brenovate\b", re.IGNORECASE)
WITHOUT_LABELS = frozenset({AuditKind.NO_FAIL_TO_PASS})
"""Faults that an instance cannot help before it is validated."""


class CandidateLimits(Model):
    files: int = 10
    """Source files that the gold patch changes at most."""
    lines: int = 500
    """Lines that it changes in them at most."""
    words: int = 6
    """Words of the statement at least."""
    languages: frozenset[str] = frozenset()
    """Empty for any."""
    licenses: frozenset[str] = PERMISSIVE
    """SPDX names; "any" takes trees of every license, and of none."""


@dataclass(frozen=True, slots=True)
class Case:
    subject: Subject
    author: str
    """Author of the change; empty for releases."""
    license: str
    limits: CandidateLimits
    known: KnownInstances
    earlier: PatchIndex
    """Candidates that passed all rules."""


CandidateRule = Callable[[Case], str]


def _bot(case: Case) -> str:
    return f"its author is {case.author}" if _BOT.search(case.author) else ""


def _reverts(case: Case) -> str:
    statement = case.subject.instance.problem_statement
    return "it takes an earlier change back" if re.match(r"revert\b", statement, re.IGNORECASE) else ""


def _language(case: Case) -> str:
    language, wanted = case.subject.instance.language, case.limits.languages
    return f"its language is {language}" if wanted and language not in wanted else ""


def _code(case: Case) -> str:
    return "" if _sources(case) else f"it changes no code of {case.subject.instance.language}"


def _tests(case: Case) -> str:
    language = case.subject.instance.language
    changed = any(each.new and is_source(each.path, language) for each in case.subject.tests)
    return "" if changed else "it changes no tests"


def _size(case: Case) -> str:
    sources = _sources(case)
    lines = sum(line.mark in "+-" for each in sources for hunk in each.hunks for line in hunk.lines)
    if len(sources) > case.limits.files:
        return f"it changes {len(sources)} source files, more than {case.limits.files}"
    return f"it changes {lines} lines of code, more than {case.limits.lines}" if lines > case.limits.lines else ""


def _license(case: Case) -> str:
    if not case.limits.licenses.isdisjoint((case.license, "any")):
        return ""
    why = f"its license is {case.license}" if case.license else "the license of its tree is missing or not known"
    return f"{why}; --license {case.license or 'any'} takes it"


def _statement(case: Case) -> str:
    words = count_words(case.subject.instance.problem_statement)
    return f"its statement has {words} words" if words < case.limits.words else ""


def _audit(case: Case) -> str:
    found = (each for each in audit(case.subject.instance) if each.severity is Severity.FAULT)
    return next((f"{each.kind}: {each.summary}" for each in found if each.kind not in WITHOUT_LABELS), "")


def _has_known_id(case: Case) -> str:
    return "a known data set has it" if case.subject.instance.id.lower() in case.known.ids else ""


def _repeats(case: Case, patches: PatchIndex) -> str:
    name = patches.find_duplicate(case.subject.instance.gold_patch)
    return f"its patch is nearly that of {name}" if name else ""


RULES: Mapping[str, CandidateRule] = {
    "bot": _bot,
    "revert": _reverts,
    "language": _language,
    "code": _code,
    "tests": _tests,
    "size": _size,
    "license": _license,
    "statement": _statement,
    "audit": _audit,
    "known id": _has_known_id,
    "known patch": lambda case: _repeats(case, case.known.patches),
    "duplicate": lambda case: _repeats(case, case.earlier),
}
"""The rules in the order in which they are asked; the first with a reason decides."""


@dataclass(frozen=True, slots=True)
class Sieve:
    """Asks the rules about candidates one after another, and remembers the patches that pass."""

    limits: CandidateLimits
    known: KnownInstances
    _passed: PatchIndex = field(default_factory=PatchIndex)

    def decide(self, paired: Paired, author: str, license_name: str) -> Filtered:
        assert paired.instance is not None
        case = Case(subject(paired.instance), author, license_name, self.limits, self.known, self._passed)
        found = ((rule, reason) for rule, ask in RULES.items() if (reason := ask(case)))
        rule, reason = next(found, ("", ""))
        if not rule:
            self._passed.add(paired.id, paired.instance.gold_patch)
        return Filtered(id=paired.id, rule=rule, reason=reason, license=license_name)


def _sources(case: Case) -> tuple[FileChange, ...]:
    return tuple(each for each in case.subject.gold if is_source(each.path, case.subject.instance.language))
