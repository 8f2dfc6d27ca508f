"""Remedies of set-up for PHP and Ruby on Debian's packages. Pure."""

import re

from assay.harness.domain import Recipe
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.composer_manifests import find_extension
from assay.instances.setup.debian_libraries import add_libraries
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import load_providers
from assay.instances.setup.recipe_edits import Found


def add_extension(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Add an extension of PHP, by its name or by the prefix of its functions and classes."""
    return edits.add_items(recipe, "system_packages", [find_extension(found["name"].lower())])


def add_class(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add what has a class of PHP: a mirrored library, or Debian's package that a table or a rule of names knows."""
    parts = found["name"].strip("\\").split("\\")
    for size in range(len(parts), 0, -1):
        prefix = "\\".join(parts[:size])
        library = next((name for name, each in facts.libraries.items() if _has_prefix(each.manifest, prefix)), "")
        if library:
            return add_libraries(recipe, [library], facts)
        if packages := load_providers().php_classes.get(prefix, ""):
            return edits.add_items(recipe, "system_packages", packages.split())
    if parts[:2] == ["Symfony", "Component"] and len(parts) > 3:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", parts[2]).lower()
        return add_libraries(recipe, [f"symfony/{words}"], facts)
    return recipe


def add_gem(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the gem with a file that Ruby cannot load, if the tree does not have that file."""
    feature = found["name"]
    if any(path.endswith(f"lib/{feature}.rb") for path in facts.project.paths):
        return recipe
    top = feature.partition("/")[0]
    for name in (load_providers().features.get(top, ""), feature.replace("/", "-"), top, top.replace("_", "-")):
        if name and (changed := add_libraries(recipe, [name], facts)) != recipe:
            return changed
    return recipe


def _has_prefix(manifest: str, namespace: str) -> bool:
    return f'"{namespace}\\"'.replace("\\", "\\\\") in manifest


REMEDIES = (add_extension, add_class, add_gem)
