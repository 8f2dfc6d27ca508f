"""What the manifests of a JavaScript project declare: packages, scripts, dependencies, versions of node."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from assay.instances.setup.project import Project

LOCKED = (
    r'"node_modules/{name}": \{{\s*"version": "(\d+)\.',
    r'^    "{name}": \{{\s*"version": "(\d+)\.',
    r'^"?{name}@[^\n]*:\n  version:? "?(\d+)\.',
    r"^  '?/?{name}[@/](\d+)\.",
)
"""How the lock files of npm, yarn and pnpm give a package's version."""
PINS = (".nvmrc", ".node-version")
OPERATORS = re.compile(r"(\^|~|>=?|<=?|=)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?[\w.+-]*")


@dataclass(frozen=True, slots=True)
class NodePackage:
    """One ``package.json``."""

    name: str = ""
    scripts: Mapping[str, str] = field(default_factory=dict)
    dependencies: Mapping[str, str] = field(default_factory=dict)
    """Ranges of all kinds of dependencies, by name."""
    table: Mapping[str, Any] = field(default_factory=dict)


def read_packages(project: Project) -> dict[str, NodePackage]:
    """Return the root's package and those of its workspaces, by folder; what is broken declares nothing."""
    found = {
        path.removesuffix("package.json").rstrip("/"): _read_package(text)
        for path, text in project.matching("package.json", "*/package.json")
        if "node_modules/" not in path
    }
    root = found.get("", NodePackage())
    patterns = [*_find_workspaces(root.table), *_read_list(project.text("pnpm-workspace.yaml"))]
    patterns += _list_texts(_load(project.text("lerna.json")).get("packages")) or (
        ["packages/*"] if project.text("lerna.json") else []
    )
    if not patterns:
        return {"": root}
    members = {folder: package for folder, package in found.items() if folder and _is_member(folder, patterns)}
    return {"": root, **dict(sorted(members.items()))}


def find_pinned_node(project: Project, root: NodePackage) -> str:
    """Return the major version of node that the project pins; empty if it pins none."""
    volta = root.table.get("volta")
    tools = re.search(r"(?m)^nodejs\s+(\S+)", project.text(".tool-versions"))
    texts = [*(project.text(name) for name in PINS), tools[1] if tools else ""]
    texts.append(str(volta.get("node", "")) if isinstance(volta, dict) else "")
    found = (re.match(r"\s*v?(\d+)", text) for text in texts)
    return next((each[1] for each in found if each), "")


def find_node_bound(root: NodePackage) -> str:
    engines = root.table.get("engines")
    return str(engines.get("node", "")) if isinstance(engines, dict) else ""


def allows_node(bound: str, major: int) -> bool:
    """Return whether a range of npm's allows some release of a major version; a malformed one allows all."""
    if not bound.strip() or "workspace" in bound:
        return True
    return any(_allows(part, major) for part in bound.split("||"))


def find_locked_major(project: Project, name: str) -> int:
    """Return the least major version of a package that a lock file or the manifests hold; 0 if none is known."""
    texts = (
        text for _, text in project.matching("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml")
    )
    patterns = [pattern.format(name=re.escape(name)) for pattern in LOCKED]
    found = [int(each) for text in texts for pattern in patterns for each in re.findall(pattern, text, re.MULTILINE)]
    ranges = (package.dependencies.get(name, "") for package in read_packages(project).values())
    found += [int(each[1]) for each in map(re.compile(r"[\^~]?(\d+)").match, ranges) if each]
    return min(found, default=0)


def _allows(part: str, major: int) -> bool:
    if between := re.fullmatch(r"\s*v?(\d+)\S*\s+-\s+v?(\d+)\S*\s*", part):
        return int(between[1]) <= major <= int(between[2])
    return all(_allows_one(major, *each.groups("")) for each in OPERATORS.finditer(part))


def _allows_one(major: int, operator: str, first: str, second: str, third: str) -> bool:
    if not first.isdigit():
        return True
    number = int(first)
    if operator in {">", ">="}:
        return major >= number
    if operator == "<":
        return major < number or (major == number and any(each.isdigit() and int(each) for each in (second, third)))
    return major <= number if operator == "<=" else major == number


def _read_package(text: str) -> NodePackage:
    table = _load(text)
    kinds = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    ranges = {name: value for kind in kinds for name, value in _list_pairs(table.get(kind))}
    return NodePackage(str(table.get("name", "")), dict(_list_pairs(table.get("scripts"))), ranges, table)


def _load(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _list_pairs(table: object) -> Iterable[tuple[str, str]]:
    return (
        ((str(key), value) for key, value in table.items() if isinstance(value, str)) if isinstance(table, dict) else ()
    )


def _list_texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _find_workspaces(table: Mapping[str, Any]) -> list[str]:
    found = table.get("workspaces")
    return _list_texts(found.get("packages") if isinstance(found, dict) else found)


def _read_list(text: str) -> list[str]:
    listed = re.search(r"(?m)^packages:\s*\n((?:[ \t]*(?:-.*|#.*)?\n)+)", f"{text}\n")
    return re.findall(r"-\s*['\"]?([^'\"#\s]+)", listed[1]) if listed else []


def _is_member(folder: str, patterns: Iterable[str]) -> bool:
    names = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    chosen = any(_fits(folder, name) for name in names if not name.startswith("!"))
    return chosen and not any(_fits(folder, name[1:].removeprefix("./")) for name in names if name.startswith("!"))


def _fits(folder: str, pattern: str) -> bool:
    return fnmatchcase(folder, pattern) and ("**" in pattern or folder.count("/") == pattern.count("/"))
