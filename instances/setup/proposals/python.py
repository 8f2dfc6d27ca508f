"""The recipe to try first for a Python project. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.instances.setup.project_facts import TOOLS, Facts, get_name
from assay.instances.setup.python_manifests import Declared
from assay.instances.setup.recipe_edits import exclude_markers

TEST_NAME = re.compile(
    r"(unit)?tests?([-_]?(deps|requirements?|all|extras?|unit|py\d*|requires|suite))?|testing|pytest", re.I
)
DEV_NAME = re.compile(r"dev(el|elop|elopment)?([-_]?(deps|requirements?))?|ci|all|full|complete|default", re.I)
TEST_FILE = re.compile(
    r"(?:.*/)?(?:[\w.-]*tests?(ing)?[\w.-]*/)?[\w.-]*requirements?[\w.-]*\.txt|requirements/tests?\w*\.txt", re.I
)


def propose(facts: Facts, recipe: Recipe) -> Recipe:
    declared = facts.declared
    recipe = recipe.model_copy(
        update={
            "extras": _test_extras(declared),
            "requirements": tuple(path for path in declared.files if path in facts.project.texts),
            "packages": _requirements(declared.groups, TEST_NAME),
            "pretend_version": declared.from_tags,
            "env": {"PYTEST_ADDOPTS": exclude_markers(declared.markers)} if declared.markers else {},
            **_command(facts),
        }
    )
    if not (recipe.extras or recipe.requirements or recipe.packages):
        recipe = recipe.model_copy(update={"requirements": _test_files(facts)})
    if not (recipe.extras or recipe.requirements or recipe.packages):
        extras, packages = _match_names(declared.extras, DEV_NAME), _requirements(declared.groups, DEV_NAME)
        requirements = _dev_files(facts)
        recipe = recipe.model_copy(update={"extras": extras, "packages": packages, "requirements": requirements})
    own = get_name(facts.project.repo.partition("/")[2])
    installed = ((get_name(each), each) for each in facts.installed.packages)
    of_workflows = [each for name, each in installed if name != own and not TOOLS.fullmatch(name)]
    packages = _unique((*recipe.packages, *declared.to_build, *of_workflows, "pytest"))
    return recipe.model_copy(update={"packages": packages})


def _command(facts: Facts) -> dict[str, object]:
    """Return the fields that make a run of the whole suite look only at the folders that hold the tests."""
    paths = facts.project.paths
    folders = [each for each in facts.declared.folders if each not in {"", "."} and _exists(each, paths)]
    folders = folders or [each for each in ("tests", "test") if _has_tests(each, paths)]
    usual = languages.find("python").TEST_COMMAND
    if not folders:
        return {}
    return {"test_command": usual.replace("|| set -- .", f"|| set -- {' '.join(folders)}"), "runner": "pytest"}


def _exists(folder: str, paths: Sequence[str]) -> bool:
    inside = any(path == folder or path.startswith(f"{folder}/") for path in paths)
    return inside and bool(re.fullmatch(r"[\w./-]+", folder))


def _has_tests(folder: str, paths: Sequence[str]) -> bool:
    return any(re.fullmatch(rf"{folder}/(.*/)?(test_[^/]*|[^/]*_test)\.py", path) for path in paths)


def _match_names(table: Mapping[str, object], pattern: re.Pattern[str]) -> tuple[str, ...]:
    return tuple(name for name in table if pattern.fullmatch(name))


def _test_extras(declared: Declared) -> tuple[str, ...]:
    of_tox = (name for name in declared.tox_extras if name in declared.extras)
    return tuple(dict.fromkeys((*_match_names(declared.extras, TEST_NAME), *of_tox)))


def _requirements(groups: Mapping[str, Sequence[str]], pattern: re.Pattern[str]) -> tuple[str, ...]:
    found = (each for name in _match_names(groups, pattern) for each in groups[name])
    return _unique(each for each in found if get_name(each) and not TOOLS.fullmatch(get_name(each)))


def _test_files(facts: Facts) -> tuple[str, ...]:
    """Return the shortest requirement file for tests; several are usually for different versions."""
    paths = (path for path, _ in facts.project.matching("*.txt") if "test" in path.lower())
    return tuple(sorted(filter(TEST_FILE.fullmatch, paths), key=len)[:1])


def _dev_files(facts: Facts) -> tuple[str, ...]:
    used = [path.removeprefix("./") for path in facts.installed.files]
    usual = ("requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "requirements/dev.txt")
    found = [path for path in (*used, *usual) if path in facts.project.texts and "doc" not in path]
    return tuple(dict.fromkeys(found))


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    """Return requirements once for each distribution: the first that is named."""
    found: dict[str, str] = {}
    for each in items:
        found.setdefault(get_name(each), each)
    return tuple(each for name, each in found.items() if name)
