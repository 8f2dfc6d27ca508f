"""Reads how a Python tree is built: by its pyproject.toml, its setup script, or not at all."""

import tomllib
from collections.abc import Callable
from configparser import ConfigParser
from configparser import Error as BrokenIni
from dataclasses import dataclass
from typing import Any

SETUPTOOLS = "setuptools.build_meta:__legacy__"  # the backend of a project that names none
ALWAYS = ("pip", "setuptools", "wheel")
"""Packages that virtual environments used to hold; tests rely on them, and so does installing without isolation."""
EDITABLE_NEEDS = {"hatchling.build": ("editables",)}
"""Requirements that a backend states only when it is asked for an editable install."""
SAME_NUMPY = {"oldest-supported-numpy": "numpy"}
"""Requirements that only an isolated build needs: what is built beside the numpy of its tests fits that numpy."""
REQUIREMENTS = tuple(
    f"{folder}{name}.txt"
    for folder, names in (
        ("", ("requirements", "requirements-dev", "requirements-test", "dev-requirements", "test-requirements")),
        ("requirements/", ("base", "requirements", "dev", "test", "tests")),
    )
    for name in names
)
"""Files that usually name the packages of a tree that is no project, and those of its tests."""


@dataclass(frozen=True, slots=True)
class BuildSystem:
    """The ``build-system`` table of pyproject.toml, or its defaults."""

    requires: tuple[str, ...] = ALWAYS
    backend: str = SETUPTOOLS
    """Empty for a tree that is no project: its modules are imported where they are."""
    backend_path: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    """Files that name the packages of a tree that is no project, as nothing else does."""


def find_build_system(read: Callable[[str], bytes | None]) -> BuildSystem:
    """Return how a tree is built; ``read`` returns a file of it, or None."""
    pyproject = read("pyproject.toml")
    if read("setup.py") is not None or _names_a_project(pyproject, read("setup.cfg")):
        return read_build_system(pyproject)
    return BuildSystem(backend="", requirement_files=tuple(path for path in REQUIREMENTS if read(path) is not None))


def _names_a_project(pyproject: bytes | None, setup_cfg: bytes | None) -> bool:
    """Return whether a tree without a setup script can be installed; both files often configure only other tools."""
    content = read_toml(pyproject)
    poetry = content.get("tool", {})
    if content.keys() & {"build-system", "project"} or (isinstance(poetry, dict) and "poetry" in poetry):
        return True
    ini = ConfigParser(interpolation=None, strict=False)
    try:
        ini.read_string((setup_cfg or b"").decode())
    except (BrokenIni, UnicodeDecodeError):
        return False
    return ini.has_option("metadata", "name")


def read_build_system(pyproject: bytes | None) -> BuildSystem:
    """Read the build system from the text of pyproject.toml; None or a broken file gives the default.

    A broken file is no error here: an old commit may have one, and its build reports it better.
    """
    table = read_toml(pyproject).get("build-system")
    table = table if isinstance(table, dict) else {}
    requires, backend, path = table.get("requires"), table.get("build-backend"), table.get("backend-path")
    backend = backend if isinstance(backend, str) else SETUPTOOLS
    wanted = (*ALWAYS, *map(_adapt_requirement, _texts(requires)), *EDITABLE_NEEDS.get(backend, ()))
    return BuildSystem(tuple(dict.fromkeys(wanted)), backend, _texts(path))


def _adapt_requirement(requirement: str) -> str:
    """Return a build requirement as it is where build and tests share their packages; a marker stays."""
    name, semicolon, marker = requirement.partition(";")
    return SAME_NUMPY.get(name.strip().lower().replace("_", "-"), name) + semicolon + marker


def read_toml(text: bytes | None) -> dict[str, Any]:
    """Read TOML; broken text is empty."""
    try:
        return tomllib.loads((text or b"").decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
