"""The recipe to try first, by language. Pure."""

from collections.abc import Callable, Mapping

from assay.harness.domain import Recipe
from assay.instances.setup.language_version import choose_version
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.proposals import javascript, jvm, native, php, python, ruby

PROPOSALS: Mapping[str, Callable[[Facts, Recipe], Recipe]] = {
    "python": python.propose,
    **dict.fromkeys(("javascript", "typescript"), javascript.propose),
    **dict.fromkeys(("java", "kotlin"), jvm.propose),
    **dict.fromkeys(("c", "cpp"), native.propose),
    "php": php.propose,
    "ruby": ruby.propose,
}
"""What completes a recipe that has no more than a version of the language; else the defaults serve."""


def propose(facts: Facts) -> Recipe:
    project = facts.project
    language, day = project.language, project.date.date()
    toolchain = choose_version(language, facts.available, day, requires=facts.requires, named=facts.versions)
    recipe = Recipe(repo=project.repo, language=language, toolchain=toolchain)
    complete = PROPOSALS.get(language)
    return complete(facts, recipe) if complete else recipe
