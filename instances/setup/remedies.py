"""What the rules of set-up do about a symptom: a recipe, what was found and the facts give a recipe. Pure."""

import re
import sys
from collections.abc import Callable, Mapping

from assay.harness.domain import Recipe
from assay.instances.setup import recipe_edits as edits
from assay.instances.setup.language_version import allows, minor, ordered
from assay.instances.setup.project_facts import TOOLS, Facts, name_of, plain_requirements
from assay.instances.setup.providers import distribution_of, known, package_of_header, package_of_shared
from assay.instances.setup.shell_lines import workflow_variable

Found = Mapping[str, str]
"""The named groups of a symptom's pattern."""
COMPILER = ("gcc", "g++", "libc6-dev", "make")
SITE = '"$(python -c \'import sysconfig; print(sysconfig.get_path("purelib"))\')/testbed.pth"'
STANDARD = sys.stdlib_module_names | {"imp", "distutils", "asyncore", "asynchat", "smtpd", "cgi", "cgitb", "crypt"}
STANDARD |= {"pipes", "imghdr", "sndhdr", "telnetlib", "nntplib", "audioop", "binhex", "formatter", "parser", "symbol"}
"""Modules that Python has or had: another version of Python brings them, and no distribution."""
DJANGO_SETTINGS = re.compile(r"DJANGO_SETTINGS_MODULE['\"]?\s*[=:,]\s*['\"]?([\w.]+)")
DJANGO_MODULE = re.compile(
    r"(?:.*[/_])?tests?[/_]settings\.py|(?:.*/)?settings_?tests?\.py|(?:.*/)?test_?project/settings\.py"
)
EDITION_2024 = "1.85"
"""The first Rust that knows the edition 2024."""


