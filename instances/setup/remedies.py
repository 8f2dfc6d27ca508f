"""Remedies of set-up: each changes a recipe by a symptom's groups and the facts of the project. Pure."""

import re
import sys
from collections.abc import Callable, Mapping

from assay.harness.domain import Recipe
from assay.instances.setup import build_remedies, debian_remedies, node_remedies
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.language_version import allows, minor, sort_versions
from assay.instances.setup.project_facts import TOOLS, Facts, get_name, plain_requirements
from assay.instances.setup.providers import find_debian_package, find_distribution, load_providers
from assay.instances.setup.recipe_edits import Found
from assay.instances.setup.shell_lines import workflow_variable

SITE = '"$(python -c \'import sysconfig; print(sysconfig.get_path("purelib"))\')/testbed.pth"'
STANDARD = sys.stdlib_module_names | {"imp", "distutils", "asyncore", "asynchat", "smtpd", "cgi", "cgitb", "crypt"}
STANDARD |= {"pipes", "imghdr", "sndhdr", "telnetlib", "nntplib", "audioop", "binhex", "formatter", "parser", "symbol"}
"""Modules that Python has or had: another version of Python brings them, and no distribution."""
DJANGO_SETTINGS = re.compile(r"DJANGO_SETTINGS_MODULE['\"]?\s*[=:,]\s*['\"]?([\w.]+)")
DJANGO_MODULE = re.compile(
    r"(?:.*[/_])?tests?[/_]settings\.py|(?:.*/)?settings_?tests?\.py|(?:.*/)?test_?project/settings\.py"
)


