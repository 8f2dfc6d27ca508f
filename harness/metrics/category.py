"""Category and complexity of an instance: the kind of change it asks for, and how much code the gold patch changes.

SWE-PolyBench (arXiv 2504.08703) has both for its own rows, without the rules. These rules are Assay's, and each
category names its rule. ``docs/metrics.md`` explains them.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import PurePosixPath

from assay.harness.domain import Instance, Model
from assay.harness.metrics.placing import parse_patch
from assay.harness.metrics.retrieval import TouchedNode
from assay.harness.patches.diff import MalformedPatchError

OWN_COLUMN = "task_category"
DOCUMENTS = frozenset({".md", ".rst", ".adoc", ".asciidoc", ".txt"})
TAIL = r"(?:\([^)]*\))?[\]:!]"  # the end of a tag: ``[Bug]``, ``bug:``, ``fix(parser):``


class Complexity(StrEnum):
    """The functions and classes that a patch changes; a method is a function."""

    NONE = "none"
    SINGLE_FUNCTION = "single_function"
    FUNCTIONS = "functions"
    SINGLE_CLASS = "single_class"
    CLASSES = "classes"
    MIXED = "mixed"


class Category(Model):
    """The kind of change, such as ``bug_fix`` or the row's own word, and the rule that decided."""

    name: str
    by: str


_Rules = Mapping[str, re.Pattern[str]]  # patterns by the category that they mean; the first that matches counts


def _rules(**patterns: str) -> _Rules:
    return {category: re.compile(pattern, re.IGNORECASE) for category, pattern in patterns.items()}


TAGS = _rules(
    bug_fix=rf"^\[?(bug|fix|regression|crash){TAIL}|^\[?bug report{TAIL}",
    feature=rf"^\[?(feat|feature|feature request|enhancement|proposal|rfe|request){TAIL}",
    documentation=rf"^\[?(docs?|documentation){TAIL}",
    refactoring=rf"^\[?(refactor|refactoring|chore|cleanup){TAIL}",
    performance=rf"^\[?(perf|performance){TAIL}",
)
TITLES = _rules(
    feature=r"^(please )?(allow|add|support|implement|introduce|provide|enable|expose|extend|feature request|new)\b",
    documentation=r"^(document|clarify|typo|docs?|documentation)\b|\bin the docs?$",
    bug_fix=r"^fix(e[sd])?\b",
)
REWORK = _rules(
    refactoring=r"^(refactor|rename|clean ?up|deprecate|remove|simplify|move|replace|drop|convert|migrate)\b",
    performance=r"^(speed up|optimi[sz]e)\b|\b(slow|performance)\b",
)
SIGNS = _rules(
    bug_fix=r"traceback \(most recent call last\)|stack ?trace|\bpanic(ked)?\b|\bsegfaults?\b|segmentation fault"
    r"|\b(bugs?|errors?|exceptions?|crash(es|ed|ing)?|regression|incorrect(ly)?|wrong(ly)?|broken|unexpected(ly)?)\b"
    r"|\b(fails?|failed|failing|failure|raises?|throws?|ignored|inconsistent(ly)?|invalid)\b|\w+(Error|Exception)\b"
    r"|\b(can(no|')t|cannot|does(n't| not)|do(n't| not)|is(n't| not)|not work(ing)?|no longer|should(n't| not))\b",
    feature=r"\b(feature|enhancement|proposal|suggestion)\b"
    r"|\b(would|could) be (nice|useful|great|good|helpful|possible)\b"
    r"|\b(i('d| would) like|is there a way|please (add|support))\b",
)


def complexity(touched: Iterable[TouchedNode]) -> Complexity:
    """Count the innermost functions and classes around the lines of a patch."""
    kinds = [each.kind for each in {node.key: node for node in touched}.values()]
    functions, classes = kinds.count("function"), kinds.count("class")
    if functions and classes:
        return Complexity.MIXED
    if functions:
        return Complexity.SINGLE_FUNCTION if functions == 1 else Complexity.FUNCTIONS
    if classes:
        return Complexity.SINGLE_CLASS if classes == 1 else Complexity.CLASSES
    return Complexity.NONE


def category(instance: Instance) -> Category:
    """Return the category of an instance, by the first rule that matches; ``unknown`` if none does.

    The rules in order: the row's own word; a tag before the title; a gold patch of documents only; a beginning of the
    title that asks for something new; signs of a fault, then of a feature, in the title; a beginning of the title that
    asks to change existing code; the same signs in the whole statement.
    """
    if own := re.sub(r"\W+", "_", read_column(instance, OWN_COLUMN).lower()):
        return Category(name=own, by=f"the row's {OWN_COLUMN}")
    lines = (line.strip(" \t\r#*") for line in instance.problem_statement.split("\n"))
    title = next(filter(None, lines), "")
    checks: tuple[tuple[str, Callable[[], Category | None]], ...] = (
        ("tag", lambda: _match_first(TAGS, title)),
        ("patch", lambda: _match_documents(instance.gold_patch)),
        ("beginning of the title", lambda: _match_first(TITLES, title)),
        ("title", lambda: _match_first(SIGNS, title)),
        ("beginning of the title", lambda: _match_first(REWORK, title)),
        ("statement", lambda: _match_first(SIGNS, instance.problem_statement)),
    )
    for place, check in checks:
        if found := check():
            return found.model_copy(update={"by": f"{place}: {found.by}"})
    return Category(name="unknown", by="no rule")


def read_column(instance: Instance, name: str) -> str:
    """Return a column that the row has and Assay does not interpret; empty if it has none, or no text in it."""
    columns = dict(instance.origin.columns) if instance.origin else {}
    given = json.loads(columns.get(name, '""'))
    return given.strip() if isinstance(given, str) else ""


def _match_first(rules: _Rules, text: str) -> Category | None:
    for category, pattern in rules.items():
        if match := pattern.search(text):
            return Category(name=category, by=" ".join(match[0].split()))
    return None


def _match_documents(patch: str) -> Category | None:
    try:
        paths = {change.base_path for change in parse_patch(patch)}
    except MalformedPatchError:
        return None
    if paths and all(PurePosixPath(path).suffix.lower() in DOCUMENTS for path in paths):
        return Category(name="documentation", by="documents only")
    return None
