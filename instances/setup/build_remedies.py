"""Remedies for build tools: of Java and Kotlin, and of C and C++. Pure."""

import re

from assay.harness.domain import Recipe
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.build_tools import fill_commands
from assay.instances.setup.jvm_manifests import find_release
from assay.instances.setup.language_version import sort_versions
from assay.instances.setup.native_manifests import CMAKE, find_target, list_other_trees
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.providers import find_debian_package, load_providers
from assay.instances.setup.recipe_edits import Found

JAVA_1 = 44  # the format of Java 1.0's classes is 45, and each version counts up
STRICT = re.compile(r"\boption\s*\(\s*(\w*(?:WERROR|WARN\w*_?AS_?ERR\w*|ERROR_ON_WARN\w*|TREAT_WARNINGS\w*)\w*)", re.I)
COMPILE = "<CMAKE_{0}_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -Wno-error -o <OBJECT> -c <SOURCE>"
"""CMake's rule for an object, with an option behind those of the project."""
INSTALL_MODULES = (
    "mvn --offline --batch-mode --quiet --fail-at-end {options} install -DskipTests > /dev/null 2>&1 || true"
)


def add_options(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    return edits.add_items(recipe, "options", found["options"].format_map(found).split())


def skip_plugin(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    return edits.add_items(recipe, "options", [load_providers().skips.get(found["name"], "")])


def jdk_of_classes(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Take the oldest JDK that reads a format of classes; none is taken for what the present one reads."""
    wanted = int(found["format"]) - JAVA_1
    later = [each for each in sort_versions(facts.available) if int(each) >= wanted]
    known = recipe.toolchain and int(recipe.toolchain) >= wanted
    return recipe if known else edits.choose_toolchain(recipe, later[:1])


def previous_version(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Take the JDK before the present one, if it compiles for the version that the build files name."""
    earlier = [each for each in sort_versions(facts.available) if find_release(facts.project) <= int(each)]
    known = recipe.toolchain in earlier
    return edits.choose_toolchain(recipe, earlier[: earlier.index(recipe.toolchain)][-1:] if known else ())


def install_modules(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    return recipe if recipe.install else recipe.model_copy(update={"install": (INSTALL_MODULES,)})


def allow_warnings(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Turn off the project's own switch for warnings as errors, or else put an option behind all others."""
    if "meson setup" in recipe.test_command:
        return edits.add_items(recipe, "options", ["-Dwerror=false"])
    if recipe.test_command:
        return edits.set_variable(
            edits.add_items(recipe, "options", ["CFLAGS=-g -O2 -Wno-error"]), "CFLAGS", "-Wno-error"
        )
    texts = "\n".join(text for _, text in facts.project.matching(*CMAKE))
    own = [f"-D{name}=OFF" for name in STRICT.findall(texts)]
    switched = edits.add_items(recipe, "options", own)
    rules = [f"-DCMAKE_{name}_COMPILE_OBJECT={COMPILE.format(name)}" for name in ("C", "CXX")]
    return switched if switched != recipe else edits.add_items(recipe, "options", rules)


def take_debian_packages(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Let CMake's FetchContent take what it would download from Debian's packages."""
    names = [each.name for each in list_other_trees(facts.project) if each.name]
    packages = [find_debian_package("libraries", name) for name in names]
    changed = edits.add_items(recipe, "system_packages", packages)
    return edits.add_items(changed, "options", ["-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS"]) if names else changed


def next_build_tool(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Take the commands of the next build tool that the root folder has files of."""
    if recipe.test_command:
        return recipe
    root = {path for path in facts.project.paths if "/" not in path}
    files = {"meson": {"meson.build"}, "configure": {"configure.ac", "configure"}, "make": {"Makefile", "GNUmakefile"}}
    others = [tool for tool, names in files.items() if root & names]
    if not others:
        return recipe
    folder, target = find_target(facts.project)
    commands = fill_commands(others[0], target or "check", folder or ".")
    return recipe.model_copy(update={**commands, "options": ()})


REMEDIES = (
    *(add_options, skip_plugin, jdk_of_classes, previous_version, install_modules),
    *(allow_warnings, take_debian_packages, next_build_tool),
)
