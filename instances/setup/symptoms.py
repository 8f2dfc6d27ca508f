"""Rules of set-up: what the output of a failed step shows, and the change of the recipe that answers it. Pure."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from pydantic import Field

from assay.harness.domain import Model, Recipe
from assay.harness.files import read_yaml
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import load_providers
from assay.instances.setup.remedies import REMEDIES
from assay.instances.setup.setup_record import AppliedChange

MOST_MATCHES = 60
"""Different matches of one pattern that are looked at; the same cause often shows a thousand times."""
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FOR_PYTHON: tuple[tuple[str, str, str], ...] = (
    ("left-python", "older_version", "the last Python with this is {value}"),
    ("came-to-python", "newer_version", "the first Python with this is {value}"),
    ("removed-api", "add_bound", "later releases lack this: {value}"),
)
"""Rules made of the tables ``python_removed``, ``python_added`` and ``removed`` of ``providers.yaml``."""


class Symptom(Model):
    """One rule; ``rules/any.yaml`` describes its fields."""

    name: str
    patterns: tuple[str, ...]
    remedy: str
    reason: str
    languages: tuple[str, ...] = ()
    given: dict[str, str] = Field(default_factory=dict)
    """Groups beside those of the patterns."""

    def matches(self, text: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the text of each different match, and its groups."""
        for pattern in self.patterns:
            seen: set[tuple[str | None, ...]] = set()
            for match in re.finditer(pattern, text, re.MULTILINE):
                if match.groups() not in seen:
                    seen.add(match.groups())
                    yield match[0], self.given | {key: value or "" for key, value in match.groupdict().items()}
                if len(seen) >= MOST_MATCHES:
                    break


def diagnose(text: str, recipe: Recipe, facts: Facts) -> tuple[Recipe, list[AppliedChange]]:
    """Apply every rule that matches the output of a failed step; each may change the recipe further.

    Returns:
        The changed recipe, and what changed it; the recipe itself and nothing if no rule knows an answer.
    """
    text, findings = COLOURS.sub("", text), []
    for symptom in symptoms():
        if symptom.languages and recipe.language not in symptom.languages:
            continue
        for line, groups in symptom.matches(text):
            changed = REMEDIES[symptom.remedy](recipe, groups, facts)
            if changed != recipe:
                reason, shown = symptom.reason.format(**groups), " ".join(line.split())[:200]
                findings.append(AppliedChange(rule=symptom.name, reason=reason, line=shown))
                recipe = changed
    return recipe, findings


def name_unanswered(text: str, recipe: Recipe, facts: Facts) -> list[str]:
    """Return the reasons of the rules that match an output and know no change, each once."""
    found = dict[str, None]()
    for symptom in symptoms():
        if symptom.languages and recipe.language in symptom.languages:
            for _, groups in symptom.matches(COLOURS.sub("", text)):
                if REMEDIES[symptom.remedy](recipe, groups, facts) == recipe:
                    found[symptom.reason.format(**groups)] = None
    return list(found)


@cache
def symptoms() -> tuple[Symptom, ...]:
    folder = Path(__file__).with_name("rules")
    files = sorted(folder.glob("*.yaml"), key=lambda path: (path.stem != "any", path.stem))
    own = [Symptom.model_validate(each) for path in files for each in read_yaml(path)]
    tables = (load_providers().python_removed, load_providers().python_added, load_providers().removed)
    of_tables = [
        Symptom(
            name=name,
            patterns=(pattern,),
            remedy=remedy,
            reason=reason.format(value=value),
            languages=("python",),
            given={"version": value, "bound": value},
        )
        for (name, remedy, reason), table in zip(FOR_PYTHON, tables, strict=True)
        for pattern, value in table.items()
    ]
    return (*of_tables, *own)
