"""A Python project's declarations: versions, extras, groups of dependencies, tests. Its setup script is never run."""

import ast
import configparser
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.instances.environments.pins.build_system import read_toml
from assay.instances.setup.project import Project

CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)")
FROM_TAGS = re.compile(
    r"setuptools[-_]scm|hatch-vcs|setuptools-git-versioning|versioningit|\bpbr\b|use_scm_version|pdm-scm|"
    r"source *= *.scm"
)
"""Build tools that read the version from git tags."""
NETWORK_MARKERS = re.compile(
    r"(network|online|internet|remote_data|webtest|requires_network|needs_network|external_api)"
)

SLOW_MARKERS = re.compile(r"(?:^|_)(?:slow|long_?running)(?:_|$)")


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of all manifests together."""

    requires: str = ""
    """PEP 440 specifier for Python's version."""
    versions: tuple[str, ...] = ()
    """Versions of Python in the classifiers."""
    dependencies: tuple[str, ...] = ()
    to_build: tuple[str, ...] = ()
    """Requirements that the setup script fetches before it runs."""
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Requirements by group: PEP 735, Poetry, PDM, hatch, uv, tox, ``tests_require``."""
    files: tuple[str, ...] = ()
    """Requirement files of tox's usual environment."""
    tox_extras: tuple[str, ...] = ()
    """Extras of tox's usual environment."""
    from_tags: bool = False
    """Whether the version is read from git tags."""
    markers: tuple[str, ...] = ()
    """pytest's markers of tests that need a network."""
    slow: tuple[str, ...] = ()
    """pytest's markers of tests that take long."""
    folders: tuple[str, ...] = ()
    """Arguments and ``testpaths`` of pytest's configuration."""


def read_declared(project: Project) -> Declared:
    """Read pyproject.toml, setup.cfg, setup.py, tox.ini and pytest.ini; what is broken declares nothing."""
    toml, script = read_toml(project.text("pyproject.toml").encode()), _setup_call(project.text("setup.py"))
    sections = {name: _sections(project.text(name)) for name in ("setup.cfg", "tox.ini", "pytest.ini", "Pipfile")}
    cfg, tox = sections["setup.cfg"], sections["tox.ini"]
    table, poetry = toml.get("project", {}), _get_table(toml, "tool", "poetry")
    options = cfg.get("options", {})
    every = "\n".join(project.text(name) for name in ("pyproject.toml", "setup.cfg", "setup.py"))
    wanted = _texts(script.get("tests_require")) or _lines(options.get("tests_require", ""))
    poetry_python = _get_table(poetry, "dependencies").get("python", "")
    of_poetry = _poetry_bound(poetry_python) if isinstance(poetry_python, str) else ""
    required = (table.get("requires-python"), of_poetry, options.get("python_requires"), script.get("python_requires"))
    return Declared(
        requires=next((text for text in required if isinstance(text, str) and text), ""),
        versions=tuple(dict.fromkeys(CLASSIFIER.findall(every))),
        dependencies=_texts(table.get("dependencies"))
        or tuple(_poetry_requirements(_get_table(poetry, "dependencies")))
        or _lines(options.get("install_requires", ""))
        or _texts(script.get("install_requires")),
        to_build=_texts(script.get("setup_requires")) or _lines(options.get("setup_requires", "")),
        extras={
            **_texts_by_name(script.get("extras_require")),
            **_texts_by_name(cfg.get("options.extras_require")),
            **_texts_by_name(table.get("optional-dependencies")),
            **_texts_by_name(_get_table(poetry, "extras")),
        },
        groups={**({"test": wanted} if wanted else {}), **_tox_groups(tox), **_toml_groups(toml)},
        files=_tox_files(tox),
        tox_extras=tuple(re.findall(r"(?m)^\s*([\w.-]+),?\s*$", tox.get("testenv", {}).get("extras", ""))),
        from_tags=bool(FROM_TAGS.search(every)) and "fallback_version" not in every,
        markers=_markers(toml, sections, NETWORK_MARKERS),
        slow=_markers(toml, sections, SLOW_MARKERS),
        folders=_folders(toml, sections),
    )


def _sections(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: {key: value or "" for key, value in parser[name].items()} for name in parser.sections()}


def _setup_call(text: str) -> dict[str, Any]:
    """Return the keywords of ``setup(...)`` that are literals, or names that a literal was given to before."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    known: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _assign(target, _literal(node.value, known), known)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "setup":
            found |= {each.arg: _literal(each.value, known) for each in node.keywords if each.arg}
    return found


def _assign(target: ast.expr, value: Any, known: dict[str, Any]) -> None:
    match target:
        case ast.Name():
            known[target.id] = value
        case ast.Subscript(value=ast.Name(id=name)) if isinstance(known.get(name), dict):
            known[name][str(_literal(target.slice, known))] = value


def _literal(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """Return the value of an expression as far as it is made of literals and known names; None for the rest."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return known.get(node.id)
        case ast.List() | ast.Tuple():
            return [_literal(each, known) for each in node.elts]
        case ast.Dict():
            keys = (_literal(key, known) if key else None for key in node.keys)
            return dict(zip(keys, (_literal(value, known) for value in node.values), strict=True))
        case ast.BinOp(op=ast.Add()):
            return _sum(_literal(node.left, known), _literal(node.right, known))
    return None


