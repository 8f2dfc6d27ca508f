"""Remedies of set-up for JavaScript and TypeScript. Pure."""

import re
from collections.abc import Mapping

from assay.harness.domain import Recipe
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.node_manifests import NodePackage, find_locked_major, read_packages
from assay.instances.setup.node_suite import USUAL
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.recipe_edits import Found

BUILTIN = re.compile(
    r"node:.*|assert|buffer|child_process|crypto|events|fs|http2?|https|net|os|path|stream|url|util|zlib|vm|tls|dns"
)
SCRIPTS = (
    *("build:test", "build", "compile", "build:all", "build:packages", "build:lib"),
    *("prepare", "prepack", "prepublishOnly"),
)
"""Names of the scripts that usually make what packages offer, the likeliest first."""
AFTER = "export PATH\n"
"""The line of a test command behind which builds stand."""


def add_node_package(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a module; build first if the project makes the module itself."""
    name = "/".join(found["name"].split("/")[: 2 if found["name"].startswith("@") else 1])
    packages = read_packages(facts.project)
    if BUILTIN.fullmatch(name) or name.startswith(("@/", "~")) or not re.fullmatch(r"(@[\w.-]+/)?[\w.-]+", name):
        return recipe
    if any(package.name == name for package in packages.values()):
        return add_build(recipe, found, facts)
    ranges = (package.dependencies.get(name, "") for package in packages.values())
    wanted = next((each for each in ranges if re.fullmatch(r"[\^~>=<\d. |*x-]+", each)), "")
    jest = find_locked_major(facts.project, "jest") if re.match(r"jest-|@jest/|ts-jest|babel-jest", name) else 0
    spec = f"{name}@{wanted or jest}" if wanted or jest else name
    return edits.add_items(recipe, "packages", [spec.replace(" ", "")])


def add_build(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Build before the tests: by the root's script, or by those of its packages, each after what it uses."""
    packages, text = read_packages(facts.project), recipe.test_command
    root = next((name for name in SCRIPTS if name in packages[""].scripts), "")
    lines = [f"npm run {root}"] if root else []
    lines = lines or [
        f"(cd {folder} && npm run build)" for folder in _order(packages) if "build" in packages[folder].scripts
    ]
    new = "".join(f"{line} || exit 1\n" for line in lines)
    if not new or new in text or AFTER not in text:
        return recipe
    return recipe.model_copy(update={"test_command": text.replace(AFTER, AFTER + new, 1)})


def _order(packages: Mapping[str, NodePackage]) -> list[str]:
    """Return the folders of packages, each behind its dependencies as far as there is no circle."""
    folders = {package.name: folder for folder, package in packages.items() if folder}
    done: list[str] = []

    def add(folder: str, above: tuple[str, ...]) -> None:
        for name in packages[folder].dependencies:
            if name in folders and folders[name] not in (*above, folder):
                add(folders[name], (*above, folder))
        if folder not in done:
            done.append(folder)

    for folder in filter(None, packages):
        add(folder, ())
    return done


def tolerate_build(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Let tests run although a build before them fails: compilers of TypeScript write all files nevertheless."""
    return recipe.model_copy(update={"test_command": recipe.test_command.replace(" || exit 1\n", " || true\n")})


def add_node_option(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    given = recipe.env.get("NODE_OPTIONS", "")
    if found["option"].partition("=")[0] in given:
        return recipe
    changed = recipe.model_copy(update={"env": {**recipe.env, "NODE_OPTIONS": f"{given} {found['option']}".strip()}})
    return edits.double_memory(changed) if "old-space" in found["option"] else changed


def set_variables(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Set each of the variables in ``given``, written in capitals."""
    for name, value in found.items():
        recipe = edits.set_variable(recipe, name, value) if name.isupper() else recipe
    return recipe


def add_browser(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    chromium = "/usr/bin/chromium"
    for name in ("CHROME_BIN", "CHROME_PATH", "PUPPETEER_EXECUTABLE_PATH"):
        recipe = edits.set_variable(recipe, name, chromium)
    return edits.add_items(recipe, "system_packages", ["chromium"])


def add_own_command(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a missing program, if the project or the table of runners names it."""
    known = {"tsc": "typescript", **{name: name for name in ("bun", "tsx", "ts-node", "rimraf", "cross-env")}}
    name = known.get(found["name"]) or (found["name"] if found["name"] in USUAL else "")
    return add_node_package(recipe, {"name": name}, facts) if name else recipe


REMEDIES = (add_node_package, add_build, tolerate_build, add_node_option, set_variables, add_browser, add_own_command)
