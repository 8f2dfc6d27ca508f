"""The steering parts of build files: what of them decides which tests run and how, without what a fix may need. Pure.

Each function returns a text to compare. What it cannot read counts as a whole.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection
from typing import Any
from xml.etree import ElementTree

PLUGINS = "pytest11"  # the group of entry points that pytest loads
MOST_TAGS = 20_000  # a longer XML file is not read

_ANY_SECTION = re.compile(r"\[[\w:. -]+\]\s*")
_GO_BLOCK = re.compile(r"(\w+)\s*\($")
_GO_FREE = frozenset({"module", "go", "require", "retract"})
"""Directives of a module file that choose among the modules that are there."""
_DEPENDENCIES = re.compile(r"(dev-|build-)?dependencies")
_OF_A_VERSION = frozenset({"version", "features", "optional", "default-features"})


def whole(path: str, text: str) -> str:  # noqa: ARG001 - languages' Protocol names it
    return text


def json_part(text: str, free: Collection[str]) -> str:
    return _read(text, json.loads, lambda found: {key: value for key, value in found.items() if key not in free})


def toml_part(text: str, part: Callable[[dict[str, Any]], object]) -> str:
    return _read(text, tomllib.loads, part)


def pytest_sections(text: str) -> str:
    """Return pytest's sections of an INI file, and entry points that it loads, up to a heading beyond doubt."""
    kept, inside = [], False
    for line in text.split("\n"):
        heading = PLUGINS in line or ("[" in line and "pytest" in line.lower())
        inside = heading or (inside and not _ANY_SECTION.fullmatch(line))
        kept += [line.rstrip()] if inside and line.strip() else []
    return "\n".join(kept)


def pytest_tables(project: dict[str, Any]) -> object:
    """Return pytest's tables of a ``pyproject.toml``, and entry points that it loads."""
    tools = project.get("tool", {})
    tables = {key: value for key, value in tools.items() if "pytest" in key}
    points = (project.get("project", {}).get("entry-points", {}), tools.get("poetry", {}).get("plugins", {}))
    return (tables, [each.get(PLUGINS) for each in points])


def cargo_part(manifest: dict[str, Any]) -> object:
    """Return the part of a Cargo manifest that chooses test programs, replaces packages or sets compilation."""
    free = {"version", "authors", "description", "documentation", "readme", "homepage", "repository", "license"}
    free |= {"license-file", "keywords", "categories", "rust-version", "include", "exclude", "publish"}
    package = {key: value for key, value in manifest.get("package", {}).items() if key not in free}
    others = {key: value for key, value in manifest.items() if key not in {"package", "features"}}
    return {"package": package, **_drop_versions(others)}


def go_module_part(text: str) -> str:
    """Return the directives of a Go module file that replace or exclude modules."""
    kept, block = [], ""
    for whole_line in text.split("\n"):
        line = whole_line.partition("//")[0].strip()
        opened = _GO_BLOCK.fullmatch(line)
        directive = opened[1] if opened else block or re.split(r"\s", line)[0]
        kept += [f"{directive} {whole_line.strip()}"] if line and directive not in _GO_FREE else []
        block = opened[1] if opened else "" if line == ")" else block
    return "\n".join(kept)


def maven_part(text: str) -> str:
    """Return a Maven project without its name, modules, and ordinary properties and dependencies."""
    return text if "<!" in text.replace("<!--", "") or text.count("<") > MOST_TAGS else _read_xml(text)


def sources_part(text: str, is_test: Callable[[str], bool], lines_matter: bool = True) -> str:
    """Return the lines of a build file without the source files that they list, except tests.

    Where lines do not matter, they are joined, except lines that may have a comment.
    """
    lines = (_SOURCE.sub(lambda found: found[0] if is_test(found[1]) else "", line) for line in text.split("\n"))
    kept = [" ".join(line.split()) for line in lines if line.strip()]
    joined = "".join(f"{line}\n" if lines_matter or "#" in line else f"{line} " for line in kept)
    return joined.replace(" )", ")")


_SOURCE = re.compile(
    r"""(?<![^\s(\[,])['"]?([\w./+-]+\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|ipp|inl|tpp|S))['"]?,?(?=[\s)\]]|$)"""
)
_MAVEN_FREE = frozenset(
    {
        *("modelVersion", "version", "name", "description", "url", "inceptionYear", "organization", "licenses"),
        *("developers", "contributors", "mailingLists", "scm", "issueManagement", "ciManagement", "modules"),
    }
)
_OF_TESTS = re.compile(r"test|skip|surefire|failsafe|argline|junit|testng|groups", re.IGNORECASE)


def _read(text: str, load: Callable[[str], Any], part: Callable[[dict[str, Any]], object]) -> str:
    try:
        found = load(text)
        return json.dumps(part(found), sort_keys=True, default=str) if isinstance(found, dict) else text
    except (ValueError, AttributeError, RecursionError):
        return text


def _drop_versions(table: Any) -> Any:
    """Return a table of a Cargo manifest, its dependencies without what only chooses a version or features."""
    if not isinstance(table, dict):
        return table
    kept = {}
    for key, value in table.items():
        chooses = _DEPENDENCIES.fullmatch(key) and isinstance(value, dict)
        kept[key] = _drop_versions(
            {name: _beyond_a_version(given) for name, given in value.items()} if chooses else value
        )
    return {key: value for key, value in kept.items() if value not in ({}, [])}


def _beyond_a_version(given: Any) -> Any:
    return {key: value for key, value in given.items() if key not in _OF_A_VERSION} if isinstance(given, dict) else {}


def _read_xml(text: str) -> str:
    try:
        root = ElementTree.fromstring(text)
        for element in [*root]:
            name = _local(element)
            if name in _MAVEN_FREE:
                root.remove(element)
            elif name == "properties":
                _keep(element, lambda each: _OF_TESTS.search(_local(each)) is not None)
            elif name == "dependencies":
                _keep(element, _may_replace_a_runner)
        return ElementTree.canonicalize(ElementTree.tostring(root, encoding="unicode"), strip_text=True)
    except (ElementTree.ParseError, RecursionError, ValueError):
        return text


def _keep(element: ElementTree.Element, wanted: Callable[[ElementTree.Element], bool]) -> None:
    for each in [*element]:
        if not wanted(each):
            element.remove(each)


def _may_replace_a_runner(dependency: ElementTree.Element) -> bool:
    said = " ".join(text.strip() for text in dependency.itertext())
    return _OF_TESTS.search(said) is not None or any(_local(each) in {"systemPath", "type"} for each in dependency)


def _local(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]