def _sum(left: Any, right: Any) -> Any:
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *right]
    return f"{left}{right}" if isinstance(left, str) and isinstance(right, str) else left or right


def _texts_by_name(table: object) -> dict[str, tuple[str, ...]]:
    return {str(name): _texts(value) for name, value in table.items()} if isinstance(table, dict) else {}


def _toml_groups(toml: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    declared = _get_table(toml, "dependency-groups")
    groups = {name: tuple(_expand_group(declared, name)) for name in declared}
    groups |= _texts_by_name(_get_table(toml, "tool", "pdm", "dev-dependencies"))
    groups |= {
        name: _texts(environment.get("dependencies")) + _texts(environment.get("extra-dependencies"))
        for name, environment in _get_table(toml, "tool", "hatch", "envs").items()
        if isinstance(environment, dict)
    }
    if dev := _texts(_get_table(toml, "tool", "uv").get("dev-dependencies")):
        groups["dev"] = dev
    poetry = _get_table(toml, "tool", "poetry")
    tables = {name: _get_table(poetry, "group", name, "dependencies") for name in _get_table(poetry, "group")}
    if old := _get_table(poetry, "dev-dependencies"):
        tables["dev"] = old
    return groups | {name: tuple(_poetry_requirements(table)) for name, table in tables.items()}


def _expand_group(groups: Mapping[str, Any], name: str, depth: int = 0) -> Iterator[str]:
    entries = groups.get(name)
    for each in entries if isinstance(entries, list) and depth < len(groups) + 1 else ():
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict) and isinstance(each.get("include-group"), str):
            yield from _expand_group(groups, each["include-group"], depth + 1)


def _poetry_requirements(table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        for each in value if isinstance(value, list) else [value]:
            entry = each if isinstance(each, dict) else {"version": each}
            bound, extras = entry.get("version", "*"), ",".join(_texts(entry.get("extras")))
            if name != "python" and isinstance(bound, str) and not entry.keys() & {"path", "git"}:
                yield f"{name}{f'[{extras}]' if extras else ''}{_poetry_bound(bound)}"


def _poetry_bound(text: str) -> str:
    """Return Poetry's ``^1.2`` and ``~1.2`` as ``>=1.2``: the cut-off date bounds versions from above."""
    parts = (part.strip() for part in text.partition("||")[0].split(","))
    written = (re.sub(r"^[\^~](?!=)", ">=", part) for part in parts if part not in {"", "*"})
    return ",".join(part if part[0] in "<>=!~" else f"=={part}" for part in written)


def _tox_groups(tox: Mapping[str, Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the packages of tox's usual environment; lines for some of its variants only are left out."""
    lines = _lines(tox.get("testenv", {}).get("deps", ""))
    plain = tuple(line for line in lines if re.match(r"[A-Za-z]", line) and not re.match(r"[\w{},.!-]+:\s", line))
    return {"test": tuple(line for line in plain if "{" not in line)} if plain else {}


def _tox_files(tox: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    lines = _lines(tox.get("testenv", {}).get("deps", ""))
    found = (re.match(r"(?:-r|--requirement)[\s=]*(\S+)", line) for line in lines)
    return tuple(each[1].replace("{toxinidir}/", "").removeprefix("./") for each in found if each)


Sections = Mapping[str, Mapping[str, Mapping[str, str]]]  # values by file, section and name


def _markers(toml: Mapping[str, Any], sections: Sections, wanted: re.Pattern[str]) -> tuple[str, ...]:
    names = (re.match(r"\w+", line.strip()) for line in _pytest_lines(toml, sections, "markers"))
    return tuple(dict.fromkeys(name[0] for name in names if name and wanted.search(name[0])))


def _folders(toml: Mapping[str, Any], sections: Sections) -> tuple[str, ...]:
    lines = _pytest_lines(toml, sections, "testpaths")
    return tuple(dict.fromkeys(path.rstrip("/") for line in lines for path in line.split()))


def _pytest_lines(toml: Mapping[str, Any], sections: Sections, name: str) -> Iterator[str]:
    yield from _texts(_get_table(toml, "tool", "pytest", "ini_options").get(name))
    for file, section in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        yield from _lines(sections[file].get(section, {}).get(name, ""))


def _get_table(node: Any, *names: str) -> Mapping[str, Any]:
    """Return the table below a path of names; empty if there is none."""
    for name in names:
        node = node.get(name) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return _lines(value)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, Iterable) else ()


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))
