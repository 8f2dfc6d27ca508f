"""Remedies of set-up for JavaScript and TypeScript. Pure."""

import re
from collections.abc import Mapping

from assay.harness.domain import Recipe
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.node_manifests import NodePackage, find_locked_major, read_packages
from assay.instances.setup.node_scripts import Expansion
from assay.instances.setup.node_suite import USUAL, is_build
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
BUILT = re.compile(rf"{AFTER}(?:\(cd \S+ && npm run build\) \|\| true\n)*")


def add_node_package(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a module; build first if the project makes the module itself."""
    name = "/".join(found["name"].split("/")[: 2 if found["name"].startswith("@") else 1])
    packages = read_packages(facts.project)
    if BUILTIN.fullmatch(name) or name.startswith(("@/", "~")) or not re.fullmatch(r"(@[\w.-]+/)?[\w.-]+", name):
        return recipe
    if any(package.name == name for package in packages.values()):
        return add_build(recipe, {"name": name}, facts)
    ranges = (package.dependencies.get(name, "") for package in packages.values())
    wanted = next((each for each in ranges if re.fullmatch(r"[\^~>=<\d. |*x-]+", each)), "")
    jest = find_locked_major(facts.project, "jest") if re.match(r"jest-|@jest/|ts-jest|babel-jest", name) else 0
    spec = f"{name}@{wanted or jest}" if wanted or jest else name
    return edits.add_items(recipe, "packages", [spec.replace(" ", "")])


def add_build(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Build before the tests: by the root's script, or by those of the packages, each after what it uses.

    If a module of one package is missing, the others are not built. One that cannot be built leaves its tests to fail.
    """
    packages, text = read_packages(facts.project), recipe.test_command
    scripts = [name for name in SCRIPTS if name in packages[""].scripts and _makes_files(name, packages)]
    named = next((folder for folder, package in packages.items() if folder and package.name == found.get("name")), "")
    folders = (each for each in _order(packages, named) if "build" in packages[each].scripts)
    lines = (
        [f"npm run {scripts[0]} || exit 1\n"]
        if scripts
        else [f"(cd {each} && npm run build) || true\n" for each in folders]
    )
    new = "".join(line for line in lines if line not in text)
    if not new or AFTER not in text:
        return recipe
    at = BUILT.search(text)
    return recipe.model_copy(update={"test_command": text[: at.end()] + new + text[at.end() :] if at else text})


def _makes_files(name: str, packages: Mapping[str, NodePackage]) -> bool:
    """Return whether a script builds; one that runs before publishing may do something else."""
    return not name.startswith("pre") or any(map(is_build, Expansion(packages).follow("", name)))


def _order(packages: Mapping[str, NodePackage], last: str = "") -> list[str]:
    """Return the folders of packages, or of `last` and what it uses, each behind its dependencies except in circles."""
    folders = {package.name: folder for folder, package in packages.items() if folder}
    done: list[str] = []

    def add(folder: str, above: tuple[str, ...]) -> None:
        for name in packages[folder].dependencies:
            if name in folders and folders[name] not in (*above, folder):
                add(folders[name], (*above, folder))
        if folder not in done:
            done.append(folder)

    for folder in [last] if last else filter(None, packages):
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


def add_jest_option(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    text, option = recipe.test_command, found["option"]
    changed = text if option in text else text.replace(" --forceExit", f" {option} --forceExit")
    return recipe.model_copy(update={"test_command": changed})


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


REMEDIES = (
    *(add_node_package, add_build, tolerate_build, add_node_option, add_jest_option, set_variables, add_browser),
    add_own_command,
)
