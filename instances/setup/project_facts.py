"""Facts about a project, read before anything is built, and the recipe to try first. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.instances.setup.language_version import choose_version
from assay.instances.setup.project import Project
from assay.instances.setup.python_manifests import Declared, read_declared
from assay.instances.setup.shell_lines import Installs, installs, read_automation, read_documents, workflow_values

TEST_NAME = re.compile(
    r"(unit)?tests?([-_]?(deps|requirements?|all|extras?|unit|py\d*|requires|suite))?|testing|pytest", re.I
)
DEV_NAME = re.compile(r"dev(el|elop|elopment)?([-_]?(deps|requirements?))?|ci|all|full|complete|default", re.I)
TEST_FILE = re.compile(
    r"(?:.*/)?(?:[\w.-]*tests?(ing)?[\w.-]*/)?[\w.-]*requirements?[\w.-]*\.txt|requirements/tests?\w*\.txt", re.I
)
TOOLS = re.compile(
    r"pip|setuptools|wheel|uv|tox([-_].*)?|nox|poetry([-_].*)?|hatch|pdm|build|twine|flit|virtualenv|pre-commit|black|ruff|"
    r"flake8.*|mypy|pylint|isort|codecov|coveralls|coverage|sphinx.*|mkdocs.*|bandit|safety|pyright|cibuildwheel|pipenv|"
    r"pyinstaller|bump2version|gitpython|check-manifest|types-.*|conda|mamba|pyupgrade|readme.renderer|zest.releaser",
    re.I,
)
"""Distributions that no test imports."""
REQUIREMENT_FILES = ("*requirements*.txt", "requirements/*")
NUMBERS: Mapping[str, str] = {"python": r"\b3\.\d+"}  # pattern of a version, where not every number is one


@dataclass(frozen=True, slots=True)
class Facts:
    """All that set-up reads from a tree."""

    project: Project
    declared: Declared
    installed: Installs
    """Packages that its workflows, Dockerfiles, makefiles and nox sessions install, and Debian's in its documents."""
    versions: tuple[str, ...]
    """Versions of the language that workflows and classifiers name."""
    requires: str
    """Bound on the language's version, as a PEP 440 specifier."""
    available: tuple[str, ...]
    """Versions of the language that there are toolchains for."""

    def declaring(self, distribution: str) -> str:
        """Return the requirement with which the project itself asks for a distribution anywhere, or nothing."""
        wanted = canonicalize_name(distribution)
        return next((text for text in self._everywhere() if get_name(text) == wanted), "")

    def file_declaring(self, distribution: str) -> str:
        """Return the requirement file with the shortest path that names a distribution, or nothing.

        Nothing where the project's manifests name its requirements: its files then have other purposes.
        """
        if self.declared.dependencies:
            return ""
        wanted = canonicalize_name(distribution)
        files = self.project.matching(*REQUIREMENT_FILES)
        naming = [path for path, text in files if wanted in map(get_name, plain_requirements(text))]
        return min(naming, key=len, default="")

    def _everywhere(self) -> Iterable[str]:
        for requirements in (*self.declared.extras.values(), *self.declared.groups.values()):
            yield from requirements
        for _, text in self.project.matching(*REQUIREMENT_FILES):
            yield from plain_requirements(text)
        yield from self.installed.packages


def read_facts(project: Project, available: Sequence[str]) -> Facts:
    declared = read_declared(project) if project.language == "python" else Declared()
    keys = languages.find(project.language).VERSION_KEYS
    numbers = (re.findall(NUMBERS.get(project.language, r"\d+(?:\.\d+)?"), v) for v in workflow_values(project, *keys))
    named = tuple(dict.fromkeys((*(each for found in numbers for each in found), *declared.versions)))
    return Facts(
        project=project,
        declared=declared,
        installed=installs([*read_automation(project), *read_documents(project)]),
        versions=named,
        requires=declared.requires or _bound(project),
        available=tuple(available),
    )


def propose(facts: Facts) -> Recipe:
    project = facts.project
    language, day = project.language, project.date.date()
    toolchain = choose_version(language, facts.available, day, requires=facts.requires, named=facts.versions)
    recipe = Recipe(repo=project.repo, language=language, toolchain=toolchain)
    return _python_recipe(facts, recipe) if project.language == "python" else recipe


def _python_recipe(facts: Facts, recipe: Recipe) -> Recipe:
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


def exclude_markers(markers: Iterable[str]) -> str:
    """Return the argument with which pytest leaves out tests that have one of these markers."""
    return f"-m 'not ({' or '.join(markers)})'"


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


def plain_requirements(text: str) -> list[str]:
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    return [line for line in lines if get_name(line)]


def get_name(requirement: str) -> str:
    """Return the normalised name of the distribution that a requirement asks for; empty for anything else."""
    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return ""


def _bound(project: Project) -> str:
    path, pattern = languages.find(project.language).LEAST_VERSION
    found = re.search(pattern, project.text(path)) if path else None
    return f">={found[1]}" if found else ""


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    """Return requirements once for each distribution: the first that is named."""
    found: dict[str, str] = {}
    for each in items:
        found.setdefault(get_name(each), each)
    return tuple(each for name, each in found.items() if name)
