"""Adds PHP's and Ruby's libraries to a recipe: Debian's packages, or else mirrors of their repositories. Pure."""

from collections.abc import Iterable

from assay.harness.domain import Recipe
from assay.instances.setup import composer_manifests, gem_manifests
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import list_debian_libraries, load_providers
from assay.instances.setup.recipe_edits import add_items


def add_libraries(recipe: Recipe, names: Iterable[str], facts: Facts) -> Recipe:
    """Add libraries by the names that Composer or RubyGems know, and what those in mirrors require.

    One that Debian's release lacks, and that no mirror has, is left out.
    """
    php = recipe.language == "php"
    name_package = composer_manifests.debian_name if php else gem_manifests.debian_name
    debian = list_debian_libraries(recipe.language, recipe.toolchain)
    wanted, seen = list(names), set(() if php else load_providers().in_ruby)
    while wanted:
        name = wanted.pop(0)
        if name in seen:
            continue
        seen.add(name)
        if (package := name_package(name)) in debian:
            recipe = add_items(recipe, "system_packages", [package])
        elif library := facts.libraries.get(name):
            if library.download not in recipe.downloads:
                recipe = recipe.model_copy(update={"downloads": (*recipe.downloads, library.download)})
            wanted += _read_needs(library.manifest, php=php)
    return recipe


def _read_needs(manifest: str, *, php: bool) -> Iterable[str]:
    if not php:
        return gem_manifests.read_runtime_names(manifest)
    composed = composer_manifests.read_composed(manifest)
    return (name for name in composed.packages if name in composed.runtime)