def add_debian_packages(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    return edits.add_items(recipe, "system_packages", found["packages"].split())


def add_library(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a header or a library, which ``table`` knows, and the packages ``beside`` it.

    Without a package, add all that the project's workflows install to build.
    """
    package = find_debian_package(found["table"], found["name"])
    system, commands = facts.installed.system, load_providers().commands.values()
    of_workflows = [name for name in system if name.endswith("-dev") or name in commands]
    packages = [package, *found.get("beside", "").split()] if package else of_workflows
    return edits.add_items(recipe, "system_packages", packages)


def add_command(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    name = found["name"].rpartition("/")[2]
    packages = load_providers().commands.get(name, "").split()
    of_its_name = [each for each in facts.installed.system if each == name]
    return edits.add_items(recipe, "system_packages", packages or of_its_name)


def add_module(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the distribution of a module, or the requirement file that names it.

    If the project asks for none and the tree has the module, look in its folder.
    """
    top = found["name"].partition(".")[0]
    if top in STANDARD:
        return recipe
    if top == get_name(facts.project.repo.partition("/")[2]).replace("-", "_") and recipe.install:
        return recipe
    distribution = find_distribution(found["name"])
    declared = facts.declaring(distribution)
    if not declared and (root := _find_folder(top, facts.project.paths)):
        return edits.set_variable(recipe, "PYTHONPATH", root)
    if file := facts.file_declaring(distribution):
        return edits.add_items(recipe, "requirements", [file])
    return edits.add_package(recipe, declared or distribution)


def _find_folder(module: str, paths: tuple[str, ...]) -> str:
    """Return the folder, as a path in the container, from which a tree has a module; empty if it has none."""
    ends = (f"/{module}.py", f"/{module}/__init__.py")
    found = [f"/{path}" for path in paths if f"/{path}".endswith(ends)]
    homes = {path.rpartition(next(end for end in ends if path.endswith(end)))[0] for path in found}
    nearest = sorted(homes, key=lambda home: (home.count("/"), home))
    return f"/testbed{nearest[0]}" if nearest else ""


def add_declared(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add a distribution by its name, if the project asks for it somewhere."""
    return edits.add_package(recipe, facts.declaring(found["name"]))


def add_plugin(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the plug-in that brings a fixture, a marker or a setting; ``table`` says which."""
    return _add_bounded(recipe, getattr(load_providers(), found["table"]).get(found["name"], ""), facts)


def add_option(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the plug-ins of options; without any, leave the project's own options out."""
    changed = recipe
    for word in found["name"].split():
        changed = _add_bounded(changed, load_providers().options.get(word.partition("=")[0], ""), facts)
    return changed if changed != recipe else edits.add_pytest_option(recipe, "-o addopts=")


def add_plugins(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    for name in found["name"].replace(",", " ").split():
        recipe = _add_bounded(recipe, name, facts)
    return recipe


def add_coroutine_plugin(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Add the plug-in for coroutines that the project names, else the usual one."""
    names = ("pytest-asyncio", "anyio", "pytest-trio")
    return _add_bounded(recipe, next((name for name in names if facts.declaring(name)), names[0]), facts)


def copy_variable(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    value = workflow_variable(facts.project, found["name"])
    return edits.set_variable(recipe, found["name"], value) if value else recipe


def set_variable(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    return edits.set_variable(recipe, found["variable"], found["value"])


def add_pytest_option(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    return edits.add_pytest_option(recipe, found["option"])


def drop_requirement(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Remove a requirement of the recipe's own, or else the requirement file that names it."""
    without = edits.remove_package(recipe, found["name"])
    if without != recipe:
        return without
    wanted, text = get_name(found["name"]), facts.project.text
    files = [path for path in recipe.requirements if wanted in map(get_name, plain_requirements(text(path)))]
    return edits.remove_items(recipe, "requirements", files)


def drop_item(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    return edits.remove_items(recipe, found["field"], [found["name"]])


def take_one_file(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    return recipe.model_copy(update={"requirements": recipe.requirements[:1]})


def loosen_requirement(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Remove the bounds of a requirement of the recipe's own; else take later packages."""
    loose = edits.loosen_package(recipe, found["name"])
    return loose if loose != recipe else edits.allow_later_packages(recipe)


def declare_requirements(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    if not recipe.metadata:
        return recipe
    extras = [each for name in recipe.extras for each in facts.declared.extras.get(name, ())]
    files = [each for each in ("requirements.txt",) if each in facts.project.texts]
    wanted = recipe.model_copy(update={"metadata": False, "extras": ()})
    for each in (*facts.declared.dependencies, *extras):
        wanted = edits.add_package(wanted, each) if not TOOLS.fullmatch(get_name(each)) else wanted
    return wanted if facts.declared.dependencies else edits.add_items(wanted, "requirements", files)


def pretend_version(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Report a version to build tools that read it from git tags."""
    return recipe.model_copy(update={"pretend_version": True})


def install_by_path(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Put the tree, or its folder ``src``, on Python's path in place of an installation."""
    if recipe.install:
        return recipe
    folders = ["/testbed/src"] if any(path.startswith("src/") for path in facts.project.paths) else []
    lines = "\\n".join([*folders, "/testbed"])
    return recipe.model_copy(update={"install": (f"printf '{lines}\\n' > {SITE}",)})


def newer_version(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Take the oldest version of the language that is at least this one."""
    wanted = found["version"]
    later = [each for each in _list_allowed(facts) if sort_versions([wanted, each])[0] == wanted]
    return edits.choose_toolchain(recipe, later[:1] if recipe.toolchain not in later else ())


def next_version(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    versions = _list_allowed(facts)
    later = versions[versions.index(recipe.toolchain) + 1 :] if recipe.toolchain in versions else []
    return edits.choose_toolchain(recipe, later)


def older_version(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Take the newest version of the language that is at most this one."""
    wanted = found["version"]
    earlier = [each for each in _list_allowed(facts) if sort_versions([wanted, minor(each)])[-1] == wanted]
    return edits.choose_toolchain(recipe, earlier[-1:] if recipe.toolchain not in earlier else ())


def add_bound(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    return edits.add_bound(recipe, found["bound"])


def enable_cgo(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    compiling = edits.add_items(recipe, "system_packages", ("gcc", "libc6-dev"))
    return edits.set_variable(compiling, "CGO_ENABLED", "1")


def start_service(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Start the program that usually listens on a port."""
    service = load_providers().services.get(found["port"])
    if service is None:
        return recipe
    return edits.start_program(edits.add_items(recipe, "system_packages", service.packages), service.start)


def name_django_settings(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Name the settings module that the project's own automation names, or the one among its tests."""
    texts = sorted(facts.project.texts.items(), key=lambda each: each[0].count("/"))
    named = DJANGO_SETTINGS.search("\n".join(text for _, text in texts))
    paths = sorted(facts.project.paths, key=len)
    module = named[1] if named else next(filter(DJANGO_MODULE.fullmatch, paths), "")
    if not module:
        return recipe
    recipe = edits.set_variable(_add_bounded(recipe, "pytest-django", facts), "PYTHONPATH", "/testbed")
    return edits.set_variable(recipe, "DJANGO_SETTINGS_MODULE", module.removesuffix(".py").replace("/", "."))


def _add_bounded(recipe: Recipe, distribution: str, facts: Facts) -> Recipe:
    return edits.add_package(recipe, facts.declaring(distribution) or distribution) if distribution else recipe


def _list_allowed(facts: Facts) -> list[str]:
    available = sort_versions(facts.available)
    return [each for each in available if allows(facts.requires, each)] or available


OWN = (
    *(add_debian_packages, add_library, add_command),
    *(add_module, add_declared, add_plugin, add_option, add_plugins, add_coroutine_plugin),
    *(copy_variable, set_variable, add_pytest_option, drop_requirement, drop_item, take_one_file),
    *(loosen_requirement, declare_requirements, pretend_version, install_by_path, newer_version, older_version),
    *(next_version, add_bound, enable_cgo, start_service, name_django_settings),
)
REMEDIES: Mapping[str, Callable[[Recipe, Found, Facts], Recipe]] = {
    each.__name__: each for each in (*OWN, *build_remedies.REMEDIES, *debian_remedies.REMEDIES, *node_remedies.REMEDIES)
}
"""The remedies that files in ``rules/`` may name."""
