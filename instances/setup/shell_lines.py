"""Commands that a project's own automation runs, and what these install. Nothing is executed."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from assay.harness.errors import DataError
from assay.harness.files import parse_yaml
from assay.instances.setup.project import Project

WORKFLOWS = (".github/workflows/*", ".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml", ".circleci/config.yml")
SCRIPTS = ("Dockerfile*", "*/Dockerfile*", "Makefile", "GNUmakefile", "justfile")
KEYS_OF_COMMANDS = frozenset({"run", "script", "before_script", "before_install", "install", "bash", "command"})
APT = frozenset({"apt", "apt-get", "aptitude"})
EXPRESSION = re.compile(r"\$\{\{.*?\}\}")  # A value that only the service that runs a workflow fills in
NOX_INSTALL = re.compile(r"session\.install\(([^)]*)\)")
TEXT = re.compile(r"""["']([^"'\n]+)["']""")
DEBIAN_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]*[a-z0-9+]")
SEPARATORS = re.compile(r"&&|\|\||;|\n")


@dataclass(frozen=True, slots=True)
class Installs:
    """Arguments of the package clients' commands, in the order of their first use."""

    packages: tuple[str, ...] = ()
    """Python requirements."""
    files: tuple[str, ...] = ()
    """Requirement files."""
    system: tuple[str, ...] = ()
    """Debian packages."""


def read_automation(project: Project) -> list[str]:
    """Return the shell commands of workflows, Dockerfiles, makefiles and nox sessions, one a line."""
    lines: list[str] = []
    values = (value for key, value in _workflow_pairs(project) if key in KEYS_OF_COMMANDS)
    lines += _lines(each for value in values for each in _items(value) if isinstance(each, str))
    for _, text in project.matching(*SCRIPTS):
        lines += _lines([re.sub(r"(?m)^(RUN|\t@?-?)\s*", "", text)])
    for _, text in project.matching("noxfile.py"):
        lines += [f"pip install {shlex.join(TEXT.findall(call))}" for call in NOX_INSTALL.findall(text)]
    return list(dict.fromkeys(lines))


def read_documents(project: Project) -> list[str]:
    """Return the lines of README and CONTRIBUTING that install Debian packages; prose has no other sure commands."""
    texts = (text for _, text in project.matching("README*", "CONTRIBUTING*"))
    lines = (line.strip().lstrip("$# ") for text in texts for line in text.splitlines())
    return [line for line in lines if re.match(r"(sudo )?apt(-get)? ", line)]


def workflow_values(project: Project, *keys: str) -> tuple[str, ...]:
    """Return the values of these keys anywhere in the workflows, such as ``python-version``, as texts."""
    values = (value for key, value in _workflow_pairs(project) if key in keys)
    return tuple(dict.fromkeys(str(each) for value in values for each in _items(value)))


def workflow_variable(project: Project, name: str) -> str:
    """Return the value that workflows give an environment variable; of a matrix, the first. Empty if none is known."""
    for value in workflow_values(project, name):
        of_matrix = re.fullmatch(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}", value)
        values = workflow_values(project, of_matrix[1]) if of_matrix else (value,)
        if known := next((each for each in values if "${{" not in each), ""):
            return known
    return ""


def installs(lines: Iterable[str]) -> Installs:
    """Return the packages that commands install with apt, pip and uv."""
    found: dict[str, dict[str, None]] = {name: {} for name in ("packages", "files", "system")}
    for line in lines:
        for words in _commands(line):
            _read(words, found)
    return Installs(**{name: tuple(each) for name, each in found.items()})


def _read(words: list[str], found: Mapping[str, dict[str, None]]) -> None:
    if APT.intersection(words[:2]) and "install" in words:
        named = filter(DEBIAN_NAME.fullmatch, words[words.index("install") + 1 :])
        found["system"].update(dict.fromkeys(named))
    elif "install" in words[:5] and any(re.fullmatch(r"(.*/)?pip[\d.]*", word) for word in words[:4]):
        _read_pip(words[words.index("install") + 1 :], found)


def _read_pip(words: list[str], found: Mapping[str, dict[str, None]]) -> None:
    rest = iter(words)
    for word in rest:
        if word in {"-r", "--requirement"}:
            found["files"][next(rest, "")] = None
        elif word in {"-c", "--constraint", "-i", "--index-url", "-f", "--find-links", "--extra-index-url", "-t"}:
            next(rest, "")
        elif word.endswith("]"):  # the project itself, with extras
            continue
        elif re.fullmatch(r"[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?([<>=!~]=?[\w.,*<>=!~ ]+)?", word) and "/" not in word:
            found["packages"][word] = None


def _commands(line: str) -> Iterator[list[str]]:
    for part in SEPARATORS.split(line):
        try:
            words = [word for word in shlex.split(part, comments=True) if word not in {"sudo", "-", "RUN"}]
        except ValueError:  # half of a quotation
            continue
        if words:
            yield words


def _lines(texts: Iterable[str]) -> list[str]:
    joined = (EXPRESSION.sub("", re.sub(r"\\\n\s*", " ", text)) for text in texts)
    return [line.strip() for text in joined for line in text.splitlines() if line.strip()]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _workflow_pairs(project: Project) -> Iterator[tuple[str, Any]]:
    """Yield every key of the workflows with its value, at every depth; broken ones have none."""
    for _, text in project.matching(*WORKFLOWS):
        with suppress(DataError, RecursionError):  # YAML has anchors
            yield from _pairs(parse_yaml(text))


def _pairs(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield str(key), value
            yield from _pairs(value)
    elif isinstance(node, list):
        for each in node:
            yield from _pairs(each)
