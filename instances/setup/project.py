"""The files of a tree that say how a project is built and tested, and its language."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from assay.harness import languages
from assay.instances.trees.content import read_tar

TELLING = (
    *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "pytest.ini", "Pipfile", ".python-version"),
    *("*requirements*.txt", "*requirements*.in", "requirements/*", "environment*.yml", "environment*.yaml"),
    *(".github/workflows/*", ".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml", ".circleci/config.yml"),
    *("appveyor.yml", "Makefile", "GNUmakefile", "justfile", "Dockerfile*", "*/Dockerfile*"),
    *("README*", "CONTRIBUTING*"),
    *("rust-toolchain", "rust-toolchain.toml", ".nvmrc", ".node-version", ".ruby-version", "phpunit.xml*"),
    *("*package.json", "*lerna.json", "pnpm-workspace.yaml", ".tool-versions", "*.mocharc*", "*karma.conf*"),
    *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("manage.py", "*/manage.py", "runtests.py", "tests/runtests.py"),
    *("*pom.xml", "*.gradle", "*.gradle.kts", "gradle.properties", "gradle/*", "*build.xml", "ivy.xml"),
    *("CMakeLists.txt", "*/CMakeLists.txt", "*.cmake", "*meson.build", "meson_options.txt", "meson.options"),
    *("Makefile.*", "configure.*", ".gitmodules", ".sdkmanrc", ".java-version", "subprojects/*.wrap"),
    *("*.gemspec", "gems.rb", ".rspec", "Rakefile", "test/*helper.rb", "spec/*helper.rb"),
)
"""Patterns of paths (``*`` matches ``/`` too) whose text is read, beside every language's ``PROJECT_FILES``."""
LONGEST = 300_000  # bytes of a file that is read; nobody writes a longer manifest by hand
LONGEST_LOCK = 8_000_000
DEEPEST = 3  # folders that a path may have: deeper down are examples and test data


@dataclass(frozen=True, slots=True)
class Project:
    """A tree as far as set-up looks at it."""

    repo: str
    language: str
    date: datetime
    """Date of the commit."""
    paths: tuple[str, ...]
    texts: Mapping[str, str]
    """Content of the files that describe the project, by path."""

    def text(self, path: str) -> str:
        return self.texts.get(path, "")

    def matching(self, *patterns: str) -> Iterator[tuple[str, str]]:
        """Yield path and content of the files that match a pattern, in the order of their paths."""
        return ((path, text) for path, text in self.texts.items() if _matches(path, patterns))


def read_project(repo: str, tree: Path, date: datetime, language: str = "") -> Project:
    """Read a project from the tar of its tree; an empty language is detected."""
    paths, texts = [], {}
    for entry in read_tar(tree):
        paths.append(entry.path)
        limit = LONGEST_LOCK if "lock" in entry.path or "shrinkwrap" in entry.path else LONGEST
        if _is_telling(entry.path) and len(entry.content) <= limit:
            texts[entry.path] = entry.content.decode(errors="replace")
    return Project(repo, language or detect_language(paths), date, tuple(paths), texts)


def read_texts(tree: Path, paths: Collection[str]) -> dict[str, str]:
    """Return the content of files of a tree by path; a file that is not there is left out."""
    return {entry.path: entry.content.decode(errors="replace") for entry in read_tar(tree) if entry.path in paths}


def detect_language(paths: Iterable[str]) -> str:
    """Return the language with most source files; one whose manifest is in the root folder counts tenfold."""
    known = tuple(paths)
    suffixes = Counter(PurePosixPath(path).suffix for path in known)
    at_root = {path for path in known if "/" not in path}

    def weight(name: str) -> int:
        files = sum(suffixes[suffix] for suffix in languages.find(name).SUFFIXES)
        return files * (10 if at_root.intersection(languages.find(name).PROJECT_FILES) else 1)

    return max(languages.LANGUAGES, key=weight)


def _is_telling(path: str) -> bool:
    if "/" not in path and any(path in language.PROJECT_FILES for language in languages.LANGUAGES.values()):
        return True
    return path.count("/") <= DEEPEST and _matches(path, TELLING)


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
