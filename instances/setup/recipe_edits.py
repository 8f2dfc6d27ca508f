"""Single changes of a recipe. Pure: each returns an equal recipe if there is nothing to change."""

import re
from collections.abc import Iterable, Mapping, Sequence

from packaging.requirements import Requirement

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.instances.setup.project_facts import Facts, get_name

OTHER_TEST_MODULE = re.compile(r"(?:.*/)?(?:tests|test[a-z0-9]\w*|\w+_tests)\.py")
LATER_DAYS = 90  # days by which the cut-off moves where the versions that are asked for came later
MOST_MEMORY = 8192  # megabytes


Found = Mapping[str, str]
"""The named groups of a symptom's pattern, and what the rule gives beside them."""


def add_items(recipe: Recipe, field: str, items: Iterable[str]) -> Recipe:
    known: tuple[str, ...] = getattr(recipe, field)
    new = tuple(each for each in dict.fromkeys(items) if each and each not in known)
    return recipe.model_copy(update={field: known + new}) if new else recipe


def remove_items(recipe: Recipe, field: str, items: Iterable[str]) -> Recipe:
    gone, known = set(items), getattr(recipe, field)
    return recipe.model_copy(update={field: tuple(each for each in known if each not in gone)})


def add_package(recipe: Recipe, requirement: str) -> Recipe:
    """Add a Python requirement, unless its distribution is there already."""
    name = get_name(requirement)
    known = {get_name(each) for each in recipe.packages}
    return add_items(recipe, "packages", [requirement]) if name and name not in known else recipe


def remove_package(recipe: Recipe, name: str) -> Recipe:
    return remove_items(recipe, "packages", [each for each in recipe.packages if get_name(each) == get_name(name)])


def loosen_package(recipe: Recipe, name: str) -> Recipe:
    """Remove the bounds of a Python requirement of the recipe's own."""

    def loose(text: str) -> str:
        found = Requirement(text)
        return found.name + (f"[{','.join(sorted(found.extras))}]" if found.extras else "")

    packages = tuple(loose(each) if get_name(each) == get_name(name) else each for each in recipe.packages)
    return recipe.model_copy(update={"packages": packages})


def add_bound(recipe: Recipe, bound: str) -> Recipe:
    """Add a bound on a version, unless the same distribution is bounded already."""
    known = {get_name(each) for each in recipe.constraints}
    return recipe if get_name(bound) in known else add_items(recipe, "constraints", [bound])


def allow_later_packages(recipe: Recipe) -> Recipe:
    return recipe if recipe.cutoff_days else recipe.model_copy(update={"cutoff_days": LATER_DAYS})


def set_variable(recipe: Recipe, name: str, value: str) -> Recipe:
    return recipe if name in recipe.env else recipe.model_copy(update={"env": {**recipe.env, name: value}})


def exclude_markers(markers: Iterable[str]) -> str:
    """Return the argument with which pytest leaves out tests that have one of these markers."""
    return f"-m 'not ({' or '.join(markers)})'"


def add_pytest_option(recipe: Recipe, option: str) -> Recipe:
    given = recipe.env.get("PYTEST_ADDOPTS", "")
    if option in given:
        return recipe
    return recipe.model_copy(update={"env": {**recipe.env, "PYTEST_ADDOPTS": f"{given} {option}".strip()}})


def collect_other_modules(recipe: Recipe, facts: Facts) -> Recipe:
    """Let pytest also collect modules that are called otherwise, such as ``tests.py``, if there are any."""
    if not any(OTHER_TEST_MODULE.fullmatch(path) for path in facts.project.paths):
        return recipe
    return add_pytest_option(recipe, "-o python_files='test*.py *_test.py *_tests.py tests.py'")


def skip_slow_tests(recipe: Recipe, facts: Facts) -> Recipe:
    """Leave out tests that the project marks as slow, beside tests that need a network."""
    given = recipe.env.get("PYTEST_ADDOPTS", "")
    others = given.replace(exclude_markers(facts.declared.markers), "") if facts.declared.markers else given
    option = exclude_markers((*facts.declared.markers, *facts.declared.slow))
    return recipe.model_copy(update={"env": {**recipe.env, "PYTEST_ADDOPTS": f"{others} {option}".strip()}})


def choose_toolchain(recipe: Recipe, chosen: Sequence[str]) -> Recipe:
    return recipe.model_copy(update={"toolchain": chosen[0]}) if chosen else recipe


def start_program(recipe: Recipe, command: str) -> Recipe:
    language = languages.find(recipe.language)
    tests = recipe.test_command or language.TEST_COMMAND
    if command in tests:
        return recipe
    runner = recipe.runner or ("" if recipe.test_command else language.DEFAULT_RUNNER)
    return recipe.model_copy(update={"test_command": f"{command}\n{tests}", "runner": runner})


def double_memory(recipe: Recipe) -> Recipe:
    return recipe.model_copy(update={"memory_mb": max(recipe.memory_mb, min(2 * recipe.memory_mb, MOST_MEMORY))})
