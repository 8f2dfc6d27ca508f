"""The recipe to try first for a PHP project. Pure."""

from assay.harness.domain import Recipe
from assay.instances.setup.composer_manifests import permits, read_composed
from assay.instances.setup.debian_libraries import add_libraries
from assay.instances.setup.language_version import IN_USE, get_release_date, sort_versions
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import list_debian_libraries, load_providers
from assay.instances.setup.recipe_edits import add_items


def propose(facts: Facts, recipe: Recipe) -> Recipe:
    composed = read_composed(facts.project.text("composer.json"))
    toolchain = _choose_version(facts, composed.needs.get("php", ""), composed.needs.get("phpunit/phpunit", ""))
    recipe = recipe.model_copy(update={"toolchain": toolchain, "uses_index": facts.has_index})
    debian = list_debian_libraries("php", toolchain)
    recipe = add_items(recipe, "system_packages", (each for each in composed.extensions if each in debian))
    return recipe if facts.has_index else add_libraries(recipe, composed.packages, facts)


def _choose_version(facts: Facts, php: str, phpunit: str) -> str:
    """Return the PHP whose PHPUnit, of the same release of Debian, the project tests with; the oldest of several.

    One that the project excludes, or that was not in use yet, comes last.
    """
    day, debian = facts.project.date.date(), load_providers().phpunit

    def rank(version: str) -> tuple[bool, bool, bool]:
        early = get_release_date("php", version) + IN_USE > day
        return not permits(php, version), not permits(phpunit, debian.get(version, "")), early

    versions = sort_versions(facts.available)
    return min(versions, key=lambda each: (*rank(each), -versions.index(each)), default="")
