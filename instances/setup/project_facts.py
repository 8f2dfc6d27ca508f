"""Facts about a project, read before anything is built, and the recipe to try first. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from assay.harness import languages
from assay.harness.domain import TreeDownload
from assay.instances.setup.libraries import MirroredLibrary
from assay.instances.setup.project import Project
from assay.instances.setup.python_manifests import Declared, read_declared
from assay.instances.setup.shell_lines import Installs, installs, read_automation, read_documents, workflow_values

TOOLS = re.compile(
    r"pip|setuptools|wheel|uv|tox([-_].*)?|nox|poetry([-_].*)?|hatch|pdm|build|twine|flit|virtualenv|pre-commit|black|ruff|"
    r"flake8.*|mypy|pylint|isort|codecov|coveralls|coverage|sphinx.*|mkdocs.*|bandit|safety|pyright|cibuildwheel|pipenv|"
    r"pyinstaller|bump2version|gitpython|check-manifest|types-.*|conda|mamba|pyupgrade|readme.renderer|zest.releaser",
    re.I,
)
"""Distributions that no test imports."""
REQUIREMENT_FILES = ("*requirements*.txt", "requirements/*")
NODE = r"(?<![\w.$-])v?(\d+)"
NUMBERS: Mapping[str, str] = {
    "python": r"\b3\.\d+",
    "javascript": NODE,
    "typescript": NODE,
}  # pattern of a version, where not every number is one


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
    trees: tuple[TreeDownload, ...] = ()
    """Trees of other repositories that the build takes in, as far as they can be had."""
    has_index: bool | None = None
    """Whether the index of a language answers that can do without one; None for other languages."""
    libraries: Mapping[str, MirroredLibrary] = field(default_factory=dict)
    """Packages whose repositories are on this machine, by name."""

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


def read_facts(
    project: Project,
    available: Sequence[str],
    trees: Sequence[TreeDownload] = (),
    has_index: bool | None = None,
    libraries: Mapping[str, MirroredLibrary] = MappingProxyType({}),
) -> Facts:
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
        trees=tuple(trees),
        has_index=has_index,
        libraries=libraries,
    )


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