def add_header(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a header."""
    package = package_of_header(found["name"])
    return edits.add_items(recipe, "system_packages", [package, *COMPILER] if package else _of_workflows(facts))


def add_library(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a library to build with."""
    package = known().libraries.get(found["name"].lower(), "")
    packages = [package, "pkg-config", *COMPILER] if package else _of_workflows(facts)
    return edits.add_items(recipe, "system_packages", packages)


def add_shared_library(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a library that is loaded."""
    package = package_of_shared(found["name"])
    return edits.add_items(recipe, "system_packages", [package] if package else _of_workflows(facts))


def add_typelib(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a namespace that ``gi`` loads."""
    package = known().typelibs.get(found["name"], "")
    return edits.add_items(recipe, "system_packages", [package] if package else _of_workflows(facts))


def add_command(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the package of a command."""
    name = found["name"].rpartition("/")[2]
    packages = known().commands.get(name, "").split()
    return edits.add_items(
        recipe, "system_packages", packages or [each for each in facts.installed.system if each == name]
    )


def add_compiler(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Add a compiler, for Python with its headers."""
    headers = ("python3-dev",) if recipe.language == "python" else ()
    return edits.add_items(recipe, "system_packages", (*COMPILER, *headers))


def add_openssl(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Add OpenSSL's headers."""
    return edits.add_items(recipe, "system_packages", ("libssl-dev", "pkg-config", *COMPILER))


def add_libclang(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Add clang with its library."""
    return edits.add_items(recipe, "system_packages", ("libclang-dev", "clang"))


def drop_debian_package(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Remove a Debian package."""
    return edits.remove_items(recipe, "system_packages", [found["name"]])


def add_module(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the distribution of a module, or the requirement file that names it.

    If the project asks for none and the tree has the module, look in its folder.
    """
    top = found["name"].partition(".")[0]
    if top in STANDARD:
        return recipe
    if top == name_of(facts.project.repo.partition("/")[2]).replace("-", "_") and recipe.install:
        return recipe
    distribution = distribution_of(found["name"])
    declared = facts.declaring(distribution)
    if not declared and (root := folder_of(top, facts.project.paths)):
        return edits.set_variable(recipe, "PYTHONPATH", root)
    if file := facts.file_declaring(distribution):
        return edits.add_items(recipe, "requirements", [file])
    return edits.add_package(recipe, declared or distribution)


def folder_of(module: str, paths: tuple[str, ...]) -> str:
    """Return the folder, as a path in the container, from which a tree has a module; empty if it has none."""
    ends = (f"/{module}.py", f"/{module}/__init__.py")
    found = [f"/{path}" for path in paths if f"/{path}".endswith(ends)]
    homes = {path.rpartition(next(end for end in ends if path.endswith(end)))[0] for path in found}
    nearest = sorted(homes, key=lambda home: (home.count("/"), home))
    return f"/testbed{nearest[0]}" if nearest else ""


def add_declared(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add a distribution by its name, if the project asks for it somewhere."""
    return edits.add_package(recipe, facts.declaring(found["name"]))


def add_fixture(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the plug-in of a fixture."""
    return _plugin(recipe, known().fixtures.get(found["name"], ""), facts)


def add_marker(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the plug-in of a marker."""
    return _plugin(recipe, known().markers.get(found["name"], ""), facts)


def add_setting(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the plug-in of a setting."""
    return _plugin(recipe, known().options.get(found["name"], ""), facts)


def add_option(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add the plug-ins of options; without any, leave the project's own options out."""
    changed = recipe
    for word in found["name"].split():
        changed = _plugin(changed, known().options.get(word.partition("=")[0], ""), facts)
    return changed if changed != recipe else edits.add_pytest_option(recipe, "-o addopts=")


def add_plugins(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Add plug-ins by their names."""
    for name in found["name"].replace(",", " ").split():
        recipe = _plugin(recipe, name, facts)
    return recipe


def add_coroutine_plugin(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Add the plug-in for coroutines that the project names, else the usual one."""
    known_names = ("pytest-asyncio", "anyio", "pytest-trio")
    return _plugin(recipe, next((name for name in known_names if facts.declaring(name)), known_names[0]), facts)


def set_variable(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Set an environment variable as the project's workflows do."""
    value = workflow_variable(facts.project, found["name"])
    return edits.set_variable(recipe, found["name"], value) if value else recipe


def import_by_path(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Let pytest import test modules by their path."""
    return edits.add_pytest_option(recipe, "--import-mode=importlib")


def allow_warnings(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Let warnings be warnings."""
    return edits.add_pytest_option(recipe, "-W default")


def drop_requirement(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Remove a requirement of the recipe's own, or else the requirement file that names it."""
    without = edits.remove_package(recipe, found["name"])
    if without != recipe:
        return without
    wanted = name_of(found["name"])
    files = [path for path in recipe.requirements if wanted in map(name_of, _lines(path, facts))]
    return edits.remove_items(recipe, "requirements", files)


def drop_file(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Remove a requirement file."""
    return edits.remove_items(recipe, "requirements", [found["name"]])


def take_one_file(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Keep only the first of several requirement files."""
    return recipe.model_copy(update={"requirements": recipe.requirements[:1]})


def loosen_requirement(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Remove the bounds of a requirement of the recipe's own; else take later packages."""
    loose = edits.loosen_package(recipe, found["name"])
    return loose if loose != recipe else edits.allow_later_packages(recipe)


def declare_requirements(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """List what the project requires in the recipe."""
    if not recipe.metadata:
        return recipe
    extras = [each for name in recipe.extras for each in facts.declared.extras.get(name, ())]
    files = [each for each in ("requirements.txt",) if each in facts.project.texts]
    wanted = recipe.model_copy(update={"metadata": False, "extras": ()})
    for each in (*facts.declared.dependencies, *extras):
        wanted = edits.add_package(wanted, each) if not TOOLS.fullmatch(name_of(each)) else wanted
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
    later = [each for each in _allowed(facts) if ordered([found["version"], each])[0] == found["version"]]
    return edits.choose_toolchain(recipe, later[:1] if recipe.toolchain not in later else ())


def next_version(recipe: Recipe, _found: Found, facts: Facts) -> Recipe:
    """Take the version of the language that comes next."""
    versions = _allowed(facts)
    later = versions[versions.index(recipe.toolchain) + 1 :] if recipe.toolchain in versions else []
    return edits.choose_toolchain(recipe, later)


def older_version(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Take the newest version of the language that is at most this one."""
    earlier = [each for each in _allowed(facts) if ordered([found["version"], minor(each)])[-1] == found["version"]]
    return edits.choose_toolchain(recipe, earlier[-1:] if recipe.toolchain not in earlier else ())


def newer_rust(recipe: Recipe, found: Found, facts: Facts) -> Recipe:
    """Take a Rust that is at least this one, or that knows the edition 2024."""
    return newer_version(recipe, {"version": found.get("version") or EDITION_2024}, facts)


def bound(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Bound a distribution's version."""
    return edits.add_bound(recipe, found["bound"])


def enable_cgo(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Let Go compile C."""
    compiling = edits.add_items(recipe, "system_packages", ("gcc", "libc6-dev"))
    return edits.set_variable(compiling, "CGO_ENABLED", "1")


def allow_module_changes(recipe: Recipe, _found: Found, _facts: Facts) -> Recipe:
    """Let Go complete go.mod and go.sum."""
    return edits.set_variable(recipe, "GOFLAGS", "-mod=mod")


def start_service(recipe: Recipe, found: Found, _facts: Facts) -> Recipe:
    """Start the program that usually listens on a port."""
    service = known().services.get(found["port"])
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
    recipe = edits.set_variable(_plugin(recipe, "pytest-django", facts), "PYTHONPATH", "/testbed")
    return edits.set_variable(recipe, "DJANGO_SETTINGS_MODULE", module.removesuffix(".py").replace("/", "."))


def _plugin(recipe: Recipe, distribution: str, facts: Facts) -> Recipe:
    """Add a distribution with the bounds that the project itself names, if there is such a distribution."""
    return edits.add_package(recipe, facts.declaring(distribution) or distribution) if distribution else recipe


def _of_workflows(facts: Facts) -> list[str]:
    """Return the Debian packages that the project's own workflows install for its build."""
    return [name for name in facts.installed.system if name.endswith("-dev") or name in known().commands.values()]


def _lines(path: str, facts: Facts) -> list[str]:
    return plain_requirements(facts.project.text(path))


def _allowed(facts: Facts) -> list[str]:
    fitting = [each for each in ordered(facts.available) if allows(facts.requires, each)]
    return fitting or ordered(facts.available)


Remedy = Callable[[Recipe, Found, Facts], Recipe]
REMEDIES: Mapping[str, Remedy] = {
    each.__name__: each
    for each in (
        *(add_header, add_library, add_shared_library, add_typelib, add_command),
        *(add_compiler, add_openssl, add_libclang),
        *(drop_debian_package, add_module, add_declared, add_fixture, add_marker, add_setting, add_option, add_plugins),
        *(
            add_coroutine_plugin,
            import_by_path,
            allow_warnings,
            drop_requirement,
            drop_file,
            take_one_file,
            loosen_requirement,
        ),
        *(declare_requirements, pretend_version, install_by_path, newer_version, older_version, newer_rust, bound),
        *(next_version, set_variable, enable_cgo, allow_module_changes, start_service, name_django_settings),
    )
}
"""The remedies that ``symptoms.yaml`` may name."""
